package rules_test

import (
	"strings"
	"testing"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func TestTools(t *testing.T) {
	t.Parallel()
	toolID := func(id string) func(*base) {
		return func(b *base) {
			b.tool.ID.Value, b.tool.Name = id, strings.ReplaceAll(id, ".", "_")
			b.agent.RequiredToolIDs[0].Value = id
		}
	}
	role := func(message func(b *base) *contract.Message, value contract.Role) func(*base) {
		return func(b *base) { message(b).Role.Value = value }
	}
	input := func(b *base) *contract.Message { return b.toolInput }
	output := func(b *base) *contract.Message { return b.toolOutput }
	unused := func(b *base, method string) *contract.Tool {
		tool := b.addTool("unused", method, 100)
		b.agent.RequiredToolIDs = b.agent.RequiredToolIDs[:1]
		b.agent.Tools = b.agent.Tools[:1]
		return tool
	}
	badID := []string{diag.BadToolID.Code}
	reserved := []string{diag.ReservedToolID.Code}
	duplicate := []string{diag.DuplicateTool.Code}
	streaming := []string{diag.ToolStreaming.Code}
	wrongRole := []string{diag.ToolRole.Code}
	runRules(t, "tools.txt", []rule{
		{
			name: "tool_id missing",
			spoil: func(b *base) {
				b.tool.ID = contract.Opt[string]{}
				b.agent.Tools = nil
			},
			want: badID,
		},
		{
			name: "tool_id malformed, and required as it should be",
			spoil: func(b *base) {
				b.tool.ID.Value = "web search"
				b.agent.Tools = nil
			},
			want: badID,
		},
		{name: "tool_id with a space", spoil: toolID("web search"), want: badID},
		{name: "tool_id a path", spoil: toolID("../web_search"), want: badID},
		{name: "tool_id starts with a digit", spoil: toolID("3d_search"), want: badID},
		{name: "tool_id with a line break", spoil: toolID("web\nsearch"), want: badID},
		{name: "tool_id too long", spoil: toolID(strings.Repeat("t", 64)), want: badID},
		{name: "tool_id as long as can be", spoil: toolID(strings.Repeat("t", 63))},
		{name: "tool_id with all signs", spoil: toolID("Web.search-v2_beta")},

		{name: "tool_id the registry", spoil: toolID("registry"), want: reserved},
		{name: "tool_id the registry in capitals", spoil: toolID("Registry"), want: reserved},
		{name: "tool_id the generated package", spoil: toolID("generated"), want: reserved},
		{name: "tool_id a keyword", spoil: toolID("import"), want: reserved},
		{name: "tool_id a device", spoil: toolID("nul"), want: reserved},

		{name: "tool_id twice", spoil: func(b *base) { b.addTool("web_search", "OtherSearch", 100) }, want: duplicate},
		{
			name: "tool_id twice among tools that no agent uses",
			spoil: func(b *base) {
				unused(b, "First")
				unused(b, "Second")
			},
			want: duplicate,
		},
		{
			name: "tool_ids of one name",
			spoil: func(b *base) {
				b.addTool("web.search", "OtherSearch", 100).Name = "web_search"
			},
			want: duplicate,
		},
		{name: "tool_ids of one module", spoil: func(b *base) { b.addTool("Web-Search", "OtherSearch", 100) }, want: duplicate},
		{
			name: "tool_ids of one module in different agents",
			spoil: func(b *base) {
				other := b.addAgent("other-agent", "OtherAgent", 70)
				b.addTool("web.search", "OtherSearch", 100)
				other.Tools, other.RequiredToolIDs = b.agent.Tools[1:], b.agent.RequiredToolIDs[1:]
				b.agent.Tools, b.agent.RequiredToolIDs = b.agent.Tools[:1], b.agent.RequiredToolIDs[:1]
			},
		},

		{
			name:  "no description",
			spoil: func(b *base) { b.tool.Description = contract.Opt[string]{} },
			want:  []string{diag.NoToolDescription.Code},
		},
		{
			name: "a comment for a description",
			spoil: func(b *base) {
				b.tool.Description, b.tool.Comment = contract.Opt[string]{}, "Searches the web."
			},
		},

		{name: "requests stream", spoil: func(b *base) { b.tool.ClientStreaming = true }, want: streaming},
		{name: "responses stream", spoil: func(b *base) { b.tool.ServerStreaming = true }, want: streaming},
		{
			name:  "both stream",
			spoil: func(b *base) { b.tool.ClientStreaming, b.tool.ServerStreaming = true, true },
			want:  streaming,
		},

		{name: "request without role", spoil: func(b *base) { b.toolInput.Role = contract.Opt[contract.Role]{} }, want: wrongRole},
		{name: "response without role", spoil: func(b *base) { b.toolOutput.Role = contract.Opt[contract.Role]{} }, want: wrongRole},
		{name: "response with the role of a request", spoil: role(output, contract.RoleToolInput), want: wrongRole},
		{
			name: "request with the role of a fact",
			spoil: func(b *base) {
				b.parameter.Tool = nil
				role(input, contract.RoleFact)(b)
			},
			want: wrongRole,
		},
		{name: "request that is the state", spoil: func(b *base) { b.tool.Input = b.state }, want: wrongRole},
		{
			name: "one message without role for two tools",
			spoil: func(b *base) {
				other := b.addTool("other_search", "OtherSearch", 100)
				other.Output = b.toolOutput
				b.toolOutput.Role = contract.Opt[contract.Role]{}
			},
			want: wrongRole,
		},
		{name: "one message as request and response", spoil: func(b *base) { b.tool.Output = b.toolInput }, want: wrongRole},
		{
			name: "response that is a well-known type",
			spoil: func(b *base) {
				b.tool.Output = message("google.protobuf", "Empty", "google/protobuf/empty.proto", 50)
			},
			want: wrongRole,
		},

		{
			name: "not idempotent, and without side effects",
			spoil: func(b *base) {
				b.tool.Idempotent = says(false, toolsFile, 33)
				b.tool.IdempotencyLevel = contract.NoSideEffects
			},
			want: []string{diag.IdempotencyConflict.Code},
		},
		{
			name: "idempotent twice",
			spoil: func(b *base) {
				b.tool.Idempotent = says(true, toolsFile, 33)
				b.tool.IdempotencyLevel = contract.Idempotent
			},
		},
		{name: "idempotent by the option only", spoil: func(b *base) { b.tool.Idempotent = says(true, toolsFile, 33) }},
		{
			name:  "no time",
			spoil: func(b *base) { b.tool.DefaultTimeoutMS = says(uint32(0), toolsFile, 34) },
			want:  []string{diag.BadOptionValue.Code},
		},

		{
			name: "tools that no agent uses may be unfinished",
			spoil: func(b *base) {
				tool := unused(b, "Unused")
				tool.Description = contract.Opt[string]{}
				tool.ServerStreaming = true
				tool.Input.Role = contract.Opt[contract.Role]{}
			},
		},
		{
			name: "tools that no agent uses may not contradict themselves",
			spoil: func(b *base) {
				tool := unused(b, "Unused")
				tool.Input.Role.Value = contract.RoleState
				tool.Idempotent, tool.IdempotencyLevel = says(false, toolsFile, 103), contract.Idempotent
			},
			want: []string{diag.IdempotencyConflict.Code, diag.ToolRole.Code},
		},
	})
}

func TestInjections(t *testing.T) {
	t.Parallel()
	inject := func(name string) func(*base) {
		return func(b *base) { b.parameter.Tool.InjectFromState.Value = name }
	}
	unknown := []string{diag.InjectUnknownField.Code}
	mismatch := []string{diag.InjectTypeMismatch.Code}
	runRules(t, "injections.txt", []rule{
		{name: "state field misspelt", spoil: inject("tenannt"), want: unknown},
		{name: "state field unknown", spoil: inject("deadline"), want: unknown},
		{name: "nothing injected", spoil: inject(""), want: []string{diag.BadOptionValue.Code}},
		{
			name: "state field missing in one of two agents",
			spoil: func(b *base) {
				other := b.addAgent("other-agent", "OtherAgent", 70)
				state := message("acme.agent.v1", "OtherState", agentFile, 90, b.query)
				state.Role = says(contract.RoleState, agentFile, 91)
				other.State, other.StateCandidates = state, []*contract.Message{state}
				b.contract.States = append(b.contract.States, state)
			},
			want: unknown,
		},
		{name: "list into a single value", spoil: inject("notes"), want: mismatch},
		{name: "map into a single value", spoil: inject("facts"), want: mismatch},
		{name: "number from a string", spoil: func(b *base) { b.parameter.Kind = contract.KindInt64 }, want: mismatch},
		{
			name: "messages of different types",
			spoil: func(b *base) {
				b.parameter.Kind, b.parameter.Type = contract.KindMessage, "acme.tools.v1.Tenant"
				b.tenant.Kind, b.tenant.Type = contract.KindMessage, "acme.agent.v1.Tenant"
			},
			want: mismatch,
		},
		{
			name: "one type in two encodings",
			spoil: func(b *base) {
				b.parameter.Kind, b.tenant.Kind = contract.KindSint32, contract.KindInt32
			},
		},
		{
			name: "an agent without a state is one mistake",
			spoil: func(b *base) {
				b.agent.State, b.agent.StateCandidates = nil, nil
				b.contract.Annotated, b.contract.States = nil, nil
				delete(b.contract.Messages, b.state.FullName)
			},
			want: []string{diag.NoState.Code},
		},
		{
			name:  "option in a response",
			spoil: func(b *base) { b.toolOutput.Fields[0].Tool = b.parameter.Tool },
			want:  []string{diag.StrayToolField.Code},
		},
		{
			name: "option in a message without role",
			spoil: func(b *base) {
				nested := scalar("tenant", toolsFile, 41)
				nested.Tool = &contract.ToolField{InjectFromState: says("tenant", toolsFile, 41), Pos: place(toolsFile, 41, "")}
				b.add(message("acme.tools.v1", "Filter", toolsFile, 40, nested))
			},
			want: []string{diag.StrayToolField.Code},
		},
		{
			name:  "request without role is one mistake",
			spoil: func(b *base) { b.toolInput.Role = contract.Opt[contract.Role]{} },
			want:  []string{diag.ToolRole.Code},
		},
	})
}
