package langgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// imports collects the from-imports of one section of a module, in any order.
type imports struct {
	bySource map[origin][]py.Ident
}

type origin struct {
	dots   int
	module py.Module
}

// add imports names from a module of the generator's own choice, such as
// `..support`.
func (i *imports) add(from string, names ...string) {
	module := strings.TrimLeft(from, ".")
	var m py.Module
	if module != "" {
		m = mustModule(module)
	}
	for _, name := range names {
		i.addFrom(len(from)-len(module), m, mustIdent(name))
	}
}

// addFrom imports a name from a module.
func (i *imports) addFrom(dots int, module py.Module, names ...py.Ident) {
	if i.bySource == nil {
		i.bySource = map[origin][]py.Ident{}
	}
	key := origin{dots, module}
	i.bySource[key] = append(i.bySource[key], names...)
}

// code prints the imports sorted as ruff sorts them.
func (i *imports) code() []py.Code {
	sources := make([]origin, 0, len(i.bySource))
	for key := range i.bySource {
		sources = append(sources, key)
	}
	slices.SortFunc(sources, func(a, b origin) int {
		return cmp.Or(-cmp.Compare(a.dots, b.dots), py.CompareModules(a.module, b.module))
	})
	out := make([]py.Code, 0, len(sources))
	for _, key := range sources {
		out = append(out, py.From(key.dots, key.module, i.bySource[key]...))
	}
	return out
}

// mustIdent and mustModule are for names that the generator itself chose.
func mustIdent(name string) py.Ident {
	ident, err := py.NewIdent(name)
	if err != nil {
		panic(err)
	}
	return ident
}

func mustModule(name string) py.Module {
	module, err := py.NewModule(name)
	if err != nil {
		panic(err)
	}
	return module
}
