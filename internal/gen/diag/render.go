package diag

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxShown is how many diagnostics a rendering shows.
	maxShown = 100
	// maxQuoted is how many bytes of a name Code shows.
	maxQuoted = 120
)

// Render prints the diagnostics in canonical order: a summary line, then for
// each one its line and its indented notes and help. Nothing gives "".
func Render(diagnostics []Diagnostic) string {
	sorted := Canonical(diagnostics)
	if len(sorted) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s; no file was written\n", count(len(sorted), "error"))
	shown := sorted[:min(len(sorted), maxShown)]
	for _, d := range shown {
		fmt.Fprintf(&b, "%serror[%s %s]: %s\n", place(d.Pos), d.Code, d.Slug, clean(d.Message))
		for _, note := range d.Notes {
			fmt.Fprintf(&b, "  note: %s%s\n", place(note.Pos), clean(note.Text))
		}
		if d.Help != "" {
			fmt.Fprintf(&b, "  help: %s\n", clean(d.Help))
		}
	}
	if hidden := len(sorted) - len(shown); hidden > 0 {
		fmt.Fprintf(&b, "and %s, not shown\n", count(hidden, "more error"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// place is the start of a line about the place: `path:line:col: `, or the name
// of the element where the request has no source information.
func place(pos Pos) string {
	switch path, element := clean(pos.Path), clean(pos.Element); {
	case pos.Line > 0 && path != "":
		return fmt.Sprintf("%s:%d:%d: ", path, pos.Line, max(pos.Col, 1))
	case path != "" && element != "":
		return path + ":" + element + ": "
	case path != "" || element != "":
		return path + element + ": "
	default:
		return ""
	}
}

// Code quotes a name of the schema for a message: in backticks, with escapes
// for everything but printable ASCII, shortened when it is very long.
func Code(name string) string {
	shown := name
	if len(shown) > maxQuoted {
		cut := maxQuoted
		for cut > 0 && !utf8.RuneStart(shown[cut]) {
			cut--
		}
		shown = shown[:cut]
	}
	quoted := strconv.QuoteToASCII(shown)
	quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	quoted = strings.ReplaceAll(quoted, "`", `\x60`)
	if len(shown) < len(name) {
		quoted += "..."
	}
	return "`" + quoted + "`"
}

// clean escapes what is not printable. Escapes that Code made stay as they are.
func clean(text string) string {
	if isClean(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

func isClean(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
