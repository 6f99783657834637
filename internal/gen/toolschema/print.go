package toolschema

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// MarshalJSON prints the schema compactly, its keywords in the order of the struct.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.append(nil), nil }

// append prints the schema behind what is there. Printing by reflection would read
// every inner schema once more for each schema around it.
func (s *Schema) append(b []byte) []byte {
	if s.always != nil {
		return strconv.AppendBool(b, *s.always)
	}
	o := object{b: append(b, '{')}
	o.text("$ref", s.Ref)
	o.types(s.Type)
	o.text("description", s.Description)
	o.flag("deprecated", s.Deprecated)
	o.values("enum", s.Enum)
	o.schema("not", s.Not)
	o.text("format", s.Format)
	o.text("pattern", s.Pattern)
	o.count("minLength", s.MinLength)
	o.count("maxLength", s.MaxLength)
	o.text("contentEncoding", s.ContentEncoding)
	o.number("minimum", s.Minimum)
	o.number("maximum", s.Maximum)
	o.number("exclusiveMinimum", s.ExclusiveMinimum)
	o.number("exclusiveMaximum", s.ExclusiveMaximum)
	o.schema("items", s.Items)
	o.count("minItems", s.MinItems)
	o.count("maxItems", s.MaxItems)
	o.flag("uniqueItems", s.UniqueItems)
	o.members("properties", s.Properties)
	o.schema("propertyNames", s.PropertyNames)
	o.count("minProperties", s.MinProperties)
	o.count("maxProperties", s.MaxProperties)
	if s.Required != nil {
		o.key("required")
		o.b = appendList(o.b, s.Required, appendText)
	}
	switch values := s.AdditionalProperties.(type) {
	case bool:
		o.key("additionalProperties")
		o.b = strconv.AppendBool(o.b, values)
	case *Schema:
		o.schema("additionalProperties", values)
	}
	o.members("dependentSchemas", s.DependentSchemas)
	if len(s.AnyOf) > 0 {
		o.key("anyOf")
		o.b = appendList(o.b, s.AnyOf, func(b []byte, s *Schema) []byte { return s.append(b) })
	}
	o.members("$defs", s.Defs)
	return append(o.b, '}')
}

// append prints an object with the members in order.
func (m *Members) append(b []byte) []byte {
	o := object{b: append(b, '{')}
	for _, member := range m.list {
		o.schema(member.Name, member.Schema)
	}
	return append(o.b, '}')
}

// object is a JSON object that is being printed. What is not set is left out.
type object struct {
	b    []byte
	rest bool
}

func (o *object) key(name string) {
	if o.rest {
		o.b = append(o.b, ',')
	}
	o.rest = true
	o.b = append(appendText(o.b, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.key(name)
		o.b = appendText(o.b, value)
	}
}

func (o *object) flag(name string, value bool) {
	if value {
		o.key(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) count(name string, value *uint64) {
	if value != nil {
		o.key(name)
		o.b = strconv.AppendUint(o.b, *value, 10)
	}
}

func (o *object) number(name string, value json.Number) {
	if value != "" {
		o.key(name)
		o.b = append(o.b, value...)
	}
}

func (o *object) types(types Types) {
	switch len(types) {
	case 0:
	case 1:
		o.text("type", types[0])
	default:
		o.key("type")
		o.b = appendList(o.b, types, appendText)
	}
}

func (o *object) values(name string, values []any) {
	if len(values) > 0 {
		o.key(name)
		o.b = appendList(o.b, values, appendValue)
	}
}

func (o *object) schema(name string, s *Schema) {
	if s != nil {
		o.key(name)
		o.b = s.append(o.b)
	}
}

func (o *object) members(name string, m *Members) {
	if m != nil {
		o.key(name)
		o.b = m.append(o.b)
	}
}

func appendList[T any](b []byte, items []T, item func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, items[i])
	}
	return append(b, ']')
}

// appendValue prints a value of an enum: a text, a whole number or null.
func appendValue(b []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return appendText(b, value)
	default:
		return fmt.Append(b, value)
	}
}

// appendText prints a text as encoding/json does, the escapes for HTML included.
func appendText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // There is none for a string.
		return strconv.AppendQuote(b, text)
	}
	return append(b, quoted...)
}
