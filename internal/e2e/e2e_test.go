package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/version"
)

// plugin is the static binary that all tests run, built as the Dockerfile does.
var plugin string

// buildFlags are those of the Dockerfile and of scripts/dist.sh, and -buildvcs,
// so that uncommitted changes do not show in the version.
var buildFlags = []string{"-trimpath", "-ldflags=-s -w", "-buildvcs=false"}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "protoc-gen-ameide-agent")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		plugin = filepath.Join(dir, "protoc-gen-ameide-agent")
		build := exec.Command("go", append([]string{"build", "-o", plugin}, append(buildFlags, "../../cmd/protoc-gen-ameide-agent")...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the plugin: %v\n%s", err, output)
			return 1
		}
		return m.Run()
	}())
}

// tool finds a pinned tool; the test is skipped when it is not installed.
func tool(t *testing.T, name string) string {
	t.Helper()
	pinned, err := filepath.Abs("../../.venv/bin/" + name)
	require.NoError(t, err)
	for _, candidate := range []string{pinned, name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	if os.Getenv("REQUIRE_TOOLS") != "" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed: run make setup", name)
	return ""
}

// workspace makes a buf workspace of the research example and the annotations, as
// a team has it that keeps both in one repository.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	copyProtos(t, "../../annotations", filepath.Join(dir, "annotations"))
	copyProtos(t, "../../examples/research/proto", filepath.Join(dir, "proto"))
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: annotations\n  - path: proto\n")
	return dir
}

func copyProtos(t *testing.T, from, to string) {
	t.Helper()
	copied := 0
	require.NoError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		relative, err := filepath.Rel(from, path)
		require.NoError(t, err)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		write(t, to, relative, string(content))
		copied++
		return nil
	}))
	require.NotZero(t, copied, "no protos in %s", from)
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// template writes a buf.gen.yaml. The plugin path is given in JSON form, which is
// YAML too.
func template(t *testing.T, dir, pluginPath, strategy string, opts ...string) {
	t.Helper()
	text := "version: v2\nclean: true\ninputs:\n  - directory: proto\nplugins:\n" +
		fmt.Sprintf("  - local: %q\n    out: build/generated/agent\n", pluginPath)
	if strategy != "" {
		text += "    strategy: " + strategy + "\n"
	}
	if len(opts) > 0 {
		text += "    opt: [" + strings.Join(opts, ", ") + "]\n"
	}
	write(t, dir, "buf.gen.yaml", text)
}

// run runs a command in a directory and returns what it wrote.
func run(dir, name string, args ...string) (stdout, stderr string, err error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err = command.Run()
	return out.String(), problems.String(), err
}

// mustRun is run for a command that has to succeed.
func mustRun(t *testing.T, dir, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := run(dir, name, args...)
	require.NoError(t, err, "%s %s\n%s%s", name, strings.Join(args, " "), stdout, stderr)
	return stdout, stderr
}

// tree reads all files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.ToSlash(relative)] = string(content)
		return nil
	}))
	return files
}

// bufTree is what `buf generate` writes for the research example.
func bufTree(t *testing.T) map[string]string {
	t.Helper()
	buf := tool(t, "buf")
	dir := workspace(t)
	template(t, dir, plugin, "all")
	_, stderr := mustRun(t, dir, buf, "generate")
	require.Empty(t, stderr)
	files := tree(t, filepath.Join(dir, "build/generated/agent"))
	require.Contains(t, files, "research-agent/research_agent_generated/graph/generated.py")
	return files
}

// captureRequest returns the request that buf sends to a plugin that sees all
// files at once, as a remote plugin does.
func captureRequest(t *testing.T) []byte {
	t.Helper()
	buf := tool(t, "buf")
	dir := workspace(t)
	capture := filepath.Join(dir, "capture.sh")
	// The answer says that proto3 optional and editions up to 2024 are understood.
	script := "#!/bin/sh\ncat >\"$0.request\"\nprintf '\\020\\003\\030\\346\\007\\040\\351\\007'\n"
	require.NoError(t, os.WriteFile(capture, []byte(script), 0o755))
	template(t, dir, capture, "all")
	mustRun(t, dir, buf, "generate")
	request, err := os.ReadFile(capture + ".request")
	require.NoError(t, err)
	return request
}

// responseTree returns the files of a response without an error.
func responseTree(t *testing.T, content []byte) map[string]string {
	t.Helper()
	response := &pluginpb.CodeGeneratorResponse{}
	require.NoError(t, proto.Unmarshal(content, response))
	require.Empty(t, response.GetError())
	files := map[string]string{}
	for _, file := range response.GetFile() {
		files[file.GetName()] = file.GetContent()
	}
	return files
}

