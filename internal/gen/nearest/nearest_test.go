package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/nearest"
)

func TestOf(t *testing.T) {
	t.Parallel()
	candidates := []string{"web_search", "fetch_page", "web_fetch", "ab", "summarise"}
	for _, test := range []struct {
		name, in, want string
	}{
		{"letter missing", "web_serch", "web_search"},
		{"letters swapped", "web_saerch", "web_search"},
		{"hyphen for underscore", "web-search", "web_search"},
		{"other case", "Web_Search", "web_search"},
		{"spelling", "summarize", "summarise"},
		{"short names need a close match", "xy", ""},
		{"short name with one edit", "ac", "ab"},
		{"nothing alike", "translate_text", ""},
		{"empty", "", ""},
		{"the name itself is no suggestion", "summarise", ""},
		{"very long", strings.Repeat("web_search", 100), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := nearest.Of(test.in, candidates)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want != "", ok)
		})
	}
}

func TestOfDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	candidates := []string{"tool_b", "tool_c", "tool_a"}
	for range len(candidates) {
		candidates = append(candidates[1:], candidates[0])
		got, ok := nearest.Of("tool_x", slices.Clone(candidates))
		require.True(t, ok)
		require.Equal(t, "tool_a", got)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"abc", "abcd", 1},
		{"kitten", "sitting", 3},
		// A byte that was swapped is not edited again.
		{"ca", "abc", 3},
	} {
		require.Equal(t, test.want, nearest.Distance(test.a, test.b, 9), "%q to %q", test.a, test.b)
		require.Equal(t, min(test.want, 2), nearest.Distance(test.a, test.b, 1), "%q to %q, limited", test.a, test.b)
	}
}
