package py

import (
	"math"
	"strconv"
	"strings"
)

// Expr is an expression. Printed by itself it stands on one line; a statement
// breaks it over lines where it is too long.
type Expr struct {
	// head is the source up to and including an opening bracket, or all of it.
	head  string
	items []Arg
	// tail is the closing bracket; empty for an expression without brackets.
	tail string
	// bare says that one item takes no comma after it, as in `list[int]`.
	bare bool
	// tuple says that a single item takes a comma, as in `(1,)`.
	tuple bool
	// union are the parts of `X | Y`, which needs parentheses of its own to break.
	union []string
	// signed marks a number with a minus, which gets no parentheses of its own.
	signed bool
	// text is the value of prose, which may be broken between words.
	text string
}

// Arg is an element between brackets: a value, with a key or name before it.
type Arg struct {
	prefix string
	value  Expr
}

// String returns the expression on one line.
func (e Expr) String() string {
	if e.tail == "" {
		return e.head
	}
	var b strings.Builder
	b.WriteString(e.head)
	for i, item := range e.items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item.prefix)
		b.WriteString(item.value.String())
	}
	if e.tuple && len(e.items) == 1 {
		b.WriteString(",")
	}
	b.WriteString(e.tail)
	return b.String()
}

// None, True, False and Ellipsis are Python's constants.
var (
	None     = Expr{head: "None"}
	True     = Expr{head: "True"}
	False    = Expr{head: "False"}
	Ellipsis = Expr{head: "..."}
)

// Bool is a bool literal.
func Bool(value bool) Expr {
	if value {
		return True
	}
	return False
}

// Str is a str literal.
func Str(text string) Expr { return Expr{head: quote(text)} }

// Text is a str literal of prose: where it is too long for its line, it is broken
// between words.
func Text(text string) Expr { return Expr{head: quote(text), text: text} }

// Bytes is a bytes literal.
func Bytes(value []byte) Expr { return Expr{head: quoteBytes(value)} }

// Int is an int literal.
func Int(value int64) Expr { return Expr{head: strconv.FormatInt(value, 10), signed: value < 0} }

// Uint is an int literal.
func Uint(value uint64) Expr { return Expr{head: strconv.FormatUint(value, 10)} }

// Float is an expression for a float: a literal where there is one.
func Float(value float64) Expr {
	switch {
	case math.IsNaN(value):
		return Expr{head: `float("nan")`}
	case math.IsInf(value, 1):
		return Expr{head: `float("inf")`}
	case math.IsInf(value, -1):
		return Expr{head: `float("-inf")`}
	}
	text := strings.ReplaceAll(strconv.FormatFloat(value, 'g', -1, 64), "e+", "e")
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return Expr{head: text, signed: text[0] == '-'}
}

// Name is a variable.
func Name(name Ident) Expr { return Expr{head: name.name} }

// Ref is a name that the generator itself chose, such as `pb.Message`. It is for
// constants: anything that comes from a schema goes through NewIdent. Ref panics
// when the name is not a dotted name.
func Ref(name string) Expr {
	module, err := NewModule(name)
	if err != nil {
		panic(err)
	}
	return Expr{head: module.name}
}

// Attr is an attribute of an expression.
func Attr(value Expr, name Ident) Expr { return Expr{head: value.String() + "." + name.name} }

// Call calls a function.
func Call(function Expr, args ...Arg) Expr {
	return Expr{head: function.String() + "(", items: args, tail: ")"}
}

// Index is a subscript such as `dict[str, int]`.
func Index(value Expr, items ...Expr) Expr {
	return Expr{head: value.String() + "[", items: positional(items), tail: "]", bare: true}
}

// Union is `X | Y`.
func Union(types ...Expr) Expr {
	parts := make([]string, len(types))
	for i, t := range types {
		parts[i] = t.String()
	}
	if len(types) < 2 {
		return Expr{head: strings.Join(parts, " | ")}
	}
	return Expr{head: strings.Join(parts, " | "), union: parts}
}

// List is a list display.
func List(items ...Expr) Expr { return Expr{head: "[", items: positional(items), tail: "]"} }

// Tuple is a tuple display.
func Tuple(items ...Expr) Expr {
	return Expr{head: "(", items: positional(items), tail: ")", tuple: true}
}

// Lambda is a function of one parameter that returns a tuple.
func Lambda(parameter Ident, items ...Expr) Expr {
	return Expr{head: "lambda " + parameter.name + ": (", items: positional(items), tail: ")", tuple: true}
}

// Dict is a dict display.
func Dict(entries ...Arg) Expr { return Expr{head: "{", items: entries, tail: "}"} }

// FrozenSet is a frozenset of the items.
func FrozenSet(items ...Expr) Expr {
	if len(items) == 0 {
		return Expr{head: "frozenset(", tail: ")"}
	}
	return Call(Ref("frozenset"), Pos(Expr{head: "{", items: positional(items), tail: "}"}))
}

// Pos is a positional argument.
func Pos(value Expr) Arg { return Arg{value: value} }

// Key is a keyword argument.
func Key(name Ident, value Expr) Arg { return Arg{prefix: name.name + "=", value: value} }

// Star is a value unpacked into its surroundings, as in `(*a, *b)`.
func Star(value Expr) Expr { return Expr{head: "*" + value.String()} }

// Entry is an entry of a dict.
func Entry(key, value Expr) Arg { return Arg{prefix: key.String() + ": ", value: value} }

func positional(items []Expr) []Arg {
	args := make([]Arg, len(items))
	for i, item := range items {
		args[i] = Pos(item)
	}
	return args
}

// breakable reports whether the expression can go over several lines.
func (e Expr) breakable() bool { return e.tail != "" && len(e.items) > 0 }

// print returns the expression as it stands in a line that is indented by
// indent, begins at the column col and has `after` more columns behind it.
func (e Expr) print(indent, col, after int) string {
	flat := e.String()
	if col+columns(flat)+after <= width {
		return flat
	}
	if e.breakable() {
		return e.explode(indent)
	}
	if e.union != nil {
		return strings.Join(e.union, "\n"+strings.Repeat(" ", indent)+"| ")
	}
	if lines := wrap(e.text, width-indent-4); len(lines) > 1 {
		inner := "\n" + strings.Repeat(" ", indent+4)
		return "(" + inner + strings.Join(lines, inner) + "\n" + strings.Repeat(" ", indent) + ")"
	}
	return flat
}

// wrap breaks prose into literals of at most limit columns, as far as its words
// allow. Every literal but the last ends in the white space behind its last word.
func wrap(text string, limit int) []string {
	var lines []string
	line := ""
	for _, word := range strings.SplitAfter(text, " ") {
		if line != "" && columns(quote(line+word)) > limit {
			lines = append(lines, quote(line))
			line = ""
		}
		line += word
	}
	return append(lines, quote(line))
}

// explode prints one item a line, each followed by a comma: the comma tells the
// formatter to leave it so.
func (e Expr) explode(indent int) string {
	var b strings.Builder
	b.WriteString(e.head)
	b.WriteByte('\n')
	inner := indent + 4
	for _, item := range e.items {
		b.WriteString(strings.Repeat(" ", inner))
		b.WriteString(item.prefix)
		comma := ","
		if e.bare && len(e.items) == 1 {
			comma = ""
		}
		b.WriteString(item.value.print(inner, inner+columns(item.prefix), len(comma)))
		b.WriteString(comma)
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", indent))
	b.WriteString(e.tail)
	return b.String()
}
