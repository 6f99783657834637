// Package md prints Markdown (GitHub's dialect).
package md

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Text is Markdown source that shows a text and nothing else: no markup, no
// HTML, no line break.
type Text struct{ source string }

// String returns the source.
func (t Text) String() string { return t.source }

// Block is Markdown source of whole lines.
type Block struct{ source string }

// String returns the source.
func (b Block) String() string { return b.source }

// special are the characters that mean something somewhere in a line.
const special = "\\`*[]<>&|#~$!{}"

// Inline shows a text within a line. It is safe in a heading, a list and a table
// cell, too.
func Inline(text string) Text {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\r' || r == '\t'
	})
	return Text{escape(strings.Join(words, " "))}
}

func escape(line string) string {
	var b strings.Builder
	runes := []rune(line)
	for i, r := range runes {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '_' && i > 0 && i+1 < len(runes) && alnum(runes[i-1]) && alnum(runes[i+1]):
			b.WriteRune(r)
		case r == '_' || r < 0x80 && strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case i == 0 && (r == '-' || r == '+' || r == '=' || r == ':'):
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '.' || r == ')') && i > 0 && digits(runes[:i]):
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(shown(r))
		}
	}
	return b.String()
}

// shown makes a character visible that would not be, or that would reorder its
// surroundings.
func shown(r rune) string { return "U+" + strings.ToUpper(strconv.FormatInt(int64(r), 16)) }

func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func digits(runes []rune) bool {
	for _, r := range runes {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// Code shows a text as code within a line, or nothing for an empty text. A bar
// is escaped, as a table wants it: use Code for names, which have none.
func Code(text string) Text {
	var b strings.Builder
	longest, run := 0, 0
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == '|':
			b.WriteString(`\|`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(shown(r))
		}
	}
	content := b.String()
	if content == "" {
		return Text{}
	}
	fence := strings.Repeat("`", longest+1)
	if strings.Trim(content, " ") != content || strings.HasPrefix(content, "`") || strings.HasSuffix(content, "`") {
		content = " " + content + " "
	}
	return Text{fence + content + fence}
}

// Paragraphs shows a text of several lines: blank lines part its paragraphs, the
// other line breaks stay in the source.
func Paragraphs(text string) Block {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = Inline(line).source
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return Block{strings.Join(out, "\n")}
}

// Word is a text that means itself everywhere, also in a shell: letters, digits,
// and `_`, `.`, `-`, `/` between them.
type Word struct{ text string }

// String returns the text.
func (w Word) String() string { return w.text }

// NewWord checks a word.
func NewWord(text string) (Word, error) {
	for i, r := range text {
		letter := r < 0x80 && alnum(r) || r == '_'
		if !letter && (i == 0 || r != '.' && r != '-' && r != '/') {
			return Word{}, fmt.Errorf("%q is not a plain word", text)
		}
	}
	if text == "" || strings.Contains(text, "..") {
		return Word{}, fmt.Errorf("%q is not a plain word", text)
	}
	return Word{text}, nil
}
