package toolschema

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/jsontext"
)

// Document is a file with the schemas of a tool: an object with the input of every
// profile, and the output.
func (g *Generator) Document(tool *contract.Tool) jsontext.Document {
	inputs := &Members{}
	for _, profile := range Profiles() {
		inputs.Add(string(profile), g.Input(tool, profile))
	}
	o := object{b: []byte{'{'}}
	o.members("input", inputs)
	o.schema("output", g.Output(tool))
	return jsontext.Fitted(append(o.b, '}'))
}
