package langgraph

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/pytool"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/md"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/mermaid"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/text/toml"
)

const testdata = "../../../testdata"

// contractOf reads the contract of a case of testdata.
func contractOf(t testing.TB, name string, p params.Parameters) *contract.Contract {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testdata, name, "image.binpb"))
	require.NoError(t, err)
	var image descriptorpb.FileDescriptorSet
	require.NoError(t, proto.UnmarshalOptions{Resolver: source.Resolver{}}.Unmarshal(content, &image))
	request := &pluginpb.CodeGeneratorRequest{ProtoFile: image.File}
	for _, file := range image.File {
		if _, err := os.Stat(filepath.Join(testdata, name, file.GetName())); err == nil {
			request.FileToGenerate = append(request.FileToGenerate, file.GetName())
			request.SourceFileDescriptors = append(request.SourceFileDescriptors, file)
		}
	}
	view, diagnostics := source.Open(request, p.AnnotationsPackage)
	require.Empty(t, diagnostics)
	c, diagnostics := contract.Build(view, p)
	require.Empty(t, diagnostics)
	require.NotEmpty(t, c.Agents)
	return c
}

func parameters(t testing.TB, text string) params.Parameters {
	t.Helper()
	p, diagnostics := params.Parse(text)
	require.Empty(t, diagnostics)
	return p
}

func emitted(t testing.TB, name, options string) []emit.File {
	t.Helper()
	p := parameters(t, options)
	files, err := New("0.0.0-test").Emit(contractOf(t, name, p), p)
	require.NoError(t, err)
	return files
}

// cases are the folders of testdata with the parameters that they need.
func cases(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(testdata)
	require.NoError(t, err)
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(testdata, entry.Name(), "image.binpb")); err != nil {
			continue
		}
		found[entry.Name()] = "target=langgraph"
		if entry.Name() == "spec" {
			found[entry.Name()] += ",annotations_package=acme.annotations.v1"
		}
	}
	require.NotEmpty(t, found)
	return found
}

func write(t testing.TB, dir string, files []emit.File) {
	t.Helper()
	for _, file := range files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(file.Content), 0o600))
	}
}

// TestOutputIsClean formats, lints and compiles what every case gives.
func TestOutputIsClean(t *testing.T) {
	for name, options := range cases(t) {
		for _, more := range []string{"", ",layout=dotted", ",starters=only", ",generated_package=a.very.long.package.name.that.holds.the.generated.code.{agent}_generated,impl_package=acme.{agent}"} {
			t.Run(name+more, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(t, dir, emitted(t, name, options+more))
				// Starters are Python behind another suffix.
				require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
					if err == nil && strings.HasSuffix(path, ".py.tmpl") {
						err = os.Rename(path, strings.TrimSuffix(path, ".tmpl"))
					}
					return err
				}))
				require.Empty(t, pytool.Ruff(t, dir))
				pytool.Run(t, fmt.Sprintf("import compileall, sys\nsys.exit(not compileall.compile_dir(%q, quiet=1))", dir), nil)
			})
		}
	}
}

// TestViewsHoldEncodedText walks the types of all views: a raw string in one of
// them could reach a file unencoded.
func TestViewsHoldEncodedText(t *testing.T) {
	safe := map[reflect.Type]bool{}
	for _, value := range []any{py.Code{}, py.Expr{}, py.Ident{}, py.Module{}, md.Text{}, md.Block{}, md.Word{}, mermaid.Label{}, toml.String{}} {
		safe[reflect.TypeOf(value)] = true
	}
	for _, view := range []any{
		stateView{}, graphView{}, toolView{}, registryView{}, factsView{}, moduleView{}, initView{}, projectView{},
		readmeView{}, packagesView{}, startersView{},
	} {
		require.NoError(t, checkView(reflect.TypeOf(view), safe))
	}
	require.Error(t, checkView(reflect.TypeOf(struct{ X []struct{ Y string } }{}), safe))
	require.Error(t, checkView(reflect.TypeOf(struct{ X any }{}), safe))
	require.Error(t, checkView(reflect.TypeOf(struct{ X []byte }{}), safe))
}

func checkView(typ reflect.Type, safe map[reflect.Type]bool) error {
	if safe[typ] {
		return nil
	}
	switch typ.Kind() {
	case reflect.Bool, reflect.Int, reflect.Uint32:
		return nil
	case reflect.Slice, reflect.Pointer:
		return checkView(typ.Elem(), safe)
	case reflect.Struct:
		for i := range typ.NumField() {
			if err := checkView(typ.Field(i).Type, safe); err != nil {
				return fmt.Errorf("%s.%s: %w", typ.Name(), typ.Field(i).Name, err)
			}
		}
		return nil
	default:
		return fmt.Errorf("a view holds a %s", typ)
	}
}
