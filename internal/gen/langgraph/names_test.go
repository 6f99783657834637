package langgraph

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/pytool"
)

func TestFieldNames(t *testing.T) {
	for in, want := range map[string]string{
		"user_query": "user_query", "id": "id", "type": "type", "match": "match", "fields": "fields",
		"class": "class_", "class_": "class__", "class__": "class___", "json": "json_", "list": "list_",
		"_x": "pb_x", "__x__": "pb__x__", "pb_x": "pbpb_x", "pbpb_x": "pbpbpb_x", "pb": "pbpb", "pbx": "pbx",
		"None": "pbNone", "Status": "pbStatus", "pbStatus": "pbpbStatus", "model_name": "model_name",
		"model_config": "model_config_", "model_dump_all": "model_dump_all_", "checkpoint_id": "checkpoint_id_",
		"runtime": "runtime_", "_": "pb_", "x_": "x_",
	} {
		got, err := fieldName(in)
		require.NoError(t, err)
		require.Equal(t, want, got.String(), in)
	}
}

func TestMemberNames(t *testing.T) {
	for in, want := range map[string]string{
		"STATUS_OPEN": "STATUS_OPEN", "name": "name_", "name_": "name__", "value": "value_", "mro": "mro_", "None": "None_",
		"_A": "pb_A", "pb_A": "pbpb_A", "real": "real_", "Pb": "Pb", "NAME": "NAME",
	} {
		got, err := memberName(in)
		require.NoError(t, err)
		require.Equal(t, want, got.String(), in)
	}
}

// alone names types that are the only ones of their agent.
func alone() *naming { return newNaming(&contract.Agent{}) }

func TestTypeNames(t *testing.T) {
	for in, want := range map[string]string{
		"Foo": "Foo", "Outer.Inner": "Outer_Inner", "Outer_Inner": "Outer__Inner", "Outer_1": "Outer_1", "Outer_inner": "Outer_inner",
		"Outer.inner": "Outer_Pbinner", "status": "Pbstatus", "_X": "Pb__X", "_x": "Pb_x", "Pbstatus": "PbPbstatus", "PbFoo": "PbFoo", "Pb": "Pb",
		"Any": "Any_", "Any_": "Any__", "STATE": "STATE_", "FooModel": "FooModel_", "Foo__bar": "Foo___bar", "A_.B": "A___B", "A._B": "A_Pb__B",
	} {
		got, err := alone().enum(&contract.Enum{Name: in})
		require.NoError(t, err)
		require.Equal(t, want, got.String(), in)
	}
	got, err := alone().model(&contract.Message{Name: "Outer.Inner"})
	require.NoError(t, err)
	require.Equal(t, "Outer_InnerModel", got.String())
}

// TestQualifiedNames has types of one name in the agent's package, in two others
// and in none.
func TestQualifiedNames(t *testing.T) {
	state := &contract.Message{FullName: "a.v1.S", Package: "a.v1", Name: "S"}
	a := &contract.Agent{Package: "a.v1", State: state, Messages: []*contract.Message{state}}
	for _, pkg := range []string{"", "a.v1", "b.v1", "b_v1", "_c.D.e_"} {
		a.Messages = append(a.Messages, &contract.Message{FullName: pkg + ".Report", Package: pkg, Name: "Report"})
		a.Enums = append(a.Enums, &contract.Enum{FullName: pkg + ".ReportModel", Package: pkg, Name: "ReportModel"})
	}
	a.Enums = append(a.Enums,
		&contract.Enum{FullName: "b.v1.Kind", Package: "b.v1", Name: "Kind"},
		&contract.Enum{FullName: "b.v1.SUpdate", Package: "b.v1", Name: "SUpdate"},
		&contract.Enum{FullName: "b.v1.SOutput_", Package: "b.v1", Name: "SOutput_"})
	types, err := newTypes(a)
	require.NoError(t, err)
	var classes []string
	for _, m := range a.Messages {
		classes = append(classes, types.models[m.FullName].class.String())
	}
	for _, e := range a.Enums {
		classes = append(classes, types.enums[e.FullName].class.String())
	}
	require.Equal(t, []string{
		"SModel",
		"ReportModel__pb", "ReportModel", "ReportModel__b__v1", "ReportModel__b_v1", "ReportModel__pb_c__pbD__e__",
		"ReportModel__pb_", "ReportModel_", "ReportModel__b__v1_", "ReportModel__b_v1_", "ReportModel__pb_c__pbD__e___",
		"Kind", "SUpdate_", "SOutput__",
	}, classes)
}

