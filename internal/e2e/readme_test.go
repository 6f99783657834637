package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var marked = regexp.MustCompile("(?ms)^<!-- ([a-z]+)(?:: ([^ ]+))? -->\n```[a-z]*\n(.*?)^```$")

// The README leads from an empty folder to a running agent, and the guide goes on
// from there: so must their files, as they stand there. Only the installation is
// left out: the packages are put on the path instead.
func TestReadme(t *testing.T) {
	buf := tool(t, "buf")
	python, err := filepath.Abs("../../.venv/bin/python")
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		tool(t, python)
	}
	files := map[string]string{}
	expected := map[string]string{}
	for _, page := range []string{"../../README.md", "../../docs/langgraph.md"} {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range marked.FindAllStringSubmatch(string(content), -1) {
			if block[1] == "file" {
				files[block[2]] = block[3]
			} else {
				expected[block[1]] = block[3]
			}
		}
	}
	require.Contains(t, files, "test_mine.py")
	require.Contains(t, expected, "red")
	require.Contains(t, expected, "output")

	dir := t.TempDir()
	copyProtos(t, "../../annotations", filepath.Join(dir, "annotations"))
	isImplementation := func(name string) bool { return strings.HasPrefix(name, "support-agent/") }
	for name, content := range files {
		if !isImplementation(name) {
			write(t, dir, name, content)
		}
	}
	const agent = "build/generated/agent/support-agent"
	environ := append(os.Environ(),
		"PATH="+filepath.Dir(plugin)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONPATH="+filepath.Join(dir, agent)+string(os.PathListSeparator)+filepath.Join(dir, "support-agent"),
		"PYTHONDONTWRITEBYTECODE=1",
		"AGENT_ID=support-agent",
		"TOOLS_CONFIG_JSON=support-agent/support_agent/tools.json",
	)
	runs := func(name string, args ...string) (string, error) {
		command := exec.Command(name, args...)
		command.Dir, command.Env = dir, environ
		output, err := command.CombinedOutput()
		return string(output), err
	}
	for _, args := range [][]string{{"generate"}, {"generate", "--template", "buf.gen.starters.yaml"}} {
		output, err := runs(buf, args...)
		require.NoError(t, err, output)
	}

	output, err := runs(python, "-m", "pytest", agent)
	require.Error(t, err, "nothing is implemented yet")
	for line := range strings.Lines(expected["red"]) {
		require.Contains(t, output, line)
	}
	failures := regexp.MustCompile(`(?m)^FAILED `).FindAllString(output, -1)
	require.Len(t, failures, strings.Count(expected["red"], "\n"), output)

	for name, content := range files {
		if isImplementation(name) {
			require.FileExists(t, filepath.Join(dir, name), "the README names a file that is no starter")
			write(t, dir, name, content)
		}
	}
	output, err = runs(python, "-m", "pytest", agent)
	require.NoError(t, err, output)

	output, err = runs(python, "-m", "pytest", "test_mine.py")
	require.NoError(t, err, output)

	output, err = runs(python, "ask.py", "How do I reset my password")
	require.NoError(t, err, output)
	require.Equal(t, expected["output"], output)
}
