package toml

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/pytool"
)

const reader = `
import tomllib

def answer(q):
    return [ord(c) for c in tomllib.loads("x = " + q + "\n")["x"]]
`

func TestQuote(t *testing.T) {
	require.Equal(t, `"a\"b\\c\u000a"`, Quote("a\"b\\c\n").String())
	require.Equal(t, `"\u202e\U000e0001"`, Quote("\u202e\U000e0001").String())
}

func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "\"", "\\", "\x00\x7f\n\r", "'''", "#", "\u2028\U0001f600"} {
		f.Add(text)
	}
	python := pytool.Start(f, reader)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		want, got := []int{}, []int{}
		for _, r := range text {
			want = append(want, int(r))
		}
		require.NoError(t, python.Ask(Quote(text).String(), &got))
		require.Equal(t, want, got)
	})
}
