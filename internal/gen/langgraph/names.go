package langgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// The renaming is one fixed rule a kind of name, injective, and independent of
// everything else in the schema: adding a field, a message or a file renames
// nothing else. The one exception is two types of one name in different packages:
// see naming. docs/names.md is the same rule in words.

// words makes a set of the words of a text.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

var (
	// reservedFields are field names that cannot be attributes of a model: those
	// that Pydantic's BaseModel has, builtins and module names that the
	// annotations of the models use, and names that LangGraph and LangChain fill
	// in themselves. A test compares the list with the installed libraries.
	reservedFields = words(`
		construct copy dict from_orm json parse_file parse_obj parse_raw schema schema_json
		update_forward_refs validate
		model_computed_fields model_config model_construct model_copy model_extra model_fields
		model_fields_set model_json_schema model_parametrized_name model_post_init model_rebuild
		list
		add_messages append_list merge_map replace
		checkpoint_id checkpoint_map checkpoint_ns configurable
		callbacks config run_manager runtime store writer`)

	// reservedPrefixes begin names that Pydantic protects.
	reservedPrefixes = []string{"model_dump", "model_validate"}

	// reservedMembers are names that cannot be members of an enum: those that
	// IntEnum has.
	reservedMembers = words(`
		as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer
		mro name numerator parse real to_bytes value`)

	// reservedTypes are class names that the models' module uses itself.
	reservedTypes = words(`
		Annotated Any ChatMessage ChatUpdate ConfigDict ENUMS False Field IntEnum MODELS None Overwrite
		PUBLIC_OUTPUT_KEYS REDUCERS STATE StateContract True TypedDict UntrackedReducer
		UntrackedValue`)

	// reservedModules are the modules that stand beside those of the tools, the
	// attributes that every tool registry has, and the names that no file can have
	// on Windows.
	reservedModules = words(`
		adapters generated ids langchain_tools registry
		aux com0 com1 com2 com3 com4 com5 com6 com7 com8 com9 con lpt0 lpt1 lpt2 lpt3 lpt4 lpt5
		lpt6 lpt7 lpt8 lpt9 nul prn`)
)

// fieldName is the attribute of a field or a oneof.
//
// A name that begins with an underscore or a capital gets the prefix `pb`, and
// so does a name that has such a prefix already; a reserved name, also with
// underscores behind it, gets one underscore more. An extension `[pkg.name]` is
// called `X_pkg__name`, as no field is.
func fieldName(name string) (py.Ident, error) {
	if extension, found := strings.CutPrefix(name, "["); found {
		return py.NewIdent("X_" + dotted(strings.TrimSuffix(extension, "]")))
	}
	return rename(name, true, func(stem string) bool {
		if reservedFields[stem] {
			return true
		}
		for _, prefix := range reservedPrefixes {
			if strings.HasPrefix(stem, prefix) {
				return true
			}
		}
		return false
	})
}

// memberName is the member of an enum value: as fieldName, but capitals are fine.
func memberName(name string) (py.Ident, error) {
	return rename(name, false, func(stem string) bool { return reservedMembers[stem] })
}

// toolModule is the module and the attribute of a tool.
func toolModule(t *contract.Tool) (py.Ident, error) {
	return rename(strings.ReplaceAll(t.Name, "-", "_"), false, func(stem string) bool {
		return reservedModules[strings.ToLower(stem)]
	})
}

func rename(name string, capitals bool, reserved func(stem string) bool) (py.Ident, error) {
	stem := strings.TrimRight(name, "_")
	switch {
	case needsPrefix(name, capitals):
		name = "pb" + name
	case py.IsKeyword(stem) || reserved(stem):
		name += "_"
	}
	return py.NewIdent(name)
}

// needsPrefix reports whether a name begins with an underscore or, where that
// matters, with a capital; `pb`s before it do not count.
func needsPrefix(name string, capitals bool) bool {
	for strings.HasPrefix(name, "pb") {
		name = name[len("pb"):]
	}
	return name == "" || name[0] == '_' || capitals && isCapital(name[0])
}

// prefixed is a name with the prefix that it needs to begin with a small letter.
func prefixed(name string) string {
	if needsPrefix(name, true) {
		return "pb" + name
	}
	return name
}

// naming names the classes of one agent.
//
// They stand in one module, whatever the packages of their types. A type has its
// package behind its name when another type of the agent has the same name; but
// never a type of the agent's own package, so that what other packages add
// renames nothing of an agent's own.
type naming struct {
	agent *contract.Agent
	// messages and enums count the types of a name.
	messages, enums map[string]int
}

