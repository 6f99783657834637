package toolschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/toolschema"
)

// The forms of every kind and rule are in the golden case `toolschemas`, and
// tests/python/toolschemas judges them with validators that are not ours. Here is
// what a golden cannot show.

func scalar(name string, kind contract.Kind) *contract.Field {
	return &contract.Field{
		Name: name, JSONName: name, Kind: kind, Cardinality: contract.Singular, Presence: contract.Implicit,
	}
}

func nested(name string, m *contract.Message) *contract.Field {
	f := scalar(name, contract.KindMessage)
	f.Type, f.Presence = m.FullName, contract.Explicit
	return f
}

func message(name string, fields ...*contract.Field) *contract.Message {
	return &contract.Message{FullName: "acme.v1." + name, Name: name, Fields: fields}
}

func toolOf(input *contract.Message) *contract.Tool {
	return &contract.Tool{
		ID: contract.Opt[string]{Value: "tool"}, Name: "tool", Input: input, Output: message("Response"),
	}
}

func generator(t *testing.T, messages ...*contract.Message) *toolschema.Generator {
	t.Helper()
	g, err := toolschema.New(&contract.Agent{Messages: messages})
	require.NoError(t, err)
	return g
}

func print(t *testing.T, s *toolschema.Schema) string {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}

func TestProfilesAreTheParameters(t *testing.T) {
	t.Parallel()
	var profiles []string
	for _, profile := range toolschema.Profiles() {
		profiles = append(profiles, string(profile))
	}
	assert.Equal(t, params.Providers(), profiles)
}

// TestManyMessages is about messages that hold each other in every way: written
// out, they would never end.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	const count = 12
	messages := make([]*contract.Message, count)
	for i := range messages {
		messages[i] = message(fmt.Sprintf("M%d", i), scalar("text", contract.KindString))
	}
	for _, m := range messages {
		for i, inner := range messages {
			m.Fields = append(m.Fields, nested(fmt.Sprintf("m%d", i), inner))
		}
	}
	g := generator(t, messages...)
	for _, profile := range toolschema.Profiles() {
		schema := print(t, g.Input(toolOf(messages[0]), profile))
		assert.Less(t, len(schema), 600_000, profile)
		assert.Equal(t, schema, print(t, g.Input(toolOf(messages[0]), profile)), profile)
	}
}

// TestWideMessages is about a message that is used often in each of many levels:
// without references its size doubles with each.
func TestWideMessages(t *testing.T) {
	t.Parallel()
	messages := []*contract.Message{message("M0", scalar("text", contract.KindString))}
	for i := range 30 {
		inner := messages[i]
		messages = append(messages, message(fmt.Sprintf("M%d", i+1), nested("left", inner), nested("right", inner)))
	}
	g := generator(t, messages...)
	tool := toolOf(messages[len(messages)-1])
	for _, profile := range toolschema.Profiles() {
		assert.Less(t, len(print(t, g.Input(tool, profile))), 1_000_000, profile)
	}
	assert.Empty(t, g.Check([]*contract.Tool{tool}, toolschema.OpenAIStrict, false))
}

func TestNamesOfMessages(t *testing.T) {
	t.Parallel()
	one, other := message("Part", scalar("a", contract.KindString)), message("Part", scalar("b", contract.KindString))
	other.FullName = "other.v1.Part"
	root := message("Root", nested("a", one), nested("b", one), nested("c", other), nested("d", other))
	schema := print(t, generator(t, one, other, root).Input(toolOf(root), toolschema.MCP))
	assert.Contains(t, schema, `"$defs":{"acme_v1_Part":{`)
	assert.Contains(t, schema, `"other_v1_Part":{`)
}

