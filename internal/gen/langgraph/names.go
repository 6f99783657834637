package langgraph

import (
	"fmt"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// The renaming is one fixed rule a kind of name, injective, and independent of
// everything else in the schema: adding a field, a message or a file never
// renames another one. docs/names.md is the same rule in words.

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
// underscores behind it, gets one underscore more.
func fieldName(name string) (py.Ident, error) {
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
	rest := name
	for strings.HasPrefix(rest, "pb") {
		rest = rest[len("pb"):]
	}
	stem := strings.TrimRight(name, "_")
	switch {
	case rest == "" || rest[0] == '_' || capitals && rest[0] >= 'A' && rest[0] <= 'Z':
		name = "pb" + name
	case py.IsKeyword(stem) || reserved(stem):
		name += "_"
	}
	return py.NewIdent(name)
}

// modelName is the class of a message: its name with `_` for `.`, and `Model`.
func modelName(m *contract.Message) (py.Ident, error) {
	return py.NewIdent(capital(m.Name) + "Model")
}

// enumName is the class of an enum: its name with `_` for `.`.
func enumName(e *contract.Enum) (py.Ident, error) {
	name := capital(e.Name)
	if reservedTypes[strings.TrimRight(name, "_")] {
		name += "_"
	}
	return py.NewIdent(name)
}

// capital is a type's name as one that begins with a capital, so that no field
// has the name of a type. `Pb` stands before a name that does not, and once more
// before one that looks as if it did.
func capital(name string) string {
	name = strings.ReplaceAll(name, ".", "_")
	rest := name
	for strings.HasPrefix(rest, "Pb") {
		rest = rest[len("Pb"):]
	}
	if rest != "" && (rest[0] < 'A' || rest[0] > 'Z') {
		return "Pb" + name
	}
	return name
}

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
