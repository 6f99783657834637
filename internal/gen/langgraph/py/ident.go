package py

import (
	"fmt"
	"strings"
)

// Ident is a Python identifier: ASCII and not a keyword.
type Ident struct{ name string }

// String returns the identifier.
func (i Ident) String() string { return i.name }

// Module is a dotted name of identifiers, such as a module's.
type Module struct{ name string }

// String returns the dotted name.
func (m Module) String() string { return m.name }

// keywords are the words that cannot be identifiers. Python's soft keywords can.
var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true,
	"async": true, "await": true, "break": true, "class": true, "continue": true, "def": true,
	"del": true, "elif": true, "else": true, "except": true, "finally": true, "for": true,
	"from": true, "global": true, "if": true, "import": true, "in": true, "is": true,
	"lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true,
	"return": true, "try": true, "while": true, "with": true, "yield": true,
}

// IsKeyword reports whether Python reserves the word.
func IsKeyword(word string) bool { return keywords[word] }

// NewIdent checks an identifier.
func NewIdent(name string) (Ident, error) {
	if !isIdent(name) {
		return Ident{}, fmt.Errorf("%q is not a Python identifier", name)
	}
	return Ident{name}, nil
}

// NewModule checks a dotted name.
func NewModule(name string) (Module, error) {
	for part := range strings.SplitSeq(name, ".") {
		if !isIdent(part) {
			return Module{}, fmt.Errorf("%q is not the name of a Python module", name)
		}
	}
	return Module{name}, nil
}

// Sub is the module of the given name in the package m.
func (m Module) Sub(name Ident) Module { return Module{m.name + "." + name.name} }

// Parts are the identifiers of the dotted name.
func (m Module) Parts() []string { return strings.Split(m.name, ".") }

func isIdent(name string) bool {
	if name == "" || keywords[name] {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && (!digit || i == 0) {
			return false
		}
	}
	return true
}