func requireSameTree(t *testing.T, want, got map[string]string) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got))
}

func TestBuf(t *testing.T) {
	files := bufTree(t)
	for name, content := range files {
		if filepath.Ext(name) == ".py" {
			require.True(t, strings.HasPrefix(content, "# Code generated by protoc-gen-ameide-agent. DO NOT EDIT.\n"), name)
		}
	}
}

func TestBufCleansTheOutput(t *testing.T) {
	buf := tool(t, "buf")
	dir := workspace(t)
	template(t, dir, plugin, "all")
	write(t, dir, "build/generated/agent/old-agent/README.md", "of an agent that is gone\n")
	mustRun(t, dir, buf, "generate")
	requireSameTree(t, bufTree(t), tree(t, filepath.Join(dir, "build/generated/agent")))
}

func TestProtoc(t *testing.T) {
	protoc := tool(t, "protoc")
	dir := workspace(t)
	files := []string{
		"ameide_core_proto/research/v1/facts.proto",
		"ameide_core_proto/research/v1/research_agent.proto",
		"ameide_core_proto/tools/v1/tools.proto",
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o755))
	_, stderr := mustRun(t, dir, protoc, append([]string{
		"-Iproto", "-Iannotations",
		"--plugin=protoc-gen-ameide-agent=" + plugin,
		"--ameide-agent_out=out",
		"--ameide-agent_opt=target=langgraph",
	}, files...)...)
	require.Empty(t, stderr)
	requireSameTree(t, bufTree(t), tree(t, filepath.Join(dir, "out")))
}

// The same request gives the same bytes, whatever surrounds the process.
func TestEnvironmentDoesNotMatter(t *testing.T) {
	request := captureRequest(t)
	var responses [][]byte
	for _, environ := range [][]string{
		nil,
		{"LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Apia", "HOME=/nowhere", "GOMAXPROCS=1"},
		{"GOGC=1", "GOMAXPROCS=7", "AGENT_ID=other", "PATH="},
	} {
		command := exec.Command(plugin)
		// A nil Env would be the environment of the test.
		command.Env = append([]string{}, environ...)
		command.Dir = t.TempDir()
		command.Stdin = bytes.NewReader(request)
		var problems bytes.Buffer
		command.Stderr = &problems
		response, err := command.Output()
		require.NoError(t, err, problems.String())
		require.Empty(t, problems.String())
		responses = append(responses, response)
	}
	require.True(t, bytes.Equal(responses[0], responses[1]))
	require.True(t, bytes.Equal(responses[0], responses[2]))
	requireSameTree(t, bufTree(t), responseTree(t, responses[0]))
}

// A remote plugin is built by the Dockerfile: it must build what is tested here.
func TestDockerfile(t *testing.T) {
	content, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	dockerfile := string(content)
	require.Contains(t, dockerfile, "CGO_ENABLED=0")
	require.Contains(t, dockerfile, `-trimpath -ldflags="-s -w"`)
	require.Contains(t, dockerfile, "\nFROM scratch\n")
	require.Regexp(t, `(?m)^USER [1-9][0-9]*:[1-9][0-9]*$`, dockerfile)
}

// Everything that names the version names the same one.
func TestVersionIsTheSameEverywhere(t *testing.T) {
	stdout, _ := mustRun(t, t.TempDir(), plugin, "--version")
	require.Equal(t, "protoc-gen-ameide-agent v"+version.Number+"\n", stdout)

	manifest, err := os.ReadFile("../../buf.plugin.yaml")
	require.NoError(t, err)
	require.Contains(t, string(manifest), "plugin_version: v"+version.Number+"\n")
	require.Contains(t, string(manifest), "/blob/v"+version.Number+"/LICENSE\n")

	changelog, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## \[?([0-9]+\.[0-9]+\.[0-9]+)`).FindSubmatch(changelog)
	require.NotNil(t, newest)
	require.Equal(t, version.Number, string(newest[1]))
}

