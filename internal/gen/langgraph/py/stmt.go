package py

import (
	"cmp"
	"slices"
	"strings"
)

// Level is a depth of indentation.
type Level int

func (l Level) columns() int { return 4 * int(l) }

func (l Level) indent() string { return strings.Repeat(" ", l.columns()) }

// Assign is `target = value`.
func Assign(level Level, target Ident, value Expr) Code {
	return statement(level, target.name+" = ", value)
}

// Return is `return value`.
func Return(level Level, value Expr) Code { return statement(level, "return ", value) }

// Do is an expression as a statement.
func Do(level Level, value Expr) Code { return statement(level, "", value) }

func statement(level Level, prefix string, value Expr) Code {
	return Code{level.indent() + prefix + last(level, columns(prefix), value, true)}
}

// last prints the expression that ends a statement, begins at the given column
// behind the indentation and may get parentheses around it.
// picky says that they are worth it only when they make everything fit.
func last(level Level, col int, value Expr, picky bool) string {
	flat := value.String()
	start := level.columns() + col
	wraps := col > 0 && start+1 <= width && value.fitsBelow(level)
	if picky && wraps && value.breakable() {
		for line := range strings.SplitSeq(wrapped(level, value), "\n") {
			wraps = wraps && columns(line) <= width
		}
	}
	switch {
	case start+columns(flat) <= width:
		return flat
	case value.breakable() && (!wraps || start+columns(value.head) <= width):
		return value.explode(level.columns())
	case !wraps:
		return flat
	default:
		return wrapped(level, value)
	}
}

// empty reports whether the expression is a display without elements.
func (e Expr) empty() bool { return len(e.head) == 1 && e.tail != "" && len(e.items) == 0 }

// wrapped prints an expression in parentheses, on lines of its own.
func wrapped(level Level, value Expr) string {
	inner := level + 1
	return "(\n" + inner.indent() + value.print(inner.columns(), inner.columns(), 0) + "\n" + level.indent() + ")"
}

// fitsBelow reports whether an expression, or its beginning when it can break,
// fits on a line of its own, one level deeper.
func (e Expr) fitsBelow(level Level) bool {
	inner := (level + 1).columns()
	if e.breakable() {
		return inner+columns(e.head) <= width
	}
	return inner+columns(e.String()) <= width
}

// Declare is `target: annotation`.
func Declare(level Level, target Ident, annotation Expr) Code {
	prefix := target.name + ": "
	if start := level.columns() + columns(prefix); annotation.union != nil && start+columns(annotation.String()) > width {
		return Code{level.indent() + prefix + wrapped(level, annotation)}
	}
	return Code{level.indent() + prefix + last(level, columns(prefix), annotation, true)}
}

// DeclareAs is `target: annotation = value`.
func DeclareAs(level Level, target Ident, annotation, value Expr) Code {
	line := target.name + ": " + annotation.String() + " = "
	start := level.columns() + columns(line)
	whole := start+columns(value.String()) <= width
	plain := !annotation.breakable() && annotation.union == nil
	if !whole {
		// The annotation stays whole when the value can begin on its line: with its
		// own bracket, or with a parenthesis around it.
		begins := value.breakable() && start+columns(value.head) <= width
		wraps := start+1 <= width && !value.signed && !value.empty() &&
			(value.fitsBelow(level) || !plain && !value.breakable())
		if wraps && !plain && !value.breakable() {
			return Code{level.indent() + line + wrapped(level, value)}
		}
		whole = begins || wraps || plain
	}
	if whole {
		return Code{level.indent() + line + last(level, columns(line), value, plain)}
	}
	var broken string
	if annotation.breakable() {
		broken = target.name + ": " + annotation.explode(level.columns()) + " = "
	} else {
		broken = target.name + ": " + wrapped(level, annotation) + " = "
	}
	tail := broken[strings.LastIndexByte(broken, '\n')+1:]
	return Code{level.indent() + broken + last(level, columns(tail)-level.columns(), value, false)}
}

// From is `from module import names` at the top of a module. With dots the
// import is relative, and the module may be the zero Module. The names are
// sorted as ruff sorts them.
func From(dots int, module Module, names ...Ident) Code {
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, func(a, b Ident) int { return CompareNames(a.name, b.name) })
	sorted = slices.Compact(sorted)
	parts := make([]string, len(sorted))
	for i, name := range sorted {
		parts[i] = name.name
	}
	start := "from " + strings.Repeat(".", dots) + module.name + " import "
	flat := start + strings.Join(parts, ", ")
	if columns(flat) <= width {
		return Code{flat}
	}
	return Code{start + "(\n    " + strings.Join(parts, ",\n    ") + ",\n)"}
}

// CompareNames orders the names of one import: constants, then classes, then
// the rest, each in natural order without regard to case.
func CompareNames(a, b string) int {
	return cmp.Or(
		cmp.Compare(category(a), category(b)),
		natural(strings.ToLower(a), strings.ToLower(b)),
		natural(a, b),
	)
}

// CompareModules orders the modules that one section imports from.
func CompareModules(a, b Module) int {
	return cmp.Or(natural(strings.ToLower(a.name), strings.ToLower(b.name)), natural(a.name, b.name))
}

func category(name string) int {
	upper, lower := false, false
	for _, r := range name {
		upper = upper || r >= 'A' && r <= 'Z'
		lower = lower || r >= 'a' && r <= 'z'
	}
	switch {
	case len(name) > 1 && upper && !lower:
		return 0
	case name[0] >= 'A' && name[0] <= 'Z':
		return 1
	default:
		return 2
	}
}

// natural compares texts in which runs of digits count as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// Class is the first line of a class: `class Name(bases):`.
func Class(level Level, name Ident, bases ...Arg) Code {
	flat := level.indent() + "class " + name.name
	if len(bases) == 0 {
		return Code{flat + ":"}
	}
	head := Expr{head: flat + "(", items: bases, tail: ")"}
	if columns(head.String())+1 <= width {
		return Code{head.String() + ":"}
	}
	return Code{head.explode(level.columns()) + ":"}
}

// Decorator is a line `@expression`.
func Decorator(level Level, value Expr) Code {
	return Code{level.indent() + "@" + value.print(level.columns(), level.columns()+1, 0)}
}

// Property is the head of a property.
func Property(level Level, name Ident, annotation Expr) Code {
	decorator := level.indent() + "@property\n"
	flat := level.indent() + "def " + name.name + "(self) -> " + annotation.String() + ":"
	if columns(flat) <= width {
		return Code{decorator + flat}
	}
	return Code{decorator + level.indent() + "def " + name.name + "(\n" +
		(level + 1).indent() + "self,\n" + Results(level, annotation).source}
}

// Results is the line that ends the head of a function over several lines:
// `) -> annotation:`.
func Results(level Level, annotation Expr) Code {
	return Code{level.indent() + ") -> " + annotation.print(level.columns(), level.columns()+len(") -> "), 1) + ":"}
}
