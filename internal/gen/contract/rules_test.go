package contract

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func rulesFor(set string, rules ...Rule) *Rules { return &Rules{Type: set, Standard: rules} }

func TestMandatory(t *testing.T) {
	t.Parallel()
	closed := &Enum{Closed: true, Values: []*EnumValue{{Number: 3}, {Number: 0}}}
	tests := []struct {
		name  string
		field Field
		enum  *Enum
		want  bool
	}{
		{name: "no rules", field: Field{Presence: Implicit}},
		{name: "proto2 required", field: Field{Presence: Required}, want: true},
		{name: "required", field: Field{Presence: Explicit, Rules: &Rules{Required: true}}, want: true},
		{name: "required and ignored", field: Field{Presence: Explicit, Rules: &Rules{Required: true, Ignore: IgnoreAlways}}},
		{name: "explicit", field: Field{Presence: Explicit, Rules: rulesFor("string", Rule{Name: "min_len", Value: uint64(1)})}},
		{
			name:  "the empty text is too short",
			field: Field{Presence: Implicit, Rules: rulesFor("string", Rule{Name: "min_len", Value: uint64(1)})}, want: true,
		},
		{
			name:  "and ignored",
			field: Field{Presence: Implicit, Rules: &Rules{Type: "string", Ignore: IgnoreZero, Standard: []Rule{{Name: "email", Value: true}}}},
		},
		{name: "the empty text is no address", field: Field{Rules: rulesFor("string", Rule{Name: "email", Value: true})}, want: true},
		{name: "the empty text is a reference", field: Field{Rules: rulesFor("string", Rule{Name: "uri_ref", Value: true})}},
		{name: "a pattern takes it", field: Field{Rules: rulesFor("string", Rule{Name: "pattern", Value: "^a*$"})}},
		{name: "a pattern does not", field: Field{Rules: rulesFor("string", Rule{Name: "pattern", Value: "^a+$"})}, want: true},
		{name: "zero is in range", field: Field{Rules: rulesFor("int32", Rule{Name: "gte", Value: int64(0)})}},
		{name: "zero is below", field: Field{Rules: rulesFor("int32", Rule{Name: "gt", Value: int64(0)})}, want: true},
		{
			name:  "zero lies outside, where it may",
			field: Field{Rules: rulesFor("double", Rule{Name: "gt", Value: 10.0}, Rule{Name: "lt", Value: 5.0})},
		},
		{
			name:  "zero lies between",
			field: Field{Rules: rulesFor("sint64", Rule{Name: "gt", Value: int64(5)}, Rule{Name: "lt", Value: int64(-5)})}, want: true,
		},
		{name: "an empty list", field: Field{Rules: rulesFor("repeated", Rule{Name: "min_items", Value: uint64(1)})}, want: true},
		{name: "an empty map", field: Field{Rules: rulesFor("map", Rule{Name: "max_pairs", Value: uint64(1)})}},
		{name: "false", field: Field{Rules: rulesFor("bool", Rule{Name: "const", Value: true})}, want: true},
		{name: "an enum without zero", field: Field{Rules: rulesFor("enum", Rule{Name: "not_in", Value: []any{int64(0)}})}, want: true},
		{name: "a closed enum begins with three", field: Field{Rules: rulesFor("enum", Rule{Name: "const", Value: int64(3)})}, enum: closed},
		{name: "an expression is not evaluated", field: Field{Rules: &Rules{CEL: []Expression{{Expression: "this != ''"}}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.field.Presence == "" {
				test.field.Presence = Implicit
			}
			assert.Equal(t, test.want, test.field.Mandatory(test.enum))
		})
	}
}

func TestIsOutside(t *testing.T) {
	t.Parallel()
	between := func(low, high any) *Rules {
		return rulesFor("x", Rule{Name: "gte", Value: low}, Rule{Name: "lt", Value: high})
	}
	assert.True(t, between(int64(5), int64(1)).IsOutside())
	assert.False(t, between(int64(1), int64(5)).IsOutside())
	assert.True(t, between(uint64(5), uint64(1)).IsOutside())
	assert.True(t, between(float32(5), float32(1)).IsOutside())
	assert.True(t, between(math.Inf(1), 0.0).IsOutside())
	assert.True(t, between(Duration{Seconds: 1, Nanos: 1}, Duration{Seconds: 1}).IsOutside())
	assert.False(t, between(Timestamp{Seconds: 1}, Timestamp{Seconds: 2}).IsOutside())
	assert.False(t, rulesFor("int32", Rule{Name: "gt", Value: int64(5)}).IsOutside())
}

func TestTimes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "1.500s", Duration{Seconds: 1, Nanos: 500_000_000}.String())
	assert.Equal(t, "-0.000001s", Duration{Nanos: -1000}.String())
	assert.Equal(t, "0s", Duration{}.String())
	assert.Equal(t, "1970-01-01T00:00:01.000000001Z", Timestamp{Seconds: 1, Nanos: 1}.String())
}

func TestLowerCamel(t *testing.T) {
	for in, want := range map[string]string{
		"user_query": "userQuery", "a__b": "aB", "_x": "X", "x_": "x", "x_1y": "x1y", "Foo": "Foo", "fooBar": "fooBar",
	} {
		assert.Equal(t, want, LowerCamel(in), in)
	}
}
