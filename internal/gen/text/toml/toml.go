// Package toml prints the strings of TOML files.
package toml

import (
	"fmt"
	"strings"
	"unicode"
)

// String is a basic string on one line, quotes included.
type String struct{ source string }

// String returns the source.
func (s String) String() string { return s.source }

// Quote is a text as a basic string. Bytes that are not UTF-8 become U+FFFD.
func Quote(text string) String {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return String{b.String()}
}