const (
	greeterAgent = `syntax = "proto3";
package acme.greeter.v1;
import "ameide_core_proto/annotations/v1/agent_annotations.proto";
%s
// Greeter greets.
service Greeter {
  option (ameide_core_proto.annotations.v1.agent) = {
    agent_id: "greeter"
    entry_node: "greet"
    required_tool_ids: "lookup"
  };
  // Greets someone.
  rpc Greet(GreetRequest) returns (GreetResponse);
}
// GreetRequest asks for a greeting.
message GreetRequest {
  // The public input.
  GreeterState input = 1;
}
// GreetResponse holds a greeting.
message GreetResponse {
  // The public output.
  GreeterState output = 1;
}
// GreeterState is the state.
message GreeterState {
  option (ameide_core_proto.annotations.v1.msg_role) = {role: STATE};
  // Who is greeted.
  string name = 1 [(ameide_core_proto.annotations.v1.state_field) = {
    checkpoint: true
    public_input: true
  }];
}
`
	greeterTools = `syntax = "proto3";
package %s;
import "ameide_core_proto/annotations/v1/agent_annotations.proto";
// Tools look things up.
service Tools {
  // Looks a name up.
  rpc Lookup(LookupRequest) returns (LookupResponse) {
    option (ameide_core_proto.annotations.v1.tool) = {tool_id: "lookup"};
  }
}
// LookupRequest names someone.
message LookupRequest {
  option (ameide_core_proto.annotations.v1.msg_role) = {role: TOOL_INPUT};
  // The name.
  string name = 1;
}
// LookupResponse describes someone.
message LookupResponse {
  option (ameide_core_proto.annotations.v1.msg_role) = {role: TOOL_OUTPUT};
  // The description.
  string text = 1;
}
`
)

// Under `strategy: directory`, buf's default, a call sees the files of one
// directory and what they import.
func TestDirectoryStrategy(t *testing.T) {
	buf := tool(t, "buf")
	type input struct{ agentImport, toolsFile, toolsPackage string }
	generate := func(t *testing.T, in input, strategy string, opts ...string) (map[string]string, string, error) {
		dir := t.TempDir()
		copyProtos(t, "../../annotations", filepath.Join(dir, "annotations"))
		write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: annotations\n  - path: proto\n")
		write(t, dir, "proto/acme/greeter/v1/greeter.proto", fmt.Sprintf(greeterAgent, in.agentImport))
		write(t, dir, "proto/"+in.toolsFile, fmt.Sprintf(greeterTools, in.toolsPackage))
		template(t, dir, plugin, strategy, opts...)
		stdout, stderr, err := run(dir, buf, "generate")
		out := filepath.Join(dir, "build/generated/agent")
		if _, missing := os.Stat(out); missing != nil {
			require.NoError(t, os.MkdirAll(out, 0o755))
		}
		return tree(t, out), stdout + stderr, err
	}
	for _, test := range []struct {
		name string
		in   input
		opts []string
		same bool
	}{
		{
			name: "one directory",
			in:   input{toolsFile: "acme/greeter/v1/tools.proto", toolsPackage: "acme.greeter.v1"},
			same: true,
		},
		{
			name: "tools elsewhere, imported",
			in:   input{agentImport: `import "acme/tools/v1/tools.proto";`, toolsFile: "acme/tools/v1/tools.proto", toolsPackage: "acme.tools.v1"},
		},
		{
			name: "tools elsewhere, imported, empty calls allowed",
			in:   input{agentImport: `import "acme/tools/v1/tools.proto";`, toolsFile: "acme/tools/v1/tools.proto", toolsPackage: "acme.tools.v1"},
			opts: []string{"allow_empty=true"},
			same: true,
		},
		{
			name: "tools elsewhere, not imported",
			in:   input{toolsFile: "acme/tools/v1/tools.proto", toolsPackage: "acme.tools.v1"},
		},
		{
			name: "tools elsewhere, not imported, empty calls allowed",
			in:   input{toolsFile: "acme/tools/v1/tools.proto", toolsPackage: "acme.tools.v1"},
			opts: []string{"allow_empty=true"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			want, messages, err := generate(t, test.in, "all", test.opts...)
			require.NoError(t, err, messages)
			require.NotEmpty(t, want)
			got, messages, err := generate(t, test.in, "directory", test.opts...)
			if test.same {
				require.NoError(t, err, messages)
				requireSameTree(t, want, got)
				return
			}
			require.Error(t, err)
			require.Contains(t, messages, "strategy: all")
			require.Empty(t, got, "a failed run writes nothing")
		})
	}
}

// An image without source-retained options is not taken for one without agents.
func TestStrippedImage(t *testing.T) {
	buf := tool(t, "buf")
	for _, allowEmpty := range []string{"false", "true"} {
		t.Run("allow_empty="+allowEmpty, func(t *testing.T) {
			dir := workspace(t)
			template(t, dir, plugin, "all", "allow_empty="+allowEmpty)
			mustRun(t, dir, buf, "build", "--exclude-source-retention-options", "-o", "image.binpb")
			_, stderr, err := run(dir, buf, "generate", "image.binpb")
			require.Error(t, err)
			require.Contains(t, stderr, "options-stripped")
			require.NoDirExists(t, filepath.Join(dir, "build"))
		})
	}
}

