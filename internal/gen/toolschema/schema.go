// Package toolschema writes the JSON schemas of tools: what a language model sees
// of a request, in the form that its provider takes, and what a response is.
//
// A schema is made from the contract, not from the models of a target: compact,
// typed at every node, described by the comments of the proto. What a profile
// cannot say in keywords it says in the description.
package toolschema

import (
	"encoding/json"
	"slices"
)

// Schema is a JSON schema, with the keywords that tools need in the order in
// which they are printed.
type Schema struct {
	Ref              string
	Type             Types
	Description      string
	Deprecated       bool
	Enum             []any
	Not              *Schema
	Format           string
	Pattern          string
	MinLength        *uint64
	MaxLength        *uint64
	ContentEncoding  string
	Minimum          json.Number
	Maximum          json.Number
	ExclusiveMinimum json.Number
	ExclusiveMaximum json.Number
	Items            *Schema
	MinItems         *uint64
	MaxItems         *uint64
	UniqueItems      bool
	Properties       *Members
	PropertyNames    *Schema
	MinProperties    *uint64
	MaxProperties    *uint64
	// Required is nil where the keyword is left out.
	Required []string
	// AdditionalProperties is false or a *Schema; nil where it is left out.
	AdditionalProperties any
	DependentSchemas     *Members
	AnyOf                []*Schema
	Defs                 *Members

	// notes are sentences that the description will have.
	notes []string
	// about is what the type is, which the description says if the field does not.
	about []string
	// always says that the schema is `false` or `true` and nothing else.
	always *bool
}

// Types is one type, or several of which a value may have any.
type Types []string

// Members are schemas by name, in the order in which they were added.
type Members struct{ list []Member }

// Member is a named schema.
type Member struct {
	Name   string
	Schema *Schema
}

// Add adds a schema behind the others.
func (m *Members) Add(name string, s *Schema) { m.list = append(m.list, Member{name, s}) }

// All returns the members in order.
func (m *Members) All() []Member {
	if m == nil {
		return nil
	}
	return m.list
}

// never is the schema that nothing matches.
func never() *Schema { return &Schema{always: new(bool)} }

// children are the schemas directly in a schema, those of $defs left out.
func (s *Schema) children() []*Schema {
	var all []*Schema
	add := func(children ...*Schema) {
		for _, child := range children {
			if child != nil && child.always == nil {
				all = append(all, child)
			}
		}
	}
	add(s.Items)
	for _, member := range s.Properties.All() {
		add(member.Schema)
	}
	if values, ok := s.AdditionalProperties.(*Schema); ok {
		add(values)
	}
	add(s.AnyOf...)
	return all
}

// allowNull lets null stand for a value that is left out.
func (s *Schema) allowNull() *Schema {
	switch {
	case s.Ref != "":
		return &Schema{AnyOf: []*Schema{s, {Type: Types{"null"}}}}
	case len(s.AnyOf) > 0:
		s.AnyOf = append(slices.Clip(s.AnyOf), &Schema{Type: Types{"null"}})
	case slices.Contains(s.Type, "null"):
	default:
		s.Type = append(slices.Clip(s.Type), "null")
		if len(s.Enum) > 0 {
			s.Enum = append(slices.Clip(s.Enum), nil)
		}
	}
	return s
}
