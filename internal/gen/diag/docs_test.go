package diag_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

const root = "../../.."

// TestDocumentation keeps docs/diagnostics.md in step with the codes: a section
// each, in order, with the same slug and title, and an explanation.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "diagnostics.md"))
	require.NoError(t, err)
	section := regexp.MustCompile(`(?m)^### (AG\d{3} \S+)\n\n(.*)\n\n(.+)`)
	var documented, wanted []string
	for _, match := range section.FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, match[1]+": "+match[2])
		require.False(t, strings.HasPrefix(match[3], "#"), "%s has no explanation", match[1])
	}
	for _, kind := range diag.Kinds() {
		wanted = append(wanted, fmt.Sprintf("%s %s: %s.", kind.Code, kind.Slug, kind.Title))
	}
	require.Equal(t, wanted, documented)
	require.Len(t, documented, strings.Count(string(page), "\n### "), "a section does not have the form of the others")
}

// TestEveryCodeHasAGolden wants, for each code, a case that is reported under
// this code alone: so the rule is proved, and the case has one mistake.
func TestEveryCodeHasAGolden(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`(?m)error\[(AG\d{3} [a-z-]+)\]: `)
	alone := make(map[string]bool)
	goldens := filepath.Join(root, "golden", "diagnostics")
	require.NoError(t, filepath.WalkDir(goldens, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "diagnostics.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := make(map[string]bool)
		for _, match := range code.FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
		if len(found) == 1 {
			for name := range found {
				alone[name] = true
			}
		}
		return nil
	}))
	for _, kind := range diag.Kinds() {
		name := kind.Code + " " + kind.Slug
		require.True(t, alone[name], "no case below testdata/diagnostics is reported as %s alone", name)
	}
}

// TestEveryKindIsListed finds a kind that was declared and not added to Kinds.
func TestEveryKindIsListed(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("codes.go")
	require.NoError(t, err)
	declared := regexp.MustCompile(`(?m)^\t\w+ += Kind\{`).FindAllString(string(source), -1)
	require.Len(t, diag.Kinds(), len(declared))
}
