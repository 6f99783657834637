package mermaid

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var safe = regexp.MustCompile(`^"([A-Za-z0-9 _.,:/()+-]|#[0-9]+;)*"$`)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plan: a_b":  `"plan: a_b"`,
		`"];x`:       `"#34;#93;#59;x"`,
		"a\nend":     `"a end"`,
		"#quot;":     `"#35;quot#59;"`,
		"\u00e9":     `"#233;"`,
		"\u202e\x00": `"U+202EU+0"`,
	} {
		require.Equal(t, want, Quote(in).String())
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("`\"]-->|x|")
	f.Fuzz(func(t *testing.T, text string) { require.Regexp(t, safe, Quote(text).String()) })
}
