package rules_test

import (
	"strings"
	"testing"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	agentID := func(id string) func(*base) {
		return func(b *base) { b.agent.ID.Value = id }
	}
	entryNode := func(node string) func(*base) {
		return func(b *base) { b.agent.EntryNode.Value = node }
	}
	requires := func(ids ...string) func(*base) {
		return func(b *base) {
			b.agent.RequiredToolIDs = nil
			for i, id := range ids {
				b.agent.RequiredToolIDs = append(b.agent.RequiredToolIDs, says(id, agentFile, 63+i))
			}
		}
	}
	badID := []string{diag.BadAgentID.Code}
	duplicate := []string{diag.DuplicateAgent.Code}
	reservedID := []string{diag.ReservedAgentID.Code}
	badNode := []string{diag.BadEntryNode.Code}
	reservedNode := []string{diag.ReservedEntryNode.Code}
	unknown := []string{diag.UnknownTool.Code}
	runRules(t, "agents.txt", []rule{
		{name: "agent_id missing", spoil: func(b *base) { b.agent.ID = contract.Opt[string]{} }, want: badID},
		{name: "agent_id empty", spoil: agentID(""), want: badID},
		{name: "agent_id with capitals", spoil: agentID("ResearchAgent"), want: badID},
		{name: "agent_id with underscore", spoil: agentID("research_agent"), want: badID},
		{name: "agent_id a path", spoil: agentID("../../etc"), want: badID},
		{name: "agent_id starts with a digit", spoil: agentID("2nd-agent"), want: badID},
		{name: "agent_id ends with a hyphen", spoil: agentID("research-"), want: badID},
		{name: "agent_id of digits only", spoil: agentID("42"), want: badID},
		{name: "agent_id with a line break", spoil: agentID("research\n# owned"), want: badID},
		{name: "agent_id with a homoglyph", spoil: agentID("r\u0435search"), want: badID},
		{name: "agent_id with a bidi override", spoil: agentID("research\u202etnega"), want: badID},
		{name: "agent_id with a terminal escape", spoil: agentID("\x1b[31mred"), want: badID},
		{name: "agent_id too long", spoil: agentID(strings.Repeat("a", 64)), want: badID},
		{name: "agent_id very long", spoil: agentID(strings.Repeat("a", 1<<20)), want: badID},
		{name: "agent_id as long as can be", spoil: agentID(strings.Repeat("a", 63))},
		{name: "agent_id of one letter", spoil: agentID("a")},

		{name: "agent_id twice", spoil: func(b *base) { b.addAgent("research-agent", "OtherAgent", 70) }, want: duplicate},
		{
			name:  "agent_id equal as identifier",
			spoil: func(b *base) { b.addAgent("research_agent", "OtherAgent", 70) },
			want:  []string{diag.BadAgentID.Code, diag.DuplicateAgent.Code},
		},
		{
			name:  "agent_id equal but for case",
			spoil: func(b *base) { b.addAgent("Research-Agent", "OtherAgent", 70) },
			want:  []string{diag.BadAgentID.Code, diag.DuplicateAgent.Code},
		},
		{name: "two agents", spoil: func(b *base) { b.addAgent("other-agent", "OtherAgent", 70) }},

		{name: "agent_id a device", spoil: agentID("con"), want: reservedID},
		{name: "agent_id a keyword of Python", spoil: agentID("class"), want: reservedID},
		{name: "agent_id a keyword of Go", spoil: agentID("select"), want: reservedID},
		{name: "agent_id a module of Python", spoil: agentID("test"), want: reservedID},
		{name: "agent_id a library", spoil: agentID("langgraph"), want: reservedID},
		{name: "agent_id a library after conversion", spoil: agentID("langchain-core"), want: reservedID},
		{
			name:       "agent_id a module of Python below another package",
			spoil:      agentID("test"),
			parameters: func(p *params.Parameters) { p.ImplPackage = "acme.{agent}" },
		},

		{name: "entry_node missing", spoil: func(b *base) { b.agent.EntryNode = contract.Opt[string]{} }, want: badNode},
		{name: "entry_node with a hyphen", spoil: entryNode("plan-research"), want: badNode},
		{name: "entry_node with LangGraph's separators", spoil: entryNode("plan|a:b"), want: badNode},
		{name: "entry_node private", spoil: entryNode("_plan"), want: badNode},
		{name: "entry_node of signs", spoil: entryNode("->"), want: badNode},
		{name: "entry_node code", spoil: entryNode("plan()\nimport os"), want: badNode},
		{name: "entry_node in capitals", spoil: entryNode("Plan2")},
		{name: "entry_node LangGraph's start", spoil: entryNode("__start__"), want: reservedNode},
		{name: "entry_node LangGraph's end", spoil: entryNode("__end__"), want: reservedNode},
		{name: "entry_node LangGraph's channel", spoil: entryNode("checkpoint_id"), want: reservedNode},
		{name: "entry_node Eino's start", spoil: entryNode("start"), want: reservedNode},
		{name: "entry_node Eino's end", spoil: entryNode("end"), want: reservedNode},
		{name: "entry_node a keyword", spoil: entryNode("lambda"), want: reservedNode},
		{name: "entry_node a capitalised keyword", spoil: entryNode("None"), want: reservedNode},

		{name: "required tool misspelt", spoil: requires("web_serch"), want: unknown},
		{name: "required tool in another style", spoil: requires("web-search"), want: unknown},
		{name: "required tool unknown", spoil: requires("translate"), want: unknown},
		{name: "required tool empty", spoil: requires(""), want: unknown},
		{
			name: "required tool, and no tool at all",
			spoil: func(b *base) {
				b.contract.Tools, b.agent.Tools = nil, nil
			},
			want: unknown,
		},
		{
			name: "required tool, and many others",
			spoil: func(b *base) {
				for _, letter := range strings.Split("abcdefghij", "") {
					tool := b.addTool("tool_"+letter, "Tool"+strings.ToUpper(letter), 100)
					tool.Pos.Col = int(letter[0])
				}
				requires("translate")(b)
			},
			want: unknown,
		},
		{name: "required tool twice", spoil: requires("web_search", "web_search"), want: []string{diag.RepeatedRequiredTool.Code}},
		{name: "no required tools", spoil: requires()},

		{
			name:  "requests stream",
			spoil: func(b *base) { b.agent.Methods[0].ClientStreaming = true },
			want:  []string{diag.AgentClientStreaming.Code},
		},
		{name: "responses stream", spoil: func(b *base) { b.agent.Methods[0].ServerStreaming = true }},
	})
}