// The opposite of TestStrippedImage: a whole image serves as well as files do.
func TestImage(t *testing.T) {
	buf := tool(t, "buf")
	dir := workspace(t)
	template(t, dir, plugin, "all")
	mustRun(t, dir, buf, "build", "proto", "-o", "image.binpb")
	mustRun(t, dir, buf, "generate", "image.binpb")
	requireSameTree(t, bufTree(t), tree(t, filepath.Join(dir, "build/generated/agent")))
}

func TestUserMistake(t *testing.T) {
	buf := tool(t, "buf")
	protoc := tool(t, "protoc")
	dir := workspace(t)
	template(t, dir, plugin, "all", "target=langgraf")
	_, stderr, err := run(dir, buf, "generate")
	require.Error(t, err)
	require.Contains(t, stderr, "did you mean `langgraph`?")
	require.NoDirExists(t, filepath.Join(dir, "build"))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "out"), 0o755))
	_, stderr, err = run(dir, protoc, "-Iproto", "-Iannotations",
		"--plugin=protoc-gen-ameide-agent="+plugin, "--ameide-agent_out=target=langgraf:out",
		"ameide_core_proto/research/v1/research_agent.proto")
	require.Error(t, err)
	require.Contains(t, stderr, "did you mean `langgraph`?")
	require.Empty(t, tree(t, filepath.Join(dir, "out")))
}

// docs/ci.md shows a gate that finds generated files that are not what the protos
// say: it must work as it stands there.
func TestRegenerateAndDiffGate(t *testing.T) {
	tool(t, "buf")
	git := tool(t, "git")
	gate := snippet(t, "../../docs/ci.md", "gate")

	const generated = "build/generated/agent/research-agent/"
	commit := func(t *testing.T, dir string) {
		mustRun(t, dir, git, "add", "--all")
		mustRun(t, dir, git, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false",
			"commit", "--quiet", "--message", "change")
	}
	for _, test := range []struct {
		name   string
		change func(t *testing.T, dir string)
		// finds is a path that the gate names; none when the gate passes.
		finds string
	}{
		{name: "nothing changed", change: func(*testing.T, string) {}},
		{
			name: "a generated file was edited",
			change: func(t *testing.T, dir string) {
				path := generated + "research_agent_generated/graph/generated.py"
				content, err := os.ReadFile(filepath.Join(dir, path))
				require.NoError(t, err)
				write(t, dir, path, strings.Replace(string(content), "research-agent", "search-agent", 1))
			},
			finds: generated + "research_agent_generated/graph/generated.py",
		},
		{
			name: "a generated file was removed",
			change: func(t *testing.T, dir string) {
				require.NoError(t, os.Remove(filepath.Join(dir, generated, "contract.json")))
			},
			finds: generated + "contract.json",
		},
		{
			name: "a file was added among the generated ones",
			change: func(t *testing.T, dir string) {
				write(t, dir, generated+"notes.txt", "do not lose this\n")
			},
			finds: generated + "notes.txt",
		},
		{
			name: "a proto was changed",
			change: func(t *testing.T, dir string) {
				path := "proto/ameide_core_proto/research/v1/research_agent.proto"
				content, err := os.ReadFile(filepath.Join(dir, path))
				require.NoError(t, err)
				changed := strings.Replace(string(content), `entry_node: "plan"`, `entry_node: "begin"`, 1)
				require.NotEqual(t, string(content), changed)
				write(t, dir, path, changed)
			},
			finds: generated + "research_agent_generated/graph/generated.py",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := workspace(t)
			template(t, dir, plugin, "all")
			mustRun(t, dir, tool(t, "buf"), "generate")
			mustRun(t, dir, git, "init", "--quiet")
			commit(t, dir)
			test.change(t, dir)
			if test.finds != "" {
				commit(t, dir)
			}
			shell := exec.Command("bash", "-euo", "pipefail", "-c", gate)
			shell.Dir = dir
			shell.Env = append(os.Environ(), "PATH="+filepath.Dir(tool(t, "buf"))+string(os.PathListSeparator)+os.Getenv("PATH"))
			output, err := shell.CombinedOutput()
			if test.finds == "" {
				require.NoError(t, err, string(output))
				return
			}
			require.Error(t, err)
			require.Contains(t, string(output), test.finds)
		})
	}
}

// snippet returns the code block of a page that follows the comment of that name.
func snippet(t *testing.T, page, name string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(content), "<!-- tested: "+name+" -->\n```sh\n")
	require.True(t, found, "%s has no snippet %s", page, name)
	code, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	return code
}
