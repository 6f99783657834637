package langgraph

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/templates"
)

// packagesView is what the tests show: the packages under test.
type packagesView struct {
	GeneratedPackage, ImplPackage py.Code
}

func (g *generation) packages() packagesView {
	return packagesView{
		GeneratedPackage: py.Assign(0, mustIdent("GENERATED_PACKAGE"), py.Str(g.pkg.String())),
		ImplPackage:      py.Assign(0, mustIdent("IMPL_PACKAGE"), py.Str(g.impl.String())),
	}
}

// folder renders every template of a folder into Python files of another one.
func (g *generation) folder(from, to string) error {
	names, err := templates.Names("langgraph/" + from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := g.python(to+"/"+name, from+"/"+name, g.packages()); err != nil {
			return err
		}
	}
	return nil
}

// harness adds the support for tests.
func (g *generation) harness() error {
	g.tree.python(g.in("harness", "__init__.py"), docstring("Support for tests of the agent."))
	return g.folder("harness", g.in("harness", "generated"))
}

// tests adds the tests that fail until the agent is whole.
func (g *generation) tests() error { return g.folder("tests", "tests/generated") }
