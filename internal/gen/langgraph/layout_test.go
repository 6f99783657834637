package langgraph

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/pytool"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

const spec = "target=langgraph,annotations_package=acme.annotations.v1"

func byName(files []emit.File) map[string]string {
	out := map[string]string{}
	for _, file := range files {
		out[file.Name] = file.Content
	}
	return out
}

func TestLayoutsHaveTheSameModules(t *testing.T) {
	pkg := byName(emitted(t, "spec", spec))
	dotted := byName(emitted(t, "spec", spec+",layout=dotted"))
	for _, area := range []string{areaState, areaGraph, areaRuntime, areaBlobs} {
		at := "research-agent/research_agent_generated/" + area
		require.NotEmpty(t, pkg[at+"/generated.py"])
		require.Equal(t, pkg[at+"/generated.py"], dotted[at+".generated.py"])
		require.NotContains(t, dotted, at+"/__init__.py")
	}
	for name, content := range dotted {
		if strings.Contains(name, "tests/") || strings.Contains(name, "/harness/") || strings.Contains(name, "templates/") {
			require.Equal(t, pkg[name], content, name)
		}
	}
}

// TestDottedModulesAreOrdinary imports, pickles, reloads and runs the modules
// whose names hold a dot.
func TestDottedModulesAreOrdinary(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, emitted(t, "spec", spec+",layout=dotted"))
	program := `
import importlib, pickle, subprocess, sys
try:
    import pydantic, langgraph
except ImportError:
    raise SystemExit("skip")
sys.path.insert(0, sys.argv[1])
import research_agent_generated as package
from research_agent_generated.state.generated import ResearchStateModel
import research_agent_generated.tools.generated.registry
module = sys.modules["research_agent_generated.state.generated"]
assert module.__spec__.name == module.__name__ == ResearchStateModel.__module__, module
assert module.__package__ == "research_agent_generated.state"
assert module.__file__.endswith("state.generated.py")
state = ResearchStateModel(notes=["x"])
assert pickle.loads(pickle.dumps(state)) == state
finders = len(sys.meta_path)
importlib.reload(package)
assert len(sys.meta_path) == finders
reloaded = importlib.reload(module)
assert reloaded is module and module.ResearchStateModel is not ResearchStateModel
importlib.reload(sys.modules["research_agent_generated.state"])
for missing in ("research_agent_generated.nothing", "research_agent_generated.state.nothing"):
    try:
        importlib.import_module(missing)
    except ModuleNotFoundError:
        continue
    raise AssertionError(missing)
subprocess.run([sys.executable, "-m", "research_agent_generated.state.generated"], check=True, cwd=sys.argv[1])
print("done")
`
	cmd := exec.Command(pytool.Find(t, "python3"), "-c", program, filepath.Join(dir, "research-agent"))
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "skip") {
		t.Skip("langgraph is not installed")
	}
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "done")
}

func TestFilesCarryTheirHash(t *testing.T) {
	files := emitted(t, "spec", spec)
	hashed := 0
	for _, file := range files {
		open, end := "# ", ""
		switch filepath.Ext(file.Name) {
		case ".md":
			open, end = "<!-- ", " -->"
		case ".py", ".toml":
		default:
			continue
		}
		hashed++
		content := file.Content
		first, _, _ := strings.Cut(content, "\n")
		require.Equal(t, open+marker+end, first, file.Name)
		at := strings.LastIndex(strings.TrimSuffix(content, "\n"), "\n") + 1
		require.Equal(t, open+"sha256:"+digest(content[:at])+end+"\n", content[at:], file.Name)
	}
	require.Greater(t, hashed, 30)
}

func TestManifest(t *testing.T) {
	files := byName(emitted(t, "spec", spec))
	var manifest manifestView
	require.NoError(t, json.Unmarshal([]byte(files["research-agent/manifest.json"]), &manifest))
	require.Equal(t, "0.0.0-test", manifest.Version)
	require.Equal(t, "sha256:"+digest(files["research-agent/contract.json"]), manifest.SchemaDigest)
	require.Len(t, manifest.Files, len(files)-1)
	require.True(t, slices.IsSortedFunc(manifest.Files, func(a, b manifestFile) int { return strings.Compare(a.Path, b.Path) }))
	for _, file := range manifest.Files {
		require.Equal(t, digest(files["research-agent/"+file.Path]), file.SHA256, file.Path)
	}
	for name, content := range files {
		if name != "research-agent/manifest.json" {
			require.NotContains(t, content, "0.0.0-test", name)
		}
	}
}

// TestStartersAreUnmarked keeps the mark of generated files out of what people
// copy and own.
func TestStartersAreUnmarked(t *testing.T) {
	templates := byName(emitted(t, "spec", spec))
	only := byName(emitted(t, "spec", spec+",starters=only"))
	require.Len(t, only, 6)
	for name, content := range only {
		require.NotContains(t, content, "DO NOT EDIT", name)
		require.Equal(t, content, templates["research-agent/templates/"+filepath.Base(name)+".tmpl"], name)
	}
	require.Contains(t, only, "research-agent/research_agent/nodes_impl.py")
	require.Contains(t, only, "research-agent/pyproject.toml")
}

func TestTestsOfTheSupportAreNotEmitted(t *testing.T) {
	for name := range byName(emitted(t, "spec", spec)) {
		require.NotContains(t, name, "support/test_")
	}
}

func TestPackageParametersMovePackages(t *testing.T) {
	files := byName(emitted(t, "spec", spec+",generated_package=acme.agents.{agent}_gen,impl_package=acme.{agent}"))
	require.Contains(t, files, "research-agent/acme/agents/research_agent_gen/state/generated.py")
	require.Contains(t, files["research-agent/acme/agents/research_agent_gen/graph/generated.py"], "from acme.research_agent import nodes_impl, policy_impl\n")
	require.Contains(t, files["research-agent/tests/generated/conftest.py"], `GENERATED_PACKAGE = "acme.agents.research_agent_gen"`)
}

func TestEmissionIsDeterministic(t *testing.T) {
	for name, options := range cases(t) {
		p := parameters(t, options)
		c := contractOf(t, name, p)
		first, err := New("1").Emit(c, p)
		require.NoError(t, err)
		for range 5 {
			again, err := New("1").Emit(c, p)
			require.NoError(t, err)
			require.Len(t, again, len(first))
			for i := range again {
				require.Equal(t, first[i].Name, again[i].Name)
				require.Equal(t, first[i].Content, again[i].Content, first[i].Name)
			}
		}
	}
}

func BenchmarkEmit(b *testing.B) {
	p, _ := params.Parse(spec)
	c := contractOf(b, "spec", p)
	for b.Loop() {
		if _, err := New("1").Emit(c, p); err != nil {
			b.Fatal(err)
		}
	}
}