func TestOneofBesideFieldsOfItsName(t *testing.T) {
	t.Parallel()
	a, b := scalar("a", contract.KindString), scalar("b", contract.KindString)
	a.Oneof, b.Oneof = "the_choice", "the_choice"
	a.Presence, b.Presence = contract.Explicit, contract.Explicit
	root := message("Root", scalar("theChoice", contract.KindString), a, b)
	root.Oneofs = []*contract.Oneof{{Name: "the_choice", Fields: []string{"a", "b"}}}
	schema := print(t, generator(t, root).Input(toolOf(root), toolschema.Anthropic))
	assert.Contains(t, schema, `"theChoice":{"type":"string"},"the_choice":{"anyOf":[`)
}

func TestFieldsOfOneJSONName(t *testing.T) {
	t.Parallel()
	one, other := scalar("some_name", contract.KindString), scalar("someName", contract.KindString)
	one.JSONName = "someName"
	root := message("Root", one, other)
	other.Name = "some__name"
	schema := print(t, generator(t, root).Input(toolOf(root), toolschema.OpenAIStrict))
	assert.Contains(t, schema, `"required":["someName","some__name"]`)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	fields := func(count int, prefix string) []*contract.Field {
		var all []*contract.Field
		for i := range count {
			all = append(all, scalar(fmt.Sprintf("%s%d", prefix, i), contract.KindString))
		}
		return all
	}
	list := scalar("list", contract.KindString)
	list.Cardinality = contract.Repeated
	list.Rules = &contract.Rules{Type: "repeated", Standard: []contract.Rule{{Name: "max_items", Value: uint64(961)}}}
	enum := &contract.Enum{FullName: "acme.v1.Large"}
	for i := range 1001 {
		enum.Values = append(enum.Values, &contract.EnumValue{Name: fmt.Sprintf("LARGE_%d", i), Number: int32(i)})
	}
	ofEnum := scalar("large", contract.KindEnum)
	ofEnum.Type = enum.FullName
	badName := toolOf(message("Request"))
	badName.Name = "9tool"

	tests := []struct {
		name    string
		profile toolschema.Profile
		tools   []*contract.Tool
		strict  bool
		limit   string
		found   int
	}{
		{"a name that starts with a digit", toolschema.Gemini, []*contract.Tool{badName}, false, "tool_name", 0},
		{
			"a long property", toolschema.Anthropic,
			[]*contract.Tool{toolOf(message("Request", scalar(strings.Repeat("p", 65), contract.KindString)))},
			false, "property_name", 0,
		},
		{
			"many properties", toolschema.OpenAIStrict,
			[]*contract.Tool{toolOf(message("Request", fields(5001, "f")...))}, false, "properties", 5001,
		},
		{
			"long names", toolschema.OpenAIStrict,
			[]*contract.Tool{toolOf(message("Request", fields(40, strings.Repeat("f", 3000))...))}, false, "name_characters", 120070,
		},
		{"a large enum", toolschema.OpenAIStrict, []*contract.Tool{toolOf(message("Request", ofEnum))}, false, "enum_values", 1002},
		{"a long list", toolschema.Gemini, []*contract.Tool{toolOf(message("Request", list))}, false, "max_items", 961},
		{
			"many tools", toolschema.Anthropic,
			repeat(toolOf(message("Request")), 21), true, "agent_tools", 21,
		},
		{
			"many optional parameters", toolschema.Anthropic,
			repeat(toolOf(message("Request", fields(5, "f")...)), 5), true, "agent_optional", 25,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g, err := toolschema.New(&contract.Agent{Enums: []*contract.Enum{enum}})
			require.NoError(t, err)
			breaches := g.Check(test.tools, test.profile, test.strict)
			require.Len(t, breaches, 1)
			assert.Equal(t, test.limit, breaches[0].Limit.Name)
			assert.Equal(t, test.found, breaches[0].Found)
			assert.NotEmpty(t, breaches[0].Advice())
			assert.True(t, strings.HasPrefix(breaches[0].Limit.Source, "https://"))
			if test.strict {
				assert.Empty(t, g.Check(test.tools, test.profile, false), "a limit of strict tools")
			}
		})
	}
}

func repeat(tool *contract.Tool, count int) []*contract.Tool {
	all := make([]*contract.Tool, count)
	for i := range all {
		all[i] = tool
	}
	return all
}
