package source

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCleanComment(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                            "",
		"\n":                          "",
		" One line.\n":                "One line.",
		"no margin\n":                 "no margin",
		" Two\n lines.\n":             "Two\nlines.",
		" Keeps\n   an indent.\n":     "Keeps\n  an indent.",
		"\n\n Paragraph.\n\n More.\n": "Paragraph.\n\nMore.",
		" Trailing space. \t\n":       "Trailing space.",
		" Windows\r\n and\r Mac\r\n":  "Windows\nand\nMac",
		" Real.\n buf:lint:ignore RPC_REQUEST_STANDARD_NAME\n": "Real.",
		" buf:lint:ignore X\n":                                 "",
		" caf\xe9\n":                                           "caf\uFFFD",
		"\ttab\n":                                              "\ttab",
	}
	for text, want := range tests {
		require.Equal(t, want, cleanComment(text), "%q", text)
		require.Equal(t, want, cleanComment(cleanComment(text)), "%q is not stable", text)
	}
}
