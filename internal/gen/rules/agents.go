package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

// maxLabel is the length of a DNS label.
const maxLabel = 63

var (
	dnsLabel  = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	nodeName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	separated = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

func (c *checker) checkAgents() {
	for _, agent := range c.contract.Agents {
		c.checkAgentID(agent)
		c.checkEntryNode(agent)
		c.checkRequiredTools(agent)
		c.checkAgentStreaming(agent)
	}
	c.checkDuplicateAgents()
}

// checkAgentID wants a DNS label: the id becomes a directory, a Kubernetes name
// and, with `_` for `-`, a package. A label of RFC 1123 may start with a digit,
// an identifier may not.
func (c *checker) checkAgentID(agent *contract.Agent) {
	id, place := agent.ID.Value, at(agent.ID.Pos, agent.Pos)
	suggestion := suggest(id, "-", maxLabel)
	if suggestion == "" {
		suggestion = cmp.Or(suggest(simpleName(agent.Service), "-", maxLabel), "agent")
	}
	switch {
	case id == "":
		c.report(diag.New(diag.BadAgentID, place,
			"the agent option of service %s has no agent_id", diag.Code(agent.Service)).
			WithHelp("add `agent_id: \"%s\"` to the option", suggestion))
	case len(id) > maxLabel:
		c.report(diag.New(diag.BadAgentID, place,
			"agent_id %s has %d characters, and a DNS label has at most %d", diag.Code(id), len(id), maxLabel).
			WithHelp("write a shorter `agent_id`"))
	case !dnsLabel.MatchString(id):
		c.report(diag.New(diag.BadAgentID, place,
			"agent_id %s is not a DNS label: it takes lower-case letters, digits and inner hyphens, and starts with a letter",
			diag.Code(id)).
			WithHelp("write `agent_id: \"%s\"`", suggestion))
	default:
		c.checkReservedAgentID(agent)
	}
}

// checkReservedAgentID refuses ids whose folder or packages cannot exist, or
// would hide a module that the agent needs.
func (c *checker) checkReservedAgentID(agent *contract.Agent) {
	id, place := agent.ID.Value, at(agent.ID.Pos, agent.Pos)
	identifier := params.AgentIdentifier(id)
	taken := func(name, reason string) {
		c.report(diag.New(diag.ReservedAgentID, place,
			"agent_id %s cannot be used: %s is %s", diag.Code(id), diag.Code(name), reason).
			WithHelp("choose another id, for instance `agent_id: \"%s-agent\"`", id))
	}
	switch {
	case windowsDevices[identifier]:
		taken(identifier, "a device on Windows, and no folder there can have its name")
		return
	case pythonKeywords[identifier]:
		taken(identifier, "a keyword of Python")
		return
	case goKeywords[identifier]:
		taken(identifier, "reserved in Go")
		return
	}
	for _, name := range []string{c.parameters.ImplPackageFor(id), c.parameters.GeneratedPackageFor(id)} {
		top, _, _ := strings.Cut(name, ".")
		switch {
		case !strings.Contains(top, identifier):
			// The parameter, not the id, chose the name.
		case pythonModules[top]:
			taken(top, "a module of Python's standard library")
			return
		case runtimeModules[top]:
			taken(top, "a module that the generated code or its tests need")
			return
		}
	}
}

// agentKey is what two agents must not share: the id as every place that uses
// it sees it, identifier or path, with or without case.
func agentKey(id string) string {
	return strings.ToLower(separated.ReplaceAllString(id, "_"))
}

func (c *checker) checkDuplicateAgents() {
	byKey := make(map[string][]*contract.Agent)
	for _, agent := range c.contract.Agents {
		if agent.ID.Value != "" {
			key := agentKey(agent.ID.Value)
			byKey[key] = append(byKey[key], agent)
		}
	}
	for key, agents := range byKey {
		slices.SortStableFunc(agents, func(a, b *contract.Agent) int {
			return byPlace(at(a.ID.Pos, a.Pos), at(b.ID.Pos, b.Pos))
		})
		first := agents[0]
		for _, agent := range agents[1:] {
			place := at(agent.ID.Pos, agent.Pos)
			message := fmt.Sprintf("agent_id %s of service %s is already the id of service %s",
				diag.Code(agent.ID.Value), diag.Code(agent.Service), diag.Code(first.Service))
			if agent.ID.Value != first.ID.Value {
				message = fmt.Sprintf("agent_id %s of service %s and agent_id %s of service %s both become the name %s",
					diag.Code(agent.ID.Value), diag.Code(agent.Service),
					diag.Code(first.ID.Value), diag.Code(first.Service), diag.Code(key))
			}
			c.report(diag.New(diag.DuplicateAgent, place, "%s", message).
				WithNote(at(first.ID.Pos, first.Pos), "agent_id %s of service %s", diag.Code(first.ID.Value), diag.Code(first.Service)).
				WithHelp("give one of the two agents another `agent_id`"))
		}
	}
}

// checkEntryNode wants the name of a public function of nodes_impl.
func (c *checker) checkEntryNode(agent *contract.Agent) {
	node, place := agent.EntryNode.Value, at(agent.EntryNode.Pos, agent.Pos)
	reserved := func(reason string) {
		c.report(diag.New(diag.ReservedEntryNode, place,
			"entry_node %s of agent %s is %s", diag.Code(node), agentName(agent), reason).
			WithHelp("rename the node, for instance `entry_node: \"%s\"`", renamedNode(node)))
	}
	switch {
	case node == "":
		c.report(diag.New(diag.BadEntryNode, place,
			"agent %s has no entry_node", agentName(agent)).
			WithHelp("add `entry_node: \"entry\"` to the agent option and implement `entry` in nodes_impl"))
	case node == "__start__" || node == "__end__" || langGraphChannels[node]:
		reserved("reserved by LangGraph")
	case einoNodes[node]:
		reserved("reserved by Eino")
	case pythonKeywords[node]:
		reserved("a keyword of Python")
	case strings.HasPrefix(node, "_"):
		c.report(diag.New(diag.BadEntryNode, place,
			"entry_node %s of agent %s starts with an underscore, and only public functions of nodes_impl are nodes",
			diag.Code(node), agentName(agent)).
			WithHelp("write `entry_node: \"%s\"`", renamedNode(node)))
	case !nodeName.MatchString(node):
		c.report(diag.New(diag.BadEntryNode, place,
			"entry_node %s of agent %s is not an identifier: it takes letters, digits and underscores, and starts with a letter",
			diag.Code(node), agentName(agent)).
			WithHelp("write `entry_node: \"%s\"`", renamedNode(node)))
	}
}

// renamedNode suggests a usable name of a node.
func renamedNode(node string) string {
	name := suggest(node, "_", maxLabel)
	switch {
	case name == "":
		return "entry"
	case einoNodes[name] || langGraphChannels[name] || pythonKeywords[name] || pythonKeywords[node]:
		return name + "_node"
	default:
		return name
	}
}

// agentName names the agent in messages about its other options.
func agentName(agent *contract.Agent) string {
	if agent.ID.Value == "" {
		return diag.Code(agent.Service)
	}
	return diag.Code(agent.ID.Value)
}

// checkRequiredTools is silent about an id that a malformed or missing tool_id is
// probably meant to be: that tool is not unknown, its own id is wrong.
func (c *checker) checkRequiredTools(agent *contract.Agent) {
	first := make(map[string]contract.Pos, len(agent.RequiredToolIDs))
	for _, required := range agent.RequiredToolIDs {
		id, place := required.Value, at(required.Pos, agent.Pos)
		if earlier, repeated := first[id]; repeated {
			c.report(diag.New(diag.RepeatedRequiredTool, place,
				"agent %s requires tool %s more than once", agentName(agent), diag.Code(id)).
				WithNote(earlier, "required here first").
				WithHelp("remove one of the two from `required_tool_ids`"))
			continue
		}
		first[id] = place
		if _, known := slices.BinarySearch(c.toolIDs, id); !known && !c.intendedToolIDs[id] {
			c.report(c.unknownTool(agent, id, place))
		}
	}
}

func (c *checker) unknownTool(agent *contract.Agent, id string, place contract.Pos) diag.Diagnostic {
	if id == "" {
		return diag.New(diag.UnknownTool, place, "agent %s requires a tool with an empty id", agentName(agent)).
			WithHelp("remove the entry from `required_tool_ids`, or write the `tool_id` of a tool")
	}
	d := diag.New(diag.UnknownTool, place, "agent %s requires tool %s, which no method of the request declares",
		agentName(agent), diag.Code(id))
	if len(c.toolIDs) == 0 {
		d = d.WithNote(contract.Pos{}, "the request declares no tool at all")
	} else {
		d = d.WithNote(contract.Pos{}, "the request declares %s", list(c.toolIDs))
	}
	const elsewhere = "a file that this run does not see: set `strategy: all` for the plugin in buf.gen.yaml, " +
		"or import that file, or with protoc name it on the command line"
	if near, ok := c.nearest(id, c.toolIDs); ok {
		return d.
			WithNote(contract.Pos{}, "the tool may also be declared in %s", elsewhere).
			WithHelp("write `\"%s\"`", near)
	}
	return d.WithHelp("declare it with `tool_id: \"%s\"` in the tool option of a method; or, when it is declared in %s", id, elsewhere)
}

// checkAgentStreaming refuses requests that come in pieces: a run of a graph has
// one input. A stream of responses is a run that is watched.
func (c *checker) checkAgentStreaming(agent *contract.Agent) {
	for _, method := range agent.Methods {
		if !method.ClientStreaming || c.isUsedTool(agent.Service, method.Name) {
			continue
		}
		c.report(diag.New(diag.AgentClientStreaming, at(method.Pos, agent.Pos),
			"method %s of agent %s streams its requests, and a run of an agent has one input",
			diag.Code(agent.Service+"."+method.Name), agentName(agent)).
			WithHelp("remove `stream` before `%s`", method.Input))
	}
}

func (c *checker) isUsedTool(service, method string) bool {
	return slices.ContainsFunc(c.contract.Tools, func(tool *contract.Tool) bool {
		return tool.Service == service && tool.Method == method && c.used[tool]
	})
}
