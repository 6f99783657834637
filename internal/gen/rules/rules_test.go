package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/rules"
)

// rule is a test of one rule: what spoils the base, and the codes that are
// reported about it. The whole texts stand in a file of testdata.
type rule struct {
	name       string
	spoil      func(b *base)
	parameters func(p *params.Parameters)
	// want are the codes, none when the change is allowed.
	want []string
}

// runRules runs the tests and compares their texts with testdata/<file>. With
// UPDATE_GOLDEN set it writes the file instead, and fails.
func runRules(t *testing.T, file string, tests []rule) {
	t.Helper()
	var texts strings.Builder
	for _, test := range tests {
		b, p := newBase(), params.Default()
		if test.spoil != nil {
			test.spoil(b)
		}
		if test.parameters != nil {
			test.parameters(&p)
		}
		diagnostics := rules.Check(b.contract, p)
		var codes []string
		for _, d := range diagnostics {
			codes = append(codes, d.Code)
		}
		require.Equal(t, test.want, codes, "%s\n%s", test.name, diag.Render(diagnostics))
		if len(diagnostics) > 0 {
			_, details, _ := strings.Cut(diag.Render(diagnostics), "\n")
			fmt.Fprintf(&texts, "# %s\n%s\n\n", test.name, details)
		}
	}
	path := filepath.Join("testdata", file)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(texts.String()), 0o600))
		t.Fatalf("%s is written: read it, then run the test without UPDATE_GOLDEN", path)
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if difference := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(texts.String(), "\n")); difference != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, difference)
	}
}

func TestValidContract(t *testing.T) {
	t.Parallel()
	require.Empty(t, rules.Check(newBase().contract, params.Default()))
}

func TestNothingIsWrongWithoutAgents(t *testing.T) {
	t.Parallel()
	b := newBase()
	b.contract.Agents = nil
	b.tool.ID.Value = "not valid"
	require.Empty(t, rules.Check(b.contract, params.Default()))
}

func TestEverythingIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBase()
	b.agent.ID.Value = "Research Agent"
	b.agent.EntryNode = contract.Opt[string]{}
	b.notes.State = nil
	b.tool.ServerStreaming = true
	b.fact.Type = contract.Opt[string]{}
	var codes []string
	for _, d := range rules.Check(b.contract, params.Default()) {
		codes = append(codes, d.Code)
	}
	require.Equal(t, []string{"AG010", "AG023", "AG020", "AG050", "AG044"}, codes)
}

// TestWithoutSourceInfo takes all positions away: an image need not have them.
func TestWithoutSourceInfo(t *testing.T) {
	t.Parallel()
	b := newBase()
	b.notes.Cardinality = contract.Singular
	b.notes.State.Pos, b.notes.State.Reducer.Pos = contract.Pos{}, contract.Pos{}
	b.notes.Pos.Line, b.notes.Pos.Col = 0, 0
	rendered := diag.Render(rules.Check(b.contract, params.Default()))
	require.Contains(t, rendered,
		"\nacme/agent/v1/research_agent.proto:acme.agent.v1.ResearchState.notes: error[AG012 reducer-mismatch]: ")
}
