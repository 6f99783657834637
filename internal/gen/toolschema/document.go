package toolschema

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/jsontext"
)

// Document is a file with the schemas of a tool: an object with the input of every
// profile, and the output.
func (g *Generator) Document(tool *contract.Tool) (jsontext.Document, error) {
	input := &Members{}
	for _, profile := range Profiles() {
		input.Add(string(profile), g.Input(tool, profile))
	}
	return jsontext.Of(struct {
		Input  *Members `json:"input"`
		Output *Schema  `json:"output"`
	}{input, g.Output(tool)})
}
