// Package py prints Python.
//
// Its types can be made only by its functions, and a template can print nothing
// else: whatever a schema says reaches a Python file as an identifier that was
// checked, inside a literal, inside a docstring or inside a comment. What is
// printed has the form that `ruff format` gives it, so that formatting a
// generated file changes nothing.
package py

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is the line length of generated files.
const width = 88

// Code is Python source: whole lines with their indentation, without the line
// break at the end.
type Code struct{ source string }

// String returns the source.
func (c Code) String() string { return c.source }

// Join puts pieces of source below each other, separated by blank lines.
func Join(blank int, pieces ...Code) Code {
	sources := make([]string, len(pieces))
	for i, piece := range pieces {
		sources[i] = piece.source
	}
	return Code{strings.Join(sources, strings.Repeat("\n", blank+1))}
}

// columns is how many columns a line of text takes, as ruff counts them.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// wide are the ranges of characters that take two columns.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653},
	{0x267f, 0x267f}, {0x268a, 0x268f}, {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab},
	{0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea},
	{0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705},
	{0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755},
	{0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf},
	{0x4dc0, 0x4dff}, {0x4e00, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff},
	{0x1d300, 0x1d376}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
	{0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
	{0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc},
	{0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
	{0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5},
	{0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df},
	{0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0},
	{0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	for _, pair := range wide {
		if r >= pair[0] && r <= pair[1] {
			return 2
		}
	}
	return 1
}

// plain reports whether a character may stand unescaped in a literal: it is
// visible and takes part in no reordering of the text around it. Characters
// whose width depends on the reader's tables are not plain either.
func plain(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r < 0x7f
	case r > 0xffff:
		return false
	default:
		return unicode.IsPrint(r) && !unicode.Is(unicode.M, r)
	}
}

// escape is the escape of a character that is not plain, in a str literal.
func escape(r rune) string {
	digits := strconv.FormatInt(int64(r), 16)
	switch {
	case r <= 0xff:
		return `\x` + strings.Repeat("0", 2-len(digits)) + digits
	case r <= 0xffff:
		return `\u` + strings.Repeat("0", 4-len(digits)) + digits
	default:
		return `\U` + strings.Repeat("0", 8-len(digits)) + digits
	}
}

// quote is a str literal on one line. Bytes that are not UTF-8 become U+FFFD.
func quote(text string) string {
	mark := byte('"')
	if strings.Count(text, `"`) > strings.Count(text, `'`) {
		mark = '\''
	}
	var b strings.Builder
	b.WriteByte(mark)
	for _, r := range text {
		switch {
		case r == rune(mark) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case plain(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte(mark)
	return b.String()
}

// quoteBytes is a bytes literal on one line.
func quoteBytes(value []byte) string {
	mark := byte('"')
	if strings.Count(string(value), `"`) > strings.Count(string(value), `'`) {
		mark = '\''
	}
	var b strings.Builder
	b.WriteByte('b')
	b.WriteByte(mark)
	for _, c := range value {
		switch {
		case c == mark || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			b.WriteString(escape(rune(c)))
		}
	}
	b.WriteByte(mark)
	return b.String()
}
