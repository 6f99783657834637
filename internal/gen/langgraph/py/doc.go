package py

import (
	"strings"
	"unicode"
)

// Doc is a docstring as a statement. The text is a comment of a schema: its
// first sentence becomes the summary, everything else keeps its lines. Without
// text the docstring says the fallback.
//
// What the linters of docstrings ask for is part of the encoding: one line of
// summary that ends with punctuation, a blank line after it, no line that reads
// as the heading of a section, no backslash outside a raw string.
func Doc(level Level, text, fallback string) Code {
	lines := docLines(text)
	if len(lines) == 0 {
		lines = docLines(fallback)
	}
	if len(lines) == 0 {
		lines = []string{"Undocumented."}
	}
	summary, rest := summarise(lines)
	body := append([]string{summary}, headless(rest)...)

	raw := canBeRaw(body)
	var b strings.Builder
	b.WriteString(level.indent())
	if raw {
		b.WriteByte('r')
	}
	b.WriteString(`"""`)
	for i, line := range body {
		if i > 0 {
			b.WriteByte('\n')
			if line != "" {
				b.WriteString(level.indent())
			}
		}
		if raw {
			b.WriteString(line)
			continue
		}
		writeDocLine(&b, line, i == 0)
	}
	if len(body) > 1 {
		b.WriteByte('\n')
		b.WriteString(level.indent())
	}
	b.WriteString(`"""`)
	return Code{b.String()}
}

// docLines are the lines of a comment without the space that stands between
// `//` and the text, without trailing space and without blank lines at the ends.
func docLines(text string) []string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\t", "    ")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, " "), " ")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// summarise cuts the first sentence of the first paragraph, or all of it when
// it is one sentence, and returns the lines that follow.
func summarise(lines []string) (string, []string) {
	var words []string
	for i, line := range lines {
		if line == "" {
			return punctuated(words), lines[i+1:]
		}
		line = strings.TrimLeft(line, " ")
		if end := sentenceEnd(line); end > 0 {
			words = append(words, line[:end])
			rest := lines[i+1:]
			if after := strings.TrimLeft(line[end:], " "); after != "" {
				rest = append([]string{after}, rest...)
			}
			return punctuated(words), rest
		}
		words = append(words, line)
	}
	return punctuated(words), nil
}

// sentenceEnd is the length of the sentence that a line begins or continues,
// when it ends in the line, else 0.
func sentenceEnd(line string) int {
	for i := range len(line) {
		if line[i] != '.' && line[i] != '!' && line[i] != '?' {
			continue
		}
		after := line[i+1:]
		if after == "" {
			return i + 1
		}
		// "e.g. this" goes on; a sentence begins with a capital.
		next := strings.TrimLeft(after, " ")
		if len(next) < len(after) && next != "" && next[0] >= 'A' && next[0] <= 'Z' {
			return i + 1
		}
	}
	return 0
}

func punctuated(words []string) string {
	summary := strings.Join(words, " ")
	if last := summary[len(summary)-1]; last == '.' || last == '!' || last == '?' {
		return summary
	}
	if trimmed := strings.TrimRight(summary, ":,;- "); trimmed != "" {
		summary = trimmed
	}
	return summary + "."
}

// sections are the headings that docstring conventions know.
var sections = map[string]bool{
	"args": true, "arguments": true, "attention": true, "attributes": true, "caution": true,
	"danger": true, "error": true, "example": true, "examples": true, "extended summary": true,
	"hint": true, "important": true, "keyword args": true, "keyword arguments": true,
	"methods": true, "note": true, "notes": true, "other args": true, "other arguments": true,
	"other params": true, "other parameters": true, "parameters": true, "raises": true,
	"receives": true, "references": true, "return": true, "returns": true, "see also": true,
	"short summary": true, "tip": true, "todo": true, "warning": true, "warnings": true,
	"warns": true, "yield": true, "yields": true,
}

// headless prepares the lines below a summary: a blank line first, and nothing
// that reads as the heading of a section, because the linters want sections to
// have a form that a comment need not have.
func headless(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return nil
	}
	lines = dedent(lines)
	out := make([]string, 0, len(lines)+1)
	out = append(out, "")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		word := strings.Trim(strings.TrimSuffix(line, ":"), " ")
		if !sections[strings.ToLower(word)] {
			out = append(out, line)
			continue
		}
		heading := line[:len(line)-len(strings.TrimLeft(line, " "))] + word
		if i+1 < len(lines) && lines[i+1] != "" {
			i++
			out = append(out, heading+": "+strings.TrimLeft(lines[i], " "))
			continue
		}
		out = append(out, heading+".")
	}
	return out
}

// dedent takes away the indentation that all lines share.
func dedent(lines []string) []string {
	shared := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); line != "" && (shared < 0 || n < shared) {
			shared = n
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			line = line[shared:]
		}
		out[i] = line
	}
	return out
}

// canBeRaw reports whether the lines have a backslash and can stand in a raw
// docstring as they are.
func canBeRaw(lines []string) bool {
	backslash := false
	for _, line := range lines {
		if strings.Contains(line, `"""`) {
			return false
		}
		for _, r := range line {
			if !unicode.IsPrint(r) {
				return false
			}
		}
		backslash = backslash || strings.ContainsRune(line, '\\')
	}
	return backslash && lines[0][0] != '"'
}

// writeDocLine prints a line of a docstring that is not raw.
func writeDocLine(b *strings.Builder, line string, first bool) {
	for i, r := range line {
		switch {
		case r == '\\':
			b.WriteString(`\u005c`)
		case r == '"' && (first && i == 0 || strings.HasPrefix(line[i:], `""`) || i > 0 && line[i-1] == '"'):
			b.WriteString(`\u0022`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			// The linters take \u for harmless and \x for a mistake.
			digits := escape(r)[2:]
			b.WriteString(`\u` + strings.Repeat("0", 4-len(digits)) + digits)
		default:
			b.WriteString(escape(r))
		}
	}
}

// Comment is a text as `#` comments, a line each. An empty text gives no code at
// all: callers print a list of comments.
func Comment(level Level, text string) []Code {
	lines := docLines(text)
	out := make([]Code, len(lines))
	for i, line := range lines {
		var b strings.Builder
		b.WriteString(level.indent())
		b.WriteString("#:")
		if line != "" {
			b.WriteByte(' ')
		}
		for _, r := range line {
			switch {
			// A second `#` could begin a directive to a linter or type checker.
			case r == '#':
				b.WriteString(`\x23`)
			case !unicode.IsPrint(r):
				b.WriteString(escape(r))
			default:
				b.WriteRune(r)
			}
		}
		out[i] = Code{b.String()}
	}
	return out
}
