package diag_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func at(path string, line, col int) diag.Pos {
	return diag.Pos{Path: path, Line: line, Col: col, Element: "a.B"}
}

func TestRender(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		diagnostics []diag.Diagnostic
		want        []string
	}{
		{name: "nothing", want: []string{""}},
		{
			name:        "no position",
			diagnostics: []diag.Diagnostic{diag.New(diag.BadParameter, diag.Pos{}, "unknown parameter %s", diag.Code("tagret"))},
			want: []string{
				"1 error; no file was written",
				"error[AG001 bad-parameter]: unknown parameter `tagret`",
			},
		},
		{
			name: "notes and help",
			diagnostics: []diag.Diagnostic{
				diag.New(diag.ReducerMismatch, at("a.proto", 12, 5), "the message").
					WithNote(at("b.proto", 3, 1), "the other place").
					WithNote(diag.Pos{}, "no place").
					WithHelp("the edit"),
			},
			want: []string{
				"1 error; no file was written",
				"a.proto:12:5: error[AG012 reducer-mismatch]: the message",
				"  note: b.proto:3:1: the other place",
				"  note: no place",
				"  help: the edit",
			},
		},
		{
			name: "without source information",
			diagnostics: []diag.Diagnostic{
				diag.New(diag.NoState, diag.Pos{Path: "a.proto", Element: "a.B"}, "element"),
				diag.New(diag.NoState, diag.Pos{Path: "b.proto"}, "file"),
				diag.New(diag.NoState, diag.Pos{Element: "c.D"}, "name"),
			},
			want: []string{
				"3 errors; no file was written",
				"c.D: error[AG030 no-state]: name",
				"a.proto:a.B: error[AG030 no-state]: element",
				"b.proto: error[AG030 no-state]: file",
			},
		},
		{
			name: "sorted, each once",
			diagnostics: []diag.Diagnostic{
				diag.New(diag.NoState, at("b.proto", 1, 1), "5"),
				diag.New(diag.NoState, at("a.proto", 10, 1), "4"),
				diag.New(diag.NoState, at("a.proto", 9, 2), "3"),
				diag.New(diag.NoState, at("a.proto", 9, 1), "2b"),
				diag.New(diag.NoState, at("a.proto", 9, 1), "2a"),
				diag.New(diag.BadAgentID, at("a.proto", 9, 1), "1"),
				diag.New(diag.NoState, at("a.proto", 9, 2), "3"),
			},
			want: []string{
				"6 errors; no file was written",
				"a.proto:9:1: error[AG020 bad-agent-id]: 1",
				"a.proto:9:1: error[AG030 no-state]: 2a",
				"a.proto:9:1: error[AG030 no-state]: 2b",
				"a.proto:9:2: error[AG030 no-state]: 3",
				"a.proto:10:1: error[AG030 no-state]: 4",
				"b.proto:1:1: error[AG030 no-state]: 5",
			},
		},
		{
			name: "nothing that a stranger writes reaches the terminal raw",
			diagnostics: []diag.Diagnostic{
				diag.New(diag.NoState, at("a\x1b[2J\nb.proto:1:1: error[AG000 fake]: x.proto", 1, 1), "tab\tesc\x1b bidi\u202e sep\u2028 zero\u200b").
					WithNote(at("b\r.proto", 1, 1), "bad utf-8 \xff\xfe").
					WithHelp("two\nlines"),
			},
			want: []string{
				"1 error; no file was written",
				`a\x1b[2J\nb.proto:1:1: error[AG000 fake]: x.proto:1:1: error[AG030 no-state]: tab\tesc\x1b bidi\u202e sep\u2028 zero\u200b`,
				`  note: b\r.proto:1:1: bad utf-8 \xff\xfe`,
				`  help: two\nlines`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Split(diag.Render(test.diagnostics), "\n")
			require.Empty(t, cmp.Diff(test.want, got))
		})
	}
}

