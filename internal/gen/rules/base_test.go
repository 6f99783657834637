package rules_test

import (
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

const (
	agentFile = "acme/agent/v1/research_agent.proto"
	toolsFile = "acme/tools/v1/tools.proto"
)

// base is a valid contract: an agent with a state, a tool and a fact. Each test
// spoils one thing in a copy of its own. The shortcuts point into the contract.
type base struct {
	contract *contract.Contract

	agent    *contract.Agent
	state    *contract.Message
	notes    *contract.Field // repeated string, APPEND_LIST
	facts    *contract.Field // map<string, string>, MERGE_MAP
	query    *contract.Field // string, the public input
	tenant   *contract.Field // string, fills the tool's parameter
	request  *contract.Message
	response *contract.Message

	tool       *contract.Tool
	toolInput  *contract.Message
	toolOutput *contract.Message
	parameter  *contract.Field // string, filled from the state

	fact *contract.Fact
}

// place is a position; the columns of the base are all 3, which no rule minds.
func place(path string, line int, element string) contract.Pos {
	return contract.Pos{Path: path, Line: line, Col: 3, Element: element}
}

// says is an option that is set, one line below its element's name.
func says[T any](value T, path string, line int) contract.Opt[T] {
	return contract.Opt[T]{Value: value, Set: true, Pos: place(path, line, "")}
}

func newBase() *base {
	b := &base{}
	b.notes = stateField("notes", 1, contract.AppendList)
	b.notes.Cardinality = contract.Repeated
	b.facts = stateField("facts", 2, contract.MergeMap)
	b.facts.Cardinality, b.facts.Key = contract.Map, contract.KindString
	b.query = stateField("user_query", 3, contract.Replace)
	b.query.State.PublicInput = says(true, agentFile, 34)
	b.tenant = stateField("tenant", 4, contract.Replace)
	b.state = message("acme.agent.v1", "ResearchState", agentFile, 10, b.notes, b.facts, b.query, b.tenant)
	b.state.Role = says(contract.RoleState, agentFile, 11)
	b.request = message("acme.agent.v1", "InvokeRequest", agentFile, 50, typed("input", agentFile, 51, b.state))
	b.response = message("acme.agent.v1", "InvokeResponse", agentFile, 55, typed("output", agentFile, 56, b.state))

	b.parameter = scalar("tenant", toolsFile, 13)
	b.parameter.Tool = &contract.ToolField{
		InjectFromState: says("tenant", toolsFile, 14),
		Pos:             place(toolsFile, 13, ""),
	}
	b.toolInput = message("acme.tools.v1", "WebSearchRequest", toolsFile, 10, scalar("query", toolsFile, 12), b.parameter)
	b.toolInput.Role = says(contract.RoleToolInput, toolsFile, 11)
	b.toolOutput = message("acme.tools.v1", "WebSearchResponse", toolsFile, 20, scalar("answer", toolsFile, 22))
	b.toolOutput.Role = says(contract.RoleToolOutput, toolsFile, 21)
	b.tool = newTool("web_search", "WebSearch", 30, b.toolInput, b.toolOutput)

	answerFound := message("acme.agent.v1", "AnswerFound", agentFile, 80,
		scalar("request_id", agentFile, 83), scalar("answer", agentFile, 84))
	answerFound.Role = says(contract.RoleFact, agentFile, 81)
	b.fact = newFact(answerFound, "acme.agent.answer.found.v1", 82)
	b.fact.PartitionKeyFields = []contract.Opt[string]{says("request_id", agentFile, 82)}

	b.agent = &contract.Agent{
		ID:              says("research-agent", agentFile, 61),
		EntryNode:       says("entry", agentFile, 62),
		RequiredToolIDs: []contract.Opt[string]{says("web_search", agentFile, 63)},
		Service:         "acme.agent.v1.ResearchAgent",
		Package:         "acme.agent.v1",
		Pos:             place(agentFile, 60, "acme.agent.v1.ResearchAgent"),
		Methods: []*contract.Method{{
			Name: "Invoke", Input: b.request.FullName, Output: b.response.FullName,
			Pos: place(agentFile, 65, "acme.agent.v1.ResearchAgent.Invoke"),
		}},
		State:           b.state,
		StateCandidates: []*contract.Message{b.state},
		Tools:           []*contract.Tool{b.tool},
		Facts:           []*contract.Fact{b.fact},
	}
	b.contract = &contract.Contract{
		Agents:    []*contract.Agent{b.agent},
		Tools:     []*contract.Tool{b.tool},
		Facts:     []*contract.Fact{b.fact},
		States:    []*contract.Message{b.state},
		Annotated: []*contract.Message{b.state, b.toolInput},
		Messages:  map[string]*contract.Message{},
		Enums:     map[string]*contract.Enum{},
	}
	b.add(b.state, b.request, b.response, b.toolInput, b.toolOutput, answerFound)
	return b
}

// add makes the messages types of the agent.
func (b *base) add(messages ...*contract.Message) {
	for _, m := range messages {
		b.contract.Messages[m.FullName] = m
		b.agent.Messages = append(b.agent.Messages, m)
	}
}

// addEnum makes an enum a type of the agent.
func (b *base) addEnum(pkg, name, path string, line int) {
	fullName := pkg + "." + name
	enum := &contract.Enum{
		FullName: fullName, Package: pkg, Name: name, Pos: place(path, line, fullName),
		Values: []*contract.EnumValue{{Name: "UNKNOWN", Pos: place(path, line+1, pkg+".UNKNOWN")}},
	}
	b.contract.Enums[fullName] = enum
	b.agent.Enums = append(b.agent.Enums, enum)
}

// addTool makes another tool, which the agent requires, with a request and a
// response of its own.
func (b *base) addTool(id, method string, line int) *contract.Tool {
	input := message("acme.tools.v1", method+"Request", toolsFile, line+10)
	input.Role = says(contract.RoleToolInput, toolsFile, line+11)
	output := message("acme.tools.v1", method+"Response", toolsFile, line+12)
	output.Role = says(contract.RoleToolOutput, toolsFile, line+13)
	b.add(input, output)
	tool := newTool(id, method, line, input, output)
	b.contract.Tools = append(b.contract.Tools, tool)
	if id != b.tool.ID.Value {
		b.agent.RequiredToolIDs = append(b.agent.RequiredToolIDs, says(id, agentFile, 63))
	}
	b.agent.Tools = append(b.agent.Tools, tool)
	return tool
}

// addAgent makes another agent with the state, the tools and the facts of the
// first.
func (b *base) addAgent(id, service string, line int) *contract.Agent {
	agent := *b.agent
	agent.ID = says(id, agentFile, line+1)
	agent.Service = "acme.agent.v1." + service
	agent.Pos = place(agentFile, line, agent.Service)
	b.contract.Agents = append(b.contract.Agents, &agent)
	return &agent
}

func message(pkg, name, path string, line int, fields ...*contract.Field) *contract.Message {
	fullName := pkg + "." + name
	for _, field := range fields {
		field.Pos.Element = fullName + "." + field.Name
	}
	return &contract.Message{
		FullName: fullName, Package: pkg, Name: name, Fields: fields,
		Pos: place(path, line, fullName),
	}
}

func scalar(name, path string, line int) *contract.Field {
	return &contract.Field{
		Name: name, JSONName: name, Cardinality: contract.Singular, Kind: contract.KindString,
		Presence: contract.Implicit, Pos: place(path, line, ""),
	}
}

func typed(name, path string, line int, of *contract.Message) *contract.Field {
	field := scalar(name, path, line)
	field.Kind, field.Type, field.Presence = contract.KindMessage, of.FullName, contract.Explicit
	return field
}

// stateField is a string field that is checkpointed; number n stands at line
// 10+5n, its reducer and checkpoint below.
func stateField(name string, n int, reducer contract.Reducer) *contract.Field {
	line := 15 + 5*n
	field := scalar(name, agentFile, line)
	field.State = &contract.StateField{
		Reducer:    says(reducer, agentFile, line+2),
		Checkpoint: says(true, agentFile, line+3),
		Pos:        place(agentFile, line+1, ""),
	}
	return field
}

func newTool(id, method string, line int, input, output *contract.Message) *contract.Tool {
	return &contract.Tool{
		ID: says(id, toolsFile, line+1), Name: strings.ReplaceAll(id, ".", "_"), Description: says("Does it.", toolsFile, line+2),
		Service: "acme.tools.v1.Tools", Method: method, Input: input, Output: output,
		Pos: place(toolsFile, line, "acme.tools.v1.Tools."+method),
	}
}

func newFact(m *contract.Message, name string, line int) *contract.Fact {
	return &contract.Fact{
		Message: m, HasOption: true, Type: says(name, agentFile, line), Pos: place(agentFile, line, m.FullName),
	}
}
