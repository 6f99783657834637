package toolschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// describe joins the comment of a declaration and what no keyword says. It returns
// the schema, or one around it where nothing may stand beside a reference.
func (w *writer) describe(s *Schema, comment string, deprecated bool) *Schema {
	own := sentences(comment)
	if len(own) == 0 {
		own = s.about
	}
	notes := append(own[:len(own):len(own)], s.notes...)
	s.notes, s.about = nil, nil
	if deprecated {
		if w.provider.has("deprecated") {
			s.Deprecated = true
		} else {
			notes = append(notes, "Deprecated.")
		}
	}
	text := strings.ReplaceAll(strings.Join(notes, " "), " \n", "\n")
	text = strings.TrimPrefix(text, "\n")
	switch {
	case text == "":
		return s
	case s.Ref != "" && w.provider.BareRefs:
		return &Schema{Description: text, AnyOf: []*Schema{s}}
	default:
		s.Description = text
		return s
	}
}

// sentences are a comment that ends as a sentence does, nil for none. Line breaks
// within a paragraph say nothing.
func sentences(comment string) []string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(comment), "\n\n") {
		if text := strings.Join(strings.Fields(paragraph), " "); text != "" {
			paragraphs = append(paragraphs, text)
		}
	}
	if len(paragraphs) == 0 {
		return nil
	}
	return []string{ended(strings.Join(paragraphs, "\n"))}
}

// sentence is a phrase as a sentence.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(phrase)
	return ended(string(unicode.ToUpper(first)) + phrase[size:])
}

func ended(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) {
		return text + "."
	}
	return text
}

func prefixed(prefix string, notes []string) []string {
	var all []string
	for _, note := range notes {
		all = append(all, prefix+note)
	}
	return all
}