func TestRenderShowsAHundred(t *testing.T) {
	t.Parallel()
	var diagnostics []diag.Diagnostic
	for line := range 250 {
		diagnostics = append(diagnostics, diag.New(diag.NoState, at("a.proto", 250-line, 1), "m"))
	}
	lines := strings.Split(diag.Render(diagnostics), "\n")
	require.Len(t, lines, 102)
	require.Equal(t, "250 errors; no file was written", lines[0])
	require.Equal(t, "a.proto:1:1: error[AG030 no-state]: m", lines[1])
	require.Equal(t, "a.proto:100:1: error[AG030 no-state]: m", lines[100])
	require.Equal(t, "and 150 more errors, not shown", lines[101])

	lines = strings.Split(diag.Render(diagnostics[:101]), "\n")
	require.Equal(t, "and 1 more error, not shown", lines[101])
}

func TestRenderDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	var diagnostics []diag.Diagnostic
	for i := range 30 {
		d := diag.New(diag.NoState, at("a.proto", i%3, 1), "m%d", i%4)
		d.Pos.Element = fmt.Sprint("e", i%2)
		diagnostics = append(diagnostics, d.WithHelp("help %d", i%2).WithNote(diag.Pos{}, "note %d", i%5))
	}
	want := diag.Render(diagnostics)
	for seed := range uint64(20) {
		shuffled := slices.Clone(diagnostics)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		require.Equal(t, want, diag.Render(shuffled))
	}
}

func TestWithNoteDoesNotShare(t *testing.T) {
	t.Parallel()
	d := diag.New(diag.NoState, diag.Pos{}, "m").WithNote(diag.Pos{}, "1").WithNote(diag.Pos{}, "2")
	a, b := d.WithNote(diag.Pos{}, "a"), d.WithNote(diag.Pos{}, "b")
	require.Equal(t, "a", a.Notes[2].Text)
	require.Equal(t, "b", b.Notes[2].Text)
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"", "``"},
		{"acme.v1.Thing", "`acme.v1.Thing`"},
		{`say "hi"`, "`say \"hi\"`"},
		{"a`b", "`a\\x60b`"},
		{`a\b`, "`a\\\\b`"},
		{"a\nb", "`a\\nb`"},
		{"r\u0435search", "`r\\u0435search`"},
		{"\xff", "`\\xff`"},
		{strings.Repeat("x", 120), "`" + strings.Repeat("x", 120) + "`"},
		{strings.Repeat("x", 121), "`" + strings.Repeat("x", 120) + "...`"},
		{strings.Repeat("x", 119) + "\u20ac", "`" + strings.Repeat("x", 119) + "...`"},
	} {
		require.Equal(t, test.want, diag.Code(test.in), "%q", test.in)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	code, slug := regexp.MustCompile(`^AG\d{3}$`), regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	slugs := make(map[string]bool)
	previous := ""
	for _, kind := range diag.Kinds() {
		require.Regexp(t, code, kind.Code)
		require.Greater(t, kind.Code, previous, "codes are unique and in order")
		previous = kind.Code
		require.Regexp(t, slug, kind.Slug)
		require.False(t, slugs[kind.Slug], "slug %s is used twice", kind.Slug)
		slugs[kind.Slug] = true
		require.True(t, unicode.IsUpper(rune(kind.Title[0])), "%s: %s", kind.Code, kind.Title)
		require.NotContains(t, kind.Title[len(kind.Title)-1:], ".", "%s: %s", kind.Code, kind.Title)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("a.proto", "message", "help")
	f.Add("\x1b[31m", "a\nb", "\u202e\xff")
	f.Fuzz(func(t *testing.T, path, message, help string) {
		rendered := diag.Render([]diag.Diagnostic{
			diag.New(diag.NoState, diag.Pos{Path: path, Line: 1, Col: 1}, "%s in %s", message, diag.Code(message)).
				WithNote(diag.Pos{Path: path, Element: message}, "%s", help).
				WithHelp("%s", help),
		})
		for _, r := range rendered {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%q is printed raw: %q", r, rendered)
			}
		}
		want := 4
		if help == "" {
			want = 3
		}
		if got := strings.Count(rendered, "\n") + 1; got != want {
			t.Fatalf("%d lines, want %d: %q", got, want, rendered)
		}
	})
}
