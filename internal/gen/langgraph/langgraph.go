// Package langgraph emits an agent as a Python package for LangGraph.
//
// The contract becomes views, a struct a template, whose fields hold encoded
// text only: package py and its siblings under internal/gen/text make it.
package langgraph

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/toml"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/toolschema"
)

// Emitter is the target `langgraph`.
type Emitter struct {
	version string
}

var _ emit.Emitter = (*Emitter)(nil)

// New makes the target. The version is that of the plugin, and stands in the
// manifests only.
func New(version string) *Emitter { return &Emitter{version} }

// Emit gives a folder for every agent.
func (e *Emitter) Emit(c *contract.Contract, p params.Parameters) ([]emit.File, error) {
	emitted := make([][]emit.File, len(c.Agents))
	errs := make([]error, len(c.Agents))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(c.Agents)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(c.Agents); i = next.Add(1) - 1 {
				emitted[i], errs[i] = e.guarded(c.Agents[i], p)
			}
		})
	}
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", c.Agents[i].ID.Value, err)
		}
	}
	return slices.Concat(emitted...), nil
}

// guarded emits one agent and turns a panic into an error: the handler cannot
// recover what panics beside it.
func (e *Emitter) guarded(a *contract.Agent, p params.Parameters) (files []emit.File, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return e.agent(a, p)
}

// agent emits one agent.
func (e *Emitter) agent(a *contract.Agent, p params.Parameters) ([]emit.File, error) {
	pkg, err := py.NewModule(p.GeneratedPackageFor(a.ID.Value))
	if err != nil {
		return nil, fmt.Errorf("name the generated package: %w", err)
	}
	impl, err := py.NewModule(p.ImplPackageFor(a.ID.Value))
	if err != nil {
		return nil, fmt.Errorf("name the package of the implementation: %w", err)
	}
	g := &generation{
		agent: a, pkg: pkg, impl: impl,
		tree: newTree(a.ID.Value, pkg, p.Layout),
	}
	if p.Starters == params.StartersOnly {
		if err := g.starterFiles(); err != nil {
			return nil, err
		}
		return g.tree.files, nil
	}
	contractJSON, err := a.JSON()
	if err != nil {
		return nil, fmt.Errorf("write the contract: %w", err)
	}
	g.tree.raw("contract.json", string(contractJSON))
	for _, step := range []func() error{
		g.project, g.models, g.toolModules, g.areas, g.harness, g.tests, g.starterTemplates, g.tree.support,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return g.tree.finish(e.version, a.ID.Value, string(contractJSON))
}

// generation is the work on one agent.
type generation struct {
	agent     *contract.Agent
	pkg, impl py.Module
	types     *types
	tree      *tree
}

// in is a path below the import package.
func (g *generation) in(parts ...string) string {
	return path.Join(append([]string{g.tree.pkg}, parts...)...)
}

// python renders a template into a Python file.
func (g *generation) python(name, template string, view any) error {
	body, err := render(template, view)
	if err != nil {
		return err
	}
	g.tree.python(name, body)
	return nil
}

type initView struct {
	Doc    py.Code
	Dotted bool
}

type projectView struct {
	Name, Description, Package, Subpackages toml.String
	// UsesCEL says that models have rules that need a library.
	UsesCEL bool
}

// project adds the files around the package.
func (g *generation) project() error {
	readme, err := newReadmeView(g.agent, g.tree, g.pkg, g.impl)
	if err != nil {
		return err
	}
	body, err := render("README.md", readme)
	if err != nil {
		return err
	}
	g.tree.markdown("README.md", body)
	body, err = render("pyproject.toml", projectView{
		Name:        toml.Quote(g.agent.ID.Value + "-generated"),
		Description: toml.Quote("The generated package of agent " + g.agent.ID.Value + "."),
		Package:     toml.Quote(g.pkg.String()),
		Subpackages: toml.Quote(g.pkg.String() + ".*"),
		UsesCEL:     usesExpressions(g.agent),
	})
	if err != nil {
		return err
	}
	g.tree.toml("pyproject.toml", body)
	g.tree.raw(g.in("py.typed"), "")
	return g.python(g.in("__init__.py"), "init.py", initView{
		Doc:    py.Doc(0, "", fmt.Sprintf("The generated package of agent `%s`.", g.agent.ID.Value)),
		Dotted: g.tree.layout == params.LayoutDotted,
	})
}

// area is a module that the layouts place differently.
type area struct{ name, text string }

func areas(withFacts bool) []area {
	list := []area{
		{areaState, "the models, the types of updates, input and output"},
		{areaGraph, "the graph"},
		{areaRuntime, "the environment"},
		{areaBlobs, "large artifacts, kept outside of the state"},
	}
	if withFacts {
		list = append(list, area{areaFacts, "facts and events"})
	}
	return list
}

// models adds the module of the state.
func (g *generation) models() error {
	types, err := newTypes(g.agent)
	if err != nil {
		return err
	}
	g.types = types
	view, err := newStateView(g.agent, types)
	if err != nil {
		return err
	}
	body, err := render("state_generated.py", view)
	if err != nil {
		return err
	}
	g.tree.area(areaState, "The state of the agent.", body)
	return nil
}

// toolModules adds a module for every tool, and the registry.
func (g *generation) toolModules() error {
	tools, err := newTools(g.agent)
	if err != nil {
		return err
	}
	g.tree.python(g.in("tools", "__init__.py"), docstring("The tools of the agent."))
	g.tree.python(g.in("tools", "generated", "__init__.py"), docstring("The tools of the agent, a module each."))
	schemas, err := toolschema.New(g.agent)
	if err != nil {
		return err
	}
	for _, t := range tools {
		view, err := newToolView(t, g.types)
		if err != nil {
			return err
		}
		document := schemas.Document(t.Tool)
		g.tree.raw(g.in("tools", "generated", t.module.String()+".json"), string(document.Bytes()))
		if err := g.python(g.in("tools", "generated", t.module.String()+".py"), "tool.py", view); err != nil {
			return err
		}
	}
	return g.python(g.in("tools", "generated", "registry.py"), "tools_registry.py", newRegistryView(g.agent, tools))
}

// areas adds the other modules that the layouts place differently.
func (g *generation) areas() error {
	graph, err := newGraphView(g.agent, g.impl)
	if err != nil {
		return err
	}
	facts, err := newFactsView(g.agent, g.types)
	if err != nil {
		return err
	}
	for _, module := range []struct {
		area, doc string
		view      any
	}{
		{areaGraph, "The graph of the agent.", graph},
		{areaRuntime, "What the environment gives to the agent.", newModuleView(g.agent, "The runtime contract of agent `%s`: what the environment gives.")},
		{areaBlobs, "Large artifacts, kept outside of the state.", newModuleView(g.agent, "Large artifacts of agent `%s`, kept outside of the state.")},
		{areaFacts, "The facts and events of the agent.", facts},
	} {
		if module.area == areaFacts && len(g.agent.Facts) == 0 {
			continue
		}
		body, err := render(module.area+"_generated.py", module.view)
		if err != nil {
			return err
		}
		g.tree.area(module.area, module.doc, body)
	}
	return nil
}
