package langgraph

import (
	"fmt"
	"path"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/toml"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/templates"
)

// startersView is what the starters show. A starter becomes a file of its
// reader: it carries neither the mark of generated files nor a hash.
type startersView struct {
	InitDoc, NodesDoc, PolicyDoc, AppDoc py.Code
	// NodesImports, PolicyImports and AppImports are of the generated package.
	NodesImports, PolicyImports, AppImports []py.Code
	// Factory is the name of the entry node's factory, Returns the last line of
	// its head.
	Factory py.Ident
	Returns py.Code
	// EntryNode is the entry node's name in a docstring.
	EntryNode py.Ident
	ReadInput py.Code

	Name, Description, Package toml.String
}

func (g *generation) startersView() (*startersView, error) {
	id := g.agent.ID.Value
	entry, err := py.NewIdent(g.agent.EntryNode.Value)
	if err != nil {
		return nil, fmt.Errorf("name the entry node: %w", err)
	}
	naming := newNaming(g.agent)
	state, err := naming.model(g.agent.State)
	if err != nil {
		return nil, fmt.Errorf("name the state: %w", err)
	}
	input, err := naming.state("Input")
	if err != nil {
		return nil, err
	}
	update, err := naming.state("Update")
	if err != nil {
		return nil, err
	}
	from := func(i *imports, module string, names ...py.Ident) {
		i.addFrom(0, mustModule(g.pkg.String()+"."+module), names...)
	}
	var nodes, policy, app imports
	from(&nodes, "runtime_contract.generated", mustIdent("AgentRuntime"))
	from(&nodes, "state.generated", state, update)
	from(&nodes, "tools.generated.registry", mustIdent("ToolRegistry"))
	from(&policy, "support.graphs", mustIdent("AgentGraph"))
	from(&app, "support.errors", mustIdent("AgentError"))
	from(&app, "support.protojson", mustIdent("JsonError"), mustIdent("from_json"), mustIdent("to_json"))
	from(&app, "graph.generated", mustIdent("AGENT_ID"), mustIdent("build_agent"))
	from(&app, "runtime_contract.generated", mustIdent("load_runtime"))
	from(&app, "state.generated", input)
	return &startersView{
		InitDoc:   py.Doc(0, "", fmt.Sprintf("Agent `%s`: its nodes and its policy.", id)),
		NodesDoc:  py.Doc(0, "", fmt.Sprintf(nodesDoc, id)),
		PolicyDoc: py.Doc(0, "", fmt.Sprintf("The edges of agent `%s`.", id)),
		AppDoc:    py.Doc(0, "", fmt.Sprintf(appDoc, id)),

		NodesImports: nodes.code(), PolicyImports: policy.code(), AppImports: app.code(),

		Factory:   entry,
		EntryNode: entry,
		Returns:   py.Results(0, py.Index(py.Ref("Callable"), py.List(py.Name(state)), py.Name(update))),
		ReadInput: py.Assign(1, mustIdent("state"), py.Call(py.Ref("from_json"), py.Pos(py.Name(input)), py.Pos(py.Ref("value")))),

		Name:        toml.Quote(id),
		Description: toml.Quote("The nodes and the policy of agent " + id + "."),
		Package:     toml.Quote(g.impl.String()),
	}, nil
}

const (
	nodesDoc = "The nodes of agent `%s`." + `

A node factory is a public function here that takes ` + "`runtime` and `tools`" + ` by keyword;
its name is the node's name. It returns the node: a function, plain or async, from
the state to a dict of the fields that change. Fields with a reducer get the part
that is to be merged, not the whole. A node may run again after an interrupt or a
crash, so what it does outside of the state must bear repetition.`
	appDoc = "Runs agent `%s` once: public input in, public output out, as ProtoJSON." + `

The environment says where the tools and the model are; at least ` + "`AGENT_ID`" + ` and
` + "`TOOLS_CONFIG_JSON` (the path of a file such as the `tools.json`" + ` beside this one).`
)

// starters renders the starters and hands each to add with its place among the
// files that people own.
func (g *generation) starters(add func(template, place string, body []byte)) error {
	view, err := g.startersView()
	if err != nil {
		return err
	}
	names, err := templates.Names("langgraph/starters")
	if err != nil {
		return err
	}
	impl := path.Join(g.impl.Parts()...)
	for _, name := range names {
		body, err := render("starters/"+name, view)
		if err != nil {
			return err
		}
		place := path.Join(impl, name)
		if name == "pyproject.toml" {
			place = name
		}
		add(name, place, body)
	}
	return nil
}

// starterTemplates adds the starters as templates.
func (g *generation) starterTemplates() error {
	return g.starters(func(template, _ string, body []byte) {
		g.tree.raw(path.Join("templates", template+".tmpl"), string(body))
	})
}

// starterFiles adds the starters where people own them.
func (g *generation) starterFiles() error {
	return g.starters(func(_, place string, body []byte) { g.tree.raw(place, string(body)) })
}
