package library

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/search"
)

// snippet is the sentence of text that holds the most of the matched words; the
// first one when several do, or when no word of the text matched.
func snippet(text string, matches search.TermLocationMap) string {
	best, most := "", -1
	for start, end := range sentences(text) {
		count := 0
		for _, locations := range matches {
			for _, location := range locations {
				if uint64(start) <= location.Start && location.End <= uint64(end) {
					count++
					break // A word counts once, however often it is repeated.
				}
			}
		}
		if count > most {
			best, most = text[start:end], count
		}
	}
	return best
}

// sentences yields the byte range of each sentence of text, without the space
// around it. A sentence ends at a full stop, question mark or exclamation mark
// before white space and an upper-case letter, or at the end of a paragraph.
func sentences(text string) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		start := 0
		for i, r := range text {
			ends := r == '\n' || strings.ContainsRune(".?!", r) && startsSentence(text[i+1:])
			if !ends {
				continue
			}
			end := i
			if r != '\n' {
				end++
			}
			if start < end && !yield(start, end) {
				return
			}
			start = end + len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start < len(text) {
			yield(start, len(text))
		}
	}
}

// startsSentence reports whether text begins with white space and an upper-case
// letter.
func startsSentence(text string) bool {
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	first, _ := utf8.DecodeRuneInString(trimmed)
	return len(trimmed) < len(text) && unicode.IsUpper(first)
}
