// Package pytool runs the real Python tools in tests: the interpreter, which
// says what a literal means, and ruff, which says whether code is formatted.
package pytool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// RuffRules is the configuration that generated code is clean under.
const RuffRules = `line-length = 88
target-version = "py311"

[lint]
select = ["E", "F", "I", "D", "D401", "T201", "UP"]
ignore = ["UP006", "UP007", "UP035", "D417", "E501"]

[lint.pydocstyle]
convention = "google"
`

// Find returns the path of a tool: the repository's own, else the first of the
// PATH. The test is skipped when there is none.
func Find(t testing.TB, name string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	local := filepath.Join(filepath.Dir(file), "..", "..", "..", "..", ".venv", "bin", name)
	if _, err := os.Stat(local); err == nil {
		return local
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// Ruff checks and formats the files of a folder and returns what ruff says: the
// empty string when there is nothing to change.
func Ruff(t testing.TB, dir string) string {
	t.Helper()
	ruff := Find(t, "ruff")
	config := filepath.Join(t.TempDir(), "ruff.toml")
	require.NoError(t, os.WriteFile(config, []byte(RuffRules), 0o600))
	format, _ := exec.Command(ruff, "format", "--no-cache", "--quiet", "--diff", "--config", config, dir).CombinedOutput()
	check, _ := exec.Command(ruff, "check", "--no-cache", "--quiet", "--output-format", "concise", "--config", config, dir).CombinedOutput()
	return strings.ReplaceAll(string(format)+string(check), dir+string(filepath.Separator), "")
}

// Run runs a Python program with the given standard input and returns what it
// prints.
func Run(t testing.TB, program string, stdin []byte) []byte {
	t.Helper()
	cmd := exec.Command(Find(t, "python3"), "-c", program)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return out
}

// Process is a Python program that answers one JSON value a line with another.
type Process struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// Start starts a program that defines a function `answer`.
func Start(t testing.TB, program string) *Process {
	t.Helper()
	loop := "\nimport json, sys\nfor line in sys.stdin:\n" +
		"    print(json.dumps(answer(json.loads(line))), flush=True)\n"
	cmd := exec.Command(Find(t, "python3"), "-c", program+loop)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &Process{in: in, out: bufio.NewReader(out)}
}

// Ask sends a value and reads the answer.
func (p *Process) Ask(question, answer any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encode the question: %w", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("ask python: %w", err)
	}
	reply, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("hear python: %w", err)
	}
	return json.Unmarshal(reply, answer)
}
