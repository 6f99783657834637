package langgraph

import (
	"fmt"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// graphView is what graph_generated.py shows.
type graphView struct {
	Doc             py.Code
	ThirdParty      []py.Code
	Local           []py.Code
	EntryNode       py.Code
	RequiredToolIDs py.Code
	// Returns is the last line of the head of build_agent.
	Returns py.Code
}

func newGraphView(a *contract.Agent, impl py.Module) (*graphView, error) {
	naming := newNaming(a)
	input, err := naming.state("Input")
	if err != nil {
		return nil, err
	}
	output, err := naming.state("Output")
	if err != nil {
		return nil, err
	}
	var third, local imports
	third.add("langgraph.graph", "START")
	third.add("langgraph.graph.state", "CompiledStateGraph")
	third.add("langgraph.types", "Checkpointer")
	third.addFrom(0, impl, mustIdent("nodes_impl"), mustIdent("policy_impl"))
	local.add("..support.agent", "Agent")
	local.add("..support.errors", "GraphError")
	local.add("..support.graphs", "AgentGraph", "node_factories")
	local.add("..runtime_contract.generated", "AGENT_ID", "AgentRuntime")
	local.add("..state.generated", "STATE")
	local.addFrom(2, mustModule("state.generated"), input, output)
	local.add("..tools.generated.registry", "build_tool_registry")
	return &graphView{
		Doc:             py.Doc(0, "", fmt.Sprintf("The graph of agent `%s`.", a.ID.Value)),
		ThirdParty:      third.code(),
		Local:           local.code(),
		EntryNode:       py.Assign(0, mustIdent("ENTRY_NODE"), py.Str(a.EntryNode.Value)),
		RequiredToolIDs: py.Assign(0, mustIdent("REQUIRED_TOOL_IDS"), requiredToolIDs(a)),
		Returns:         py.Results(0, py.Index(py.Ref("Agent"), py.Name(input), py.Name(output))),
	}, nil
}

func requiredToolIDs(a *contract.Agent) py.Expr {
	ids := make([]py.Expr, len(a.RequiredToolIDs))
	for i, id := range a.RequiredToolIDs {
		ids[i] = py.Str(id.Value)
	}
	return py.Tuple(ids...)
}
