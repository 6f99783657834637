// Package diag holds the diagnostics of a request: what is wrong, where, and
// which edit makes it right.
//
// Texts may quote names that a stranger chose. Code quotes such a name, and
// Render prints no control character, no bidirectional override and no line
// break of a text, so that a schema can neither forge a diagnostic nor drive
// the terminal.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Diagnostic is one mistake.
type Diagnostic struct {
	// Code and Slug are those of a Kind.
	Code string
	Slug string
	// Pos is the place of the mistake; zero when it has none in the files, as a
	// bad parameter.
	Pos Pos
	// Message stands alone: it names what is wrong without the lines around it.
	Message string
	// Notes tell about other places that take part.
	Notes []Note
	// Help is the edit that removes the mistake.
	Help string
}

// Note is a remark on a diagnostic.
type Note struct {
	// Pos is the place that the note is about; zero when it is about none.
	Pos  Pos
	Text string
}

// New makes a diagnostic of the kind at a place.
func New(kind Kind, pos Pos, format string, args ...any) Diagnostic {
	return Diagnostic{Code: kind.Code, Slug: kind.Slug, Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// WithNote returns the diagnostic with one more note.
func (d Diagnostic) WithNote(pos Pos, format string, args ...any) Diagnostic {
	d.Notes = append(slices.Clip(d.Notes), Note{Pos: pos, Text: fmt.Sprintf(format, args...)})
	return d
}

// WithHelp returns the diagnostic with the help.
func (d Diagnostic) WithHelp(format string, args ...any) Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// Canonical returns the diagnostics sorted by file, line, column, code and
// message, each of them once.
func Canonical(diagnostics []Diagnostic) []Diagnostic {
	sorted := slices.Clone(diagnostics)
	slices.SortFunc(sorted, compare)
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Message == b.Message && a.Pos == b.Pos
	})
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		comparePos(a.Pos, b.Pos),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		// Equal so far: the rest only decides which of two duplicates stays.
		cmp.Compare(a.Pos.Element, b.Pos.Element),
		cmp.Compare(a.Help, b.Help),
		slices.CompareFunc(a.Notes, b.Notes, func(x, y Note) int {
			return cmp.Or(comparePos(x.Pos, y.Pos), cmp.Compare(x.Text, y.Text))
		}),
	)
}

func comparePos(a, b Pos) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Col, b.Col),
	)
}
