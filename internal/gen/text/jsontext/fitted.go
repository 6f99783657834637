package jsontext

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// width is how long a line of a fitted file may get.
const width = 100

// Fitted is compact, valid JSON as a file in which objects and lists stand on one
// line where they fit, and else have a line for each member.
func Fitted(compact []byte) Document {
	var b bytes.Buffer
	b.Grow(2 * len(compact))
	f := fitter{source: compact, out: &b}
	f.value(0, 0)
	b.WriteByte('\n')
	return Document{b.Bytes()}
}

// fitter reads compact JSON that is known to be right.
type fitter struct {
	source []byte
	at     int
	out    *bytes.Buffer
}

// value prints the next value, which begins in a column. What follows it on its
// line is at most a comma.
func (f *fitter) value(indent, column int) {
	end := f.end()
	whole := f.source[f.at:end]
	first := whole[0]
	if first != '{' && first != '[' || len(whole) == 2 || column+fittedWidth(whole)+1 <= width {
		f.line(whole)
		f.at = end
		return
	}
	inner := indent + 2
	f.out.WriteByte(first)
	f.at++
	for f.at < end-1 {
		f.out.WriteByte('\n')
		f.out.WriteString(strings.Repeat(" ", inner))
		column := inner
		if first == '{' {
			key := f.source[f.at:f.end()]
			f.out.Write(key)
			f.out.WriteString(": ")
			f.at += len(key) + 1
			column += utf8.RuneCount(key) + 2
		}
		f.value(inner, column)
		if f.source[f.at] == ',' {
			f.out.WriteByte(',')
			f.at++
		}
	}
	f.out.WriteByte('\n')
	f.out.WriteString(strings.Repeat(" ", indent))
	f.out.WriteByte(first + 2) // `}` and `]` stand two behind `{` and `[`.
	f.at = end
}

// end is where the value or key ends that begins here.
func (f *fitter) end() int {
	depth, inText := 0, false
	for i := f.at; i < len(f.source); i++ {
		switch c := f.source[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
			if !inText && depth == 0 {
				return i + 1
			}
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			if depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(f.source)
}

// line prints compact JSON on one line, with a space behind commas and colons.
func (f *fitter) line(compact []byte) {
	inText := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		f.out.WriteByte(c)
		switch {
		case inText && c == '\\':
			i++
			f.out.WriteByte(compact[i])
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			f.out.WriteByte(' ')
		}
	}
}

// fittedWidth is the width of compact JSON as line prints it.
func fittedWidth(compact []byte) int {
	if len(compact) > 4*width {
		return len(compact)
	}
	total, inText := utf8.RuneCount(compact), false
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			total++
		}
	}
	return total
}
