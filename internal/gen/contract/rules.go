package contract

import "slices"

// Rules are the validation rules of a field, of the items of a list, or of the
// keys or the values of a map: buf.validate.FieldRules.
//
// Unless Ignore says otherwise, rules apply to a field with presence when it is
// set, and to one without presence always, its zero value included. The rules of
// a wrapper such as google.protobuf.StringValue are those of its value.
type Rules struct {
	// Required says that the field must be set; one without presence must not hold
	// its zero value then, and a list or map must not be empty.
	Required bool
	Ignore   Ignore
	// Type is the name of the set that Standard is of: `string`, `int32`, `enum`,
	// `repeated`, `map`, `any`, `duration`, `field_mask`, `timestamp`, ...; empty
	// without one.
	Type string
	// Standard are the rules of the set, in the order of their numbers, the
	// predefined ones behind all others.
	Standard []Rule
	// CEL are the expressions of the field itself, in the order of their reports.
	CEL []Expression
	// Items are the rules of each item of a list, Keys and Values of each key and
	// value of a map; nil without any.
	Items, Keys, Values *Rules
	Pos                 Pos
}

// Find is the rule of a name such as `min_len`; nil without one, and for a nil
// receiver.
func (r *Rules) Find(name string) *Rule {
	if r == nil {
		return nil
	}
	for i := range r.Standard {
		if r.Standard[i].Name == name {
			return &r.Standard[i]
		}
	}
	return nil
}

// Ignore says when the rules of a field do not apply.
type Ignore string

// The ways to ignore rules.
const (
	// IgnoreUnset is the default: a field with presence that is not set.
	IgnoreUnset Ignore = ""
	// IgnoreZero is a field that holds its zero value, with or without presence.
	IgnoreZero Ignore = "IF_ZERO_VALUE"
	// IgnoreAlways takes the rules back, those of the message in the field included.
	IgnoreAlways Ignore = "ALWAYS"
)

// Rule is one standard or predefined rule of a set.
type Rule struct {
	// Name is the name of the rule in its set, as `min_len`; of a predefined rule
	// `[full.name.of.the.extension]`.
	Name   string
	Number int32
	// Value is what the rule says: bool, int64, uint64, float32, float64, string,
	// []byte, Duration, Timestamp, Paths (of a FieldMask), or []any of one of these
	// for a rule that lists several. Values of enums are int64. A predefined rule of
	// another message has none.
	Value any
	// CEL are the expressions of a predefined rule, in which `rule` is Value.
	CEL []Expression
	Pos Pos
}

// Duration is the value of a google.protobuf.Duration.
type Duration struct {
	Seconds int64
	Nanos   int32
}

// Timestamp is the value of a google.protobuf.Timestamp.
type Timestamp struct {
	Seconds int64
	Nanos   int32
}

// Paths is the value of a google.protobuf.FieldMask.
type Paths []string

// Expression is a rule in the Common Expression Language. `this` is the value
// that it is about.
type Expression struct {
	ID         string
	Message    string
	Expression string
	Pos        Pos
}

// MessageRules are the validation rules of a message: buf.validate.MessageRules.
type MessageRules struct {
	CEL    []Expression
	Oneofs []OneofRule
	// Unknown are the names of rules of other versions of protovalidate.
	Unknown []string
	Pos     Pos
}

// OneofRule says that at most one of the fields is set.
type OneofRule struct {
	Fields []string // proto names
	// Required says that exactly one is.
	Required bool
	Pos      Pos
}

// Behavior is a value of google.api.field_behavior, such as `OUTPUT_ONLY`.
type Behavior string

// The behaviors that tools honour.
const (
	BehaviorRequired   Behavior = "REQUIRED"
	BehaviorOutputOnly Behavior = "OUTPUT_ONLY"
)

// HasRules reports whether a message, or one that it holds, has rules. The
// function finds messages by their full names.
func (m *Message) HasRules(find func(fullName string) *Message) bool {
	seen := map[string]bool{m.FullName: true}
	for pending := []*Message{m}; len(pending) > 0; {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if at.Rules != nil || slices.ContainsFunc(at.Oneofs, func(o *Oneof) bool { return o.Required }) {
			return true
		}
		for _, f := range at.Fields {
			if f.Rules != nil {
				return true
			}
			if inner := find(f.Type); inner != nil && !seen[inner.FullName] {
				seen[inner.FullName] = true
				pending = append(pending, inner)
			}
		}
	}
	return false
}
