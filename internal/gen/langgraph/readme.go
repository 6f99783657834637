package langgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/md"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/mermaid"
)

// readmeView is what README.md shows.
type readmeView struct {
	Title      md.Text
	HasComment bool
	Comment    md.Block
	Service    md.Text
	AgentID    md.Text
	EntryNode  md.Text
	EntryLabel mermaid.Label
	StateName  md.Text
	Package    md.Text
	Impl       md.Text

	HasStateComment bool
	StateComment    md.Block
	Fields          []readmeField
	HasTools        bool
	Tools           []readmeTool
	HasFacts        bool
	Facts           []readmeFact
	Methods         []readmeMethod

	Folder  md.Word
	ImplDir md.Word
	Modules []readmeModule
}

type readmeField struct {
	Name, Type, Reducer, Comment md.Text
	Checkpoint, Input, Output    bool
}

type readmeTool struct {
	Number                         int
	Label                          mermaid.Label
	ID, Method, Comment            md.Text
	Required, Idempotent, HasLimit bool
	TimeoutMS                      uint32
}

type readmeFact struct {
	Number                                 int
	Label                                  mermaid.Label
	Type, Message, Partition, Key, Comment md.Text
}

type readmeMethod struct {
	Name, Input, Output, Comment md.Text
}

type readmeModule struct {
	Path, Text md.Text
}

func newReadmeView(a *contract.Agent, t *tree, pkg, impl py.Module) (*readmeView, error) {
	folder, err := md.NewWord(a.ID.Value)
	if err != nil {
		return nil, fmt.Errorf("name the folder of agent %s: %w", a.ID.Value, err)
	}
	implDir, err := md.NewWord(strings.Join(impl.Parts(), "/"))
	if err != nil {
		return nil, fmt.Errorf("name the folder of package %s: %w", impl, err)
	}
	v := &readmeView{
		Title:           md.Inline(a.ID.Value),
		HasComment:      strings.TrimSpace(a.Comment) != "",
		Comment:         md.Paragraphs(a.Comment),
		Service:         md.Code(a.Service),
		AgentID:         md.Code(a.ID.Value),
		EntryNode:       md.Code(a.EntryNode.Value),
		EntryLabel:      mermaid.Quote(a.EntryNode.Value),
		StateName:       md.Code(a.State.FullName),
		Package:         md.Code(pkg.String()),
		Impl:            md.Code(impl.String()),
		HasStateComment: strings.TrimSpace(a.State.Comment) != "",
		StateComment:    md.Paragraphs(a.State.Comment),
		HasTools:        len(a.Tools) > 0,
		HasFacts:        len(a.Facts) > 0,
		Folder:          folder,
		ImplDir:         implDir,
	}
	for _, f := range a.State.Fields {
		v.Fields = append(v.Fields, newReadmeField(f))
	}
	for i, tool := range a.Tools {
		required := slices.ContainsFunc(a.RequiredToolIDs, func(id contract.Opt[string]) bool { return id.Value == tool.ID.Value })
		v.Tools = append(v.Tools, readmeTool{
			Number: i + 1, Label: mermaid.Quote(tool.ID.Value),
			ID: md.Code(tool.ID.Value), Method: md.Code(tool.FullMethod()), Comment: md.Inline(tool.Text()),
			Required: required, Idempotent: tool.IsIdempotent(),
			HasLimit: tool.DefaultTimeoutMS.Set, TimeoutMS: tool.DefaultTimeoutMS.Value,
		})
	}
	for i, fact := range a.Facts {
		v.Facts = append(v.Facts, readmeFact{
			Number: i + 1, Label: mermaid.Quote(factType(fact)),
			Type: md.Code(factType(fact)), Message: md.Code(fact.Message.FullName),
			Partition: keyText(fact.PartitionKeyFields), Key: keyText(fact.IdempotencyKeyFields),
			Comment: md.Inline(fact.Message.Comment),
		})
	}
	for _, method := range a.Methods {
		v.Methods = append(v.Methods, readmeMethod{
			Name: md.Code(method.Name), Input: md.Code(method.Input), Output: md.Code(method.Output),
			Comment: md.Inline(method.Comment),
		})
	}
	for _, area := range areas(len(a.Facts) > 0) {
		v.Modules = append(v.Modules, readmeModule{md.Code(t.module(area.name)), md.Inline(area.text)})
	}
	return v, nil
}

func newReadmeField(f *contract.Field) readmeField {
	view := readmeField{Name: md.Code(f.Name), Type: md.Code(protoType(f)), Comment: md.Inline(f.Comment)}
	if s := f.State; s != nil {
		view.Checkpoint, view.Input, view.Output = s.Checkpoint.Value, s.PublicInput.Value, s.PublicOutput.Value
		if s.Reducer.Value != contract.ReducerUnset {
			view.Reducer = md.Code(string(s.Reducer.Value))
		}
	}
	return view
}

func keyText(fields []contract.Opt[string]) md.Text {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Value
	}
	return md.Code(strings.Join(names, ", "))
}

// protoType is the type of a field as the proto writes it.
func protoType(f *contract.Field) string {
	value := string(f.Kind)
	if f.Type != "" {
		value = f.Type
	}
	switch {
	case f.Cardinality == contract.Repeated:
		return "repeated " + value
	case f.Cardinality == contract.Map:
		return "map<" + string(f.Key) + ", " + value + ">"
	default:
		return value
	}
}