func TestToolNames(t *testing.T) {
	for in, want := range map[string][2]string{
		"web_search": {"web_search", "WebSearchTool"}, "web-search": {"web_search", "WebSearchTool"}, "con": {"con_", "Tool_con__"},
		"CON": {"CON_", "Tool_CON__"}, "registry": {"registry_", "Tool_registry__"}, "import": {"import_", "Tool_import__"}, "_x": {"pb_x", "PbXTool"}, "a_1": {"a_1", "Tool_a_1_"}, "webSearch": {"webSearch", "Tool_webSearch_"},
	} {
		module, err := toolModule(&contract.Tool{Name: in})
		require.NoError(t, err)
		class, err := toolClass(module)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{module.String(), class.String()}, in)
	}
}

func isProtoName(name string) bool {
	for i, r := range name {
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// FuzzNames checks that the renaming never makes two names one, and that what it
// makes is an identifier.
func FuzzNames(f *testing.F) {
	for _, pair := range [][2]string{{"class", "class_"}, {"pb", "pb_"}, {"_", "pb_"}, {"pb_", "pbpb_"}, {"Foo", "pbFoo"}, {"model_dump", "model_dump_"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !isProtoName(a) || !isProtoName(b) || a == b {
			t.Skip()
		}
		for kind, rule := range map[string]func(string) (py.Ident, error){
			"field":  fieldName,
			"member": memberName,
			"enum":   func(name string) (py.Ident, error) { return alone().enum(&contract.Enum{Name: name}) },
			"model":  func(name string) (py.Ident, error) { return alone().model(&contract.Message{Name: name}) },
			"tool":   func(name string) (py.Ident, error) { return toolModule(&contract.Tool{Name: name}) },
		} {
			x, err := rule(a)
			require.NoError(t, err, kind)
			y, err := rule(b)
			require.NoError(t, err, kind)
			require.NotEqual(t, x, y, kind)
			if kind == "tool" {
				x, err = toolClass(x)
				require.NoError(t, err)
				y, err = toolClass(y)
				require.NoError(t, err)
				require.NotEqual(t, x, y, "tool class")
			}
		}
	})
}

// dottedNames are all dotted names over a few letters, up to a length.
func dottedNames(length int) []string {
	var names []string
	var extend func(name string)
	extend = func(name string) {
		if name != "" && name[len(name)-1] != '.' {
			names = append(names, name)
		}
		if len(name) == length {
			return
		}
		for _, next := range "_Aabp1." {
			starts := name == "" || name[len(name)-1] == '.'
			if !starts || next != '.' && next != '1' {
				extend(name + string(next))
			}
		}
	}
	extend("")
	return names
}

// TestDottedNamesStayDifferent tries all short names: of types, of extensions,
// and of types with the package behind them.
func TestDottedNamesStayDifferent(t *testing.T) {
	distinct := func(rules map[string]func(string) string, names []string) {
		taken := map[string]string{}
		for kind, rule := range rules {
			for _, name := range names {
				got := rule(name)
				require.Empty(t, taken[got], "%s %s becomes %s", kind, name, got)
				taken[got] = kind + " " + name
			}
		}
	}
	names := dottedNames(5)
	distinct(map[string]func(string) string{"type": typeName}, names)
	distinct(map[string]func(string) string{"dotted": dotted}, names)

	short := dottedNames(3)
	rules := map[string]func(string) string{"alone": typeName}
	for _, pkg := range append(short, "") {
		rules["in "+pkg] = func(name string) string { return typeName(name) + "__" + dotted(pkg) }
	}
	distinct(rules, short)
}

// TestReservedNamesCoverTheLibraries compares the lists with what is installed.
func TestReservedNamesCoverTheLibraries(t *testing.T) {
	program := `
import enum, os, sys, warnings
warnings.simplefilter("ignore")
try:
    import langgraph
except ImportError:
    raise SystemExit
sys.path.insert(0, os.getcwd())
from support import pb
print(*(n for n in dir(pb.Message) if not n.startswith("_")))
print(*(n for n in {*dir(pb.OpenEnum), *dir(pb.ClosedEnum), *dir(int)} if not n.startswith("_")))
`
	out := string(pytool.Run(t, program, nil))
	if out == "" {
		t.Skip("langgraph is not installed")
	}
	lines := strings.Split(out, "\n")
	for name := range words(lines[0]) {
		got, err := fieldName(name)
		require.NoError(t, err)
		require.NotEqual(t, name, got.String(), "an attribute of messages")
	}
	for name := range words(lines[1]) {
		got, err := memberName(name)
		require.NoError(t, err)
		require.NotEqual(t, name, got.String(), "an attribute of enums")
	}
}

// TestPageSaysTheReservedNames keeps docs/names.md in step.
func TestPageSaysTheReservedNames(t *testing.T) {
	page, err := os.ReadFile("../../../docs/names.md")
	require.NoError(t, err)
	for _, set := range []map[string]bool{reservedFields, reservedMembers} {
		for name := range set {
			require.Contains(t, string(page), "`"+name+"`")
		}
	}
	for _, prefix := range reservedPrefixes {
		require.Contains(t, string(page), "`"+prefix+"`")
	}
}
