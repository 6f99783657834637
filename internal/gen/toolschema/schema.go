// Package toolschema writes the JSON schemas of tools: what a language model sees
// of a request, in the form that its provider takes, and what a response is.
//
// A schema is made from the contract, not from the models of a target: compact,
// typed at every node, described by the comments of the proto. What a profile
// cannot say in keywords it says in the description.
package toolschema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Schema is a JSON schema, with the keywords that tools need in the order in
// which they are printed.
type Schema struct {
	Ref              string      `json:"$ref,omitempty"`
	Type             Types       `json:"type,omitempty"`
	Description      string      `json:"description,omitempty"`
	Deprecated       bool        `json:"deprecated,omitempty"`
	Enum             []any       `json:"enum,omitempty"`
	Not              *Schema     `json:"not,omitempty"`
	Format           string      `json:"format,omitempty"`
	Pattern          string      `json:"pattern,omitempty"`
	MinLength        *uint64     `json:"minLength,omitempty"`
	MaxLength        *uint64     `json:"maxLength,omitempty"`
	ContentEncoding  string      `json:"contentEncoding,omitempty"`
	Minimum          json.Number `json:"minimum,omitempty"`
	Maximum          json.Number `json:"maximum,omitempty"`
	ExclusiveMinimum json.Number `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.Number `json:"exclusiveMaximum,omitempty"`
	Items            *Schema     `json:"items,omitempty"`
	MinItems         *uint64     `json:"minItems,omitempty"`
	MaxItems         *uint64     `json:"maxItems,omitempty"`
	UniqueItems      bool        `json:"uniqueItems,omitempty"`
	Properties       *Members    `json:"properties,omitempty"`
	PropertyNames    *Schema     `json:"propertyNames,omitempty"`
	MinProperties    *uint64     `json:"minProperties,omitempty"`
	MaxProperties    *uint64     `json:"maxProperties,omitempty"`
	// Required is nil where the keyword is left out.
	Required []string `json:"required,omitzero"`
	// AdditionalProperties is false or a *Schema; nil where it is left out.
	AdditionalProperties any       `json:"additionalProperties,omitempty"`
	DependentSchemas     *Members  `json:"dependentSchemas,omitempty"`
	AnyOf                []*Schema `json:"anyOf,omitempty"`
	Defs                 *Members  `json:"$defs,omitempty"`

	// notes are sentences that the description will have.
	notes []string
	// about is what the type is, which the description says if the field does not.
	about []string
	// always says that the schema is `false` or `true` and nothing else.
	always *bool
}

// MarshalJSON prints the schema.
func (s *Schema) MarshalJSON() ([]byte, error) {
	if s.always != nil {
		return json.Marshal(*s.always)
	}
	type plain Schema
	return marshal((*plain)(s))
}

// Types is one type, or several of which a value may have any.
type Types []string

// MarshalJSON prints one type as a string.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

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

// MarshalJSON prints an object with the members in order.
func (m *Members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range m.list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(member.Name)
		if err != nil {
			return nil, err
		}
		body, err := marshal(member.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(body)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal prints JSON as encoding/json does, without escapes for HTML.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
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
