package md

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestInline(t *testing.T) {
	for in, want := range map[string]string{
		"plain text.":                "plain text.",
		"snake_case and _x_":         `snake_case and \_x\_`,
		"a\nb\r\n c":                 "a b c",
		"<script>":                   "&lt;script&gt;",
		"*b* `c` [l](http://x) #1 |": "\\*b\\* \\`c\\` \\[l\\](http://x) \\#1 \\|",
		"- item":                     `\- item`,
		"1. item":                    `1\. item`,
		"a - b":                      "a - b",
		"\u202ex\x00":                "U+202ExU+0",
		"\\":                         `\\`,
		"${x} $y$":                   `\$\{x\} \$y\$`,
		"":                           "",
	} {
		require.Equal(t, want, Inline(in).String(), "%q", in)
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a.b_C": "`a.b_C`", "": "", "`": "`` ` ``", "a`b": "``a`b``", " a": "`  a `", "a|b": "`a\\|b`", "a\nb": "`a b`",
	} {
		require.Equal(t, want, Code(in).String(), "%q", in)
	}
}

func TestParagraphs(t *testing.T) {
	require.Equal(t, "One\ntwo.\n\n\\# three", Paragraphs("\n One\n two.\n\n\n# three\n\n").String())
}

func FuzzInline(f *testing.F) {
	f.Add("<a>\n```\n| `")
	f.Fuzz(func(t *testing.T, text string) {
		for _, out := range []string{Inline(text).String(), Code(text).String()} {
			require.True(t, utf8.ValidString(out))
			require.NotContains(t, out, "\n")
			require.NotContains(t, strings.ReplaceAll(out, `\|`, ""), "|")
		}
		require.NotContains(t, Inline(text).String(), "<")
		for line := range strings.SplitSeq(Paragraphs(text).String(), "\n") {
			require.False(t, strings.HasPrefix(line, "#") || strings.HasPrefix(line, "`") || strings.HasPrefix(line, " "), line)
		}
	})
}

func TestNewWord(t *testing.T) {
	for _, good := range []string{"a", "research-agent", "a_b/c.py", "_x", "0"} {
		word, err := NewWord(good)
		require.NoError(t, err)
		require.Equal(t, good, word.String())
	}
	for _, bad := range []string{"", "-a", "a b", "a;b", "$x", "../x", "/x", "é", "a\n"} {
		_, err := NewWord(bad)
		require.Error(t, err, bad)
	}
}
