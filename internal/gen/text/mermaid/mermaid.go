// Package mermaid prints the labels of Mermaid diagrams.
package mermaid

import (
	"strconv"
	"strings"
)

// Label is a quoted label, such as `"entry"`.
type Label struct{ source string }

// String returns the source.
func (l Label) String() string { return l.source }

// Quote shows a text as a label. Everything but plain words becomes a character
// reference, in Mermaid's own form.
func Quote(text string) Label {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" _-.,:/()", r):
			b.WriteRune(r)
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r > ' ' && r < 0x7f || r >= 0xa1 && r != 0xfffd && !reorders(r):
			b.WriteString("#" + strconv.FormatInt(int64(r), 10) + ";")
		default:
			b.WriteString("U+" + strings.ToUpper(strconv.FormatInt(int64(r), 16)))
		}
	}
	b.WriteByte('"')
	return Label{b.String()}
}

// reorders reports whether a character is an invisible one that changes how its
// surroundings are shown.
func reorders(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r >= 0xe0000
}
