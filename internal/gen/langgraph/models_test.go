package langgraph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc": "abc", `\\`: `\`, `\n\t\r\a\b\f\v`: "\n\t\r\a\b\f\v", `\'\"\?`: `'"?`, `\000\377\1x`: "\x00\xff\x01x",
		`\xff\x0a1`: "\xff\n1", `\1234`: "S4",
	} {
		got, err := unescape(in)
		require.NoError(t, err, in)
		require.Equal(t, want, string(got), in)
	}
	for _, in := range []string{`\`, `\q`, `\x`, `\xg`, `\777`} {
		_, err := unescape(in)
		require.Error(t, err, in)
	}
}

func TestLowerCamel(t *testing.T) {
	for in, want := range map[string]string{
		"user_query": "userQuery", "a__b": "aB", "_x": "X", "x_": "x", "x_1y": "x1y", "Foo": "Foo", "fooBar": "fooBar",
	} {
		require.Equal(t, want, lowerCamel(in), in)
	}
}