func newNaming(a *contract.Agent) *naming {
	n := &naming{agent: a, messages: map[string]int{}, enums: map[string]int{}}
	for _, m := range a.Messages {
		n.messages[m.Name]++
	}
	for _, e := range a.Enums {
		n.enums[e.Name]++
	}
	return n
}

// model is the class of a message: its name and `Model`.
func (n *naming) model(m *contract.Message) (py.Ident, error) {
	return n.class(m, typeName(m.Name)+"Model")
}

// state is a class that belongs to the state, such as `ResearchStateUpdate`.
func (n *naming) state(suffix string) (py.Ident, error) {
	class, err := n.class(n.agent.State, typeName(n.agent.State.Name)+suffix)
	if err != nil {
		return py.Ident{}, fmt.Errorf("name the %s of state %s: %w", suffix, n.agent.State.FullName, err)
	}
	return class, nil
}

// fact is the constant of a fact.
func (n *naming) fact(m *contract.Message) (py.Ident, error) {
	return n.class(m, factConstant(m))
}

func (n *naming) class(m *contract.Message, name string) (py.Ident, error) {
	return py.NewIdent(name + n.qualifier(m.Package, n.messages[m.Name]))
}

// enum is the class of an enum: its name, with `_` behind it where the module
// uses that name itself or where a message could have it.
func (n *naming) enum(e *contract.Enum) (py.Ident, error) {
	name := typeName(e.Name)
	class := name + n.qualifier(e.Package, n.enums[e.Name])
	if reservedTypes[name] || strings.HasSuffix(name, "Model") || n.ofState(name) {
		class += "_"
	}
	return py.NewIdent(class)
}

// stateSuffixes end the names of the classes that belong to a state.
var stateSuffixes = []string{"Update", "Input", "Output"}

func (n *naming) ofState(name string) bool {
	if n.agent.State == nil {
		return false
	}
	rest, found := strings.CutPrefix(name, typeName(n.agent.State.Name))
	return found && slices.Contains(stateSuffixes, rest)
}

// qualifier is what tells types of one name apart: `__` and the package, which is
// `pb` where there is none. No name
// has two underscores before a small letter.
func (n *naming) qualifier(pkg string, types int) string {
	if types < 2 || pkg == n.agent.Package {
		return ""
	}
	return "__" + dotted(pkg)
}

// typeName is the name of a type, nested or not, as one name: each part begins
// with a capital, so that no field has the name of a type, and the parts are
// joined by `_`. A part that begins otherwise gets the prefix `Pb`, and once more
// if it looks as if it had it. An underscore of its own that could be mistaken
// for more than that is written twice.
func typeName(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, ".") {
		rest := part
		for strings.HasPrefix(rest, "Pb") {
			rest = rest[len("Pb"):]
		}
		if rest != "" && !isCapital(rest[0]) {
			part = "Pb" + part
		}
		parts = append(parts, double(part))
	}
	return strings.Join(parts, "_")
}

// dotted is a dotted name, such as a package, as one name: the parts are joined
// by `__`, and begin with a small letter, as the names of fields do.
func dotted(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, ".") {
		parts = append(parts, double(prefixed(part)))
	}
	return strings.Join(parts, "__")
}

// double writes an underscore twice where it stands before another one, before a
// capital or at the end. So parts that begin with a letter can be joined by
// underscores: how many there are in a row says what they stand for.
func double(name string) string {
	var b strings.Builder
	for i := range len(name) {
		b.WriteByte(name[i])
		if name[i] == '_' && (i+1 == len(name) || name[i+1] == '_' || isCapital(name[i+1])) {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

// toolClass is the class of a tool: its words with capitals, and `Tool`, as in
// `WebSearchTool` for `web_search`. A name that is not made of such words stays
// as it is, between `Tool_` and `_`.
func toolClass(module py.Ident) (py.Ident, error) {
	name := "Tool_" + module.String() + "_"
	if plainWords(module.String()) {
		var b strings.Builder
		for word := range strings.SplitSeq(module.String(), "_") {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		name = b.String() + "Tool"
	}
	class, err := py.NewIdent(name)
	if err != nil {
		return py.Ident{}, fmt.Errorf("name the class of tool %s: %w", module, err)
	}
	return class, nil
}

// plainWords reports whether a name is made of lower-case words, each beginning
// with a letter: then capitals can mark where they begin.
func plainWords(name string) bool {
	for word := range strings.SplitSeq(name, "_") {
		if word == "" || word[0] < 'a' || word[0] > 'z' || strings.ToLower(word) != word {
			return false
		}
	}
	return true
}
