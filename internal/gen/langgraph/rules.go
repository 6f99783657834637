package langgraph

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// constraints are the validation rules of one value as metadata of its type:
// Pydantic's own where it has them, in one `Field`, and those of support/rules.py.
type constraints struct {
	field []py.Arg
	rules []py.Expr
	// unsigned says that the value is an unsigned number, which Python's type does not.
	unsigned bool
	uses     *uses
}

func (c *constraints) own(name string, value py.Expr) {
	c.uses.field = true
	c.field = append(c.field, py.Key(mustIdent(name), value))
}

func (c *constraints) rule(name string, args ...py.Arg) {
	c.uses.rules = true
	c.rules = append(c.rules, py.Call(py.Ref("rules."+name), args...))
}

func (c *constraints) format(name string) {
	c.uses.rules = true
	c.rules = append(c.rules, py.Ref("rules."+strings.ToUpper(name)))
}

func (c *constraints) metadata() []py.Expr {
	var all []py.Expr
	if len(c.field) > 0 {
		all = append(all, py.Call(py.Ref("Field"), c.field...))
	}
	return append(all, c.rules...)
}

// isFree reports whether rules say nothing at all.
func isFree(r *contract.Rules) bool { return r == nil || r.Ignore == contract.IgnoreAlways }

// checks are the rules of a field as metadata of its whole type, which is plain.
func (t *types) checks(f *field, plain py.Expr, u *uses) []py.Expr {
	r := f.Rules
	if isFree(r) {
		return t.ignored(f, r, u)
	}
	c := t.constrain(f, r, isUnsigned(plain), u)
	implicit := f.Presence == contract.Implicit
	if implicit && r.Ignore == contract.IgnoreZero && (len(c.field) > 0 || len(c.rules) > 0) {
		c.rule("IgnoreZero")
	}
	if implicit && r.Required {
		c.rule("Required")
	}
	return c.metadata()
}

// ignored marks a value whose messages are not held to their rules.
func (t *types) ignored(f *field, r *contract.Rules, u *uses) []py.Expr {
	m := t.models[f.Type]
	if r == nil || r.Ignore != contract.IgnoreAlways || m == nil || !m.message.HasRules(t.message) {
		return nil
	}
	u.rules = true
	return []py.Expr{py.Call(py.Ref("rules.Ignored"))}
}

func (t *types) message(fullName string) *contract.Message {
	if m := t.models[fullName]; m != nil {
		return m.message
	}
	return nil
}

// element is the type of an item of a list, or of a key or value of a map, with
// the rules of it.
func (t *types) element(f *field, plain py.Expr, r *contract.Rules, u *uses) py.Expr {
	metadata := t.ignored(f, r, u)
	if !isFree(r) {
		c := t.constrain(f, r, isUnsigned(plain), u)
		if r.Ignore == contract.IgnoreZero && (len(c.field) > 0 || len(c.rules) > 0) {
			c.rule("IgnoreZero")
		}
		metadata = c.metadata()
	}
	if len(metadata) == 0 {
		return plain
	}
	u.annotated = true
	return py.Index(py.Ref("Annotated"), append([]py.Expr{plain}, metadata...)...)
}

// formats are the rules that say the form of a text or of bytes: constants of
// support/rules.py with the same names.
var formats = words(`
	address email host_and_port hostname ip ip_prefix ip_with_prefixlen ipv4 ipv4_prefix ipv4_with_prefixlen
	ipv6 ipv6_prefix ipv6_with_prefixlen protobuf_dot_fqn protobuf_fqn tuuid ulid uri uri_ref uuid`)

// sizes are Pydantic's names of the rules for lengths.
var sizes = map[string][]string{
	"len": {"min_length", "max_length"}, "min_len": {"min_length"}, "max_len": {"max_length"},
	"min_items": {"min_length"}, "max_items": {"max_length"},
	"min_pairs": {"min_length"}, "max_pairs": {"max_length"},
}

// bounds are Pydantic's names of the rules for numbers.
var bounds = map[string]string{"lt": "lt", "lte": "le", "gt": "gt", "gte": "ge"}

// constrain turns the rules of one value into metadata.
func (t *types) constrain(f *field, r *contract.Rules, unsigned bool, u *uses) *constraints {
	c := &constraints{unsigned: unsigned, uses: u}
	if r.Type == "duration" || r.Type == "timestamp" {
		t.constrainTime(c, r)
	} else {
		c.constrainRange(r)
		c.constrainByteLength(r)
	}
	for _, rule := range r.Standard {
		values, _ := rule.Value.([]any)
		switch name := rule.Name; {
		case len(rule.CEL) > 0:
			for _, e := range rule.CEL {
				c.expression(e, &rule)
			}
		case sizes[name] != nil:
			for _, own := range sizes[name] {
				number, _ := rule.Value.(uint64)
				c.own(own, py.Uint(number))
			}
		case name == "pattern" && r.Type == "string":
			text, _ := rule.Value.(string)
			c.own("pattern", py.Str(rustPattern(text)))
		case name == "pattern":
			text, _ := rule.Value.(string)
			c.rule("BytesPattern", py.Pos(py.Str(rustPattern(text))))
		case name == "finite" && rule.Value == true:
			c.own("allow_inf_nan", py.False)
		case name == "defined_only" && rule.Value == true:
			c.rule("Defined")
		case name == "unique" && rule.Value == true:
			c.rule("Unique")
		case name == "const":
			c.rule("Const", py.Pos(t.literal(f, rule.Value)))
		case r.Type == "any" && name == "in":
			c.rule("AnyIn", t.literals(f, values)...)
		case r.Type == "any" && name == "not_in":
			c.rule("AnyNotIn", t.literals(f, values)...)
		case r.Type == "field_mask" && name == "in":
			c.rule("PathsIn", t.literals(f, values)...)
		case r.Type == "field_mask" && name == "not_in":
			c.rule("PathsNotIn", t.literals(f, values)...)
		case name == "in":
			c.rule("In", t.literals(f, values)...)
		case name == "not_in":
			c.rule("NotIn", t.literals(f, values)...)
		case name == "prefix":
			c.rule("Prefix", py.Pos(t.literal(f, rule.Value)))
		case name == "suffix":
			c.rule("Suffix", py.Pos(t.literal(f, rule.Value)))
		case name == "contains":
			c.rule("Contains", py.Pos(t.literal(f, rule.Value)))
		case name == "not_contains":
			c.rule("NotContains", py.Pos(t.literal(f, rule.Value)))
		case name == "well_known_regex":
			c.constrainHeader(r, rule.Value)
		case formats[name] && rule.Value == true:
			c.format(name)
		}
	}
	for _, e := range r.CEL {
		c.expression(e, nil)
	}
	return c
}

// constrainRange adds the range of a number.
func (c *constraints) constrainRange(r *contract.Rules) {
	outside := r.IsOutside()
	var args []py.Arg
	for _, name := range []string{"gt", "gte", "lt", "lte"} {
		rule := r.Find(name)
		if rule == nil {
			continue
		}
		if outside {
			args = append(args, py.Key(mustIdent(name), plainLiteral(rule.Value)))
		} else {
			c.own(bounds[name], plainLiteral(rule.Value))
		}
	}
	if outside {
		c.rule("Outside", args...)
	}
}

// constrainByteLength adds the length of a text in bytes.
func (c *constraints) constrainByteLength(r *contract.Rules) {
	var args []py.Arg
	add := func(name, rule string) {
		if found := r.Find(rule); found != nil {
			args = append(args, py.Key(mustIdent(name), plainLiteral(found.Value)))
		}
	}
	add("exact", "len_bytes")
	add("min", "min_bytes")
	add("max", "max_bytes")
	if len(args) > 0 {
		c.rule("ByteLength", args...)
	}
}

// constrainTime adds the range of a duration or a timestamp.
func (t *types) constrainTime(c *constraints, r *contract.Rules) {
	var args []py.Arg
	for _, name := range []string{"gt", "gte", "lt", "lte", "within"} {
		if rule := r.Find(name); rule != nil {
			args = append(args, py.Key(mustIdent(name), py.Str(timeText(rule.Value))))
		}
	}
	for _, name := range []string{"lt_now", "gt_now"} {
		if rule := r.Find(name); rule != nil && rule.Value == true {
			args = append(args, py.Key(mustIdent(name), py.True))
		}
	}
	if len(args) > 0 {
		c.rule(map[string]string{"duration": "Duration", "timestamp": "Timestamp"}[r.Type], args...)
	}
}

func timeText(value any) string {
	switch value := value.(type) {
	case contract.Duration:
		return value.String()
	case contract.Timestamp:
		return value.String()
	default:
		return ""
	}
}

func (c *constraints) constrainHeader(r *contract.Rules, value any) {
	loose := ""
	if strict := r.Find("strict"); strict != nil && strict.Value == false {
		loose = "loose_"
	}
	switch value {
	case int64(1):
		c.format(loose + "http_header_name")
	case int64(2):
		c.format(loose + "http_header_value")
	}
}

// expression adds a rule in CEL; of a predefined rule, with what the rule says.
func (c *constraints) expression(e contract.Expression, rule *contract.Rule) {
	c.uses.rules = true
	c.rules = append(c.rules, celRule(e, rule, c.unsigned))
}

// isUnsigned reports whether a type is one of unsigned numbers.
func isUnsigned(plain py.Expr) bool { return strings.HasPrefix(plain.String(), "pb.UInt") }

func celRule(e contract.Expression, rule *contract.Rule, unsigned bool) py.Expr {
	args := []py.Arg{py.Pos(py.Text(e.Expression))}
	if e.ID != "" && e.ID != e.Expression {
		args = append(args, py.Key(mustIdent("id"), py.Str(e.ID)))
	}
	if e.Message != "" {
		args = append(args, py.Key(mustIdent("message"), py.Text(e.Message)))
	}
	if unsigned {
		args = append(args, py.Key(mustIdent("this_type"), py.Ref("pb.UInt64")))
	}
	if rule != nil {
		args = append(args, py.Key(mustIdent("rule"), ruleValue(rule.Value)))
		if unsigned := unsignedType(rule.Value); unsigned != "" {
			args = append(args, py.Key(mustIdent("rule_type"), py.Ref(unsigned)))
		}
	}
	return py.Call(py.Ref("rules.Cel"), args...)
}

// ruleValue is the value of a predefined rule.
func ruleValue(value any) py.Expr {
	switch value := value.(type) {
	case []any:
		var items []py.Expr
		for _, item := range value {
			items = append(items, ruleValue(item))
		}
		return py.List(items...)
	default:
		return plainLiteral(value)
	}
}

// unsignedType is the type of a value that Python does not tell from a signed one.
func unsignedType(value any) string {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	if _, ok := value.(uint64); ok {
		return "pb.UInt64"
	}
	return ""
}

// plainLiteral is a value of a rule in Python.
func plainLiteral(value any) py.Expr {
	switch value := value.(type) {
	case bool:
		return py.Bool(value)
	case int64:
		return py.Int(value)
	case uint64:
		return py.Uint(value)
	case float32:
		return py.Float(float64(value))
	case float64:
		return py.Float(value)
	case string:
		return py.Str(value)
	case []byte:
		return py.Bytes(value)
	case contract.Duration:
		return py.Call(py.Ref("pb.Duration.parse"), py.Pos(py.Str(value.String())))
	case contract.Timestamp:
		return py.Call(py.Ref("pb.Timestamp.parse"), py.Pos(py.Str(value.String())))
	case contract.Paths:
		paths := make([]py.Expr, len(value))
		for i, path := range value {
			paths[i] = py.Str(path)
		}
		return py.Call(py.Ref("pb.FieldMask"), py.Key(mustIdent("paths"), py.List(paths...)))
	default:
		return py.None
	}
}

// literal is a value of a rule for a field: of an enum, its member.
func (t *types) literal(f *field, value any) py.Expr {
	wanted, isInt := value.(int64)
	if names, ok := t.enums[f.Type]; ok && isInt && f.Kind == contract.KindEnum {
		for i, declared := range names.enum.Values {
			if int64(declared.Number) == wanted {
				return py.Attr(py.Name(names.class), names.members[i])
			}
		}
	}
	return plainLiteral(value)
}

func (t *types) literals(f *field, values []any) []py.Arg {
	args := make([]py.Arg, len(values))
	for i, value := range values {
		args[i] = py.Pos(t.literal(f, value))
	}
	return args
}

// messageRules are the rules of a message as arguments of its class.
func (t *types) messageRules(m *model, u *uses) []py.Arg {
	var all []py.Expr
	r := m.message.Rules
	if r != nil {
		for _, oneof := range r.Oneofs {
			var args []py.Arg
			for _, f := range m.fields {
				if slices.Contains(oneof.Fields, f.Name) {
					args = append(args, py.Pos(py.Str(f.name.String())))
				}
			}
			if oneof.Required {
				args = append(args, py.Key(mustIdent("required"), py.True))
			}
			all = append(all, py.Call(py.Ref("rules.AtMostOne"), args...))
		}
		for _, e := range r.CEL {
			all = append(all, celRule(e, nil, false))
		}
	}
	var args []py.Arg
	if len(all) > 0 {
		u.rules = true
		args = append(args, py.Key(mustIdent("rules"), py.Tuple(all...)))
	}
	return args
}

// hasExpression reports whether rules have any in CEL that applies.
func hasExpression(r *contract.Rules) bool {
	if isFree(r) {
		return false
	}
	return len(r.CEL) > 0 ||
		slices.ContainsFunc(r.Standard, func(rule contract.Rule) bool { return len(rule.CEL) > 0 }) ||
		hasExpression(r.Items) || hasExpression(r.Keys) || hasExpression(r.Values)
}

// usesExpressions reports whether an agent needs a library for CEL.
func usesExpressions(a *contract.Agent) bool {
	return slices.ContainsFunc(a.Messages, func(m *contract.Message) bool {
		return m.Rules != nil && len(m.Rules.CEL) > 0 ||
			slices.ContainsFunc(m.Fields, func(f *contract.Field) bool { return hasExpression(f.Rules) })
	})
}

// rustPattern is a regular expression of RE2 in the syntax of Pydantic's, which
// takes Unicode for what RE2 takes ASCII, and knows more operators in classes.
func rustPattern(pattern string) string {
	if translated, ok := translate(pattern); ok {
		return translated
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pattern
	}
	return wordBoundaries.Replace(parsed.String())
}

// A boundary of words is about ASCII in RE2. A backslash before it is one of its own.
var wordBoundaries = strings.NewReplacer(`\\`, `\\`, `\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`)

// translate rewrites the classes of ASCII and keeps the rest as it is written. It
// gives up on a pattern that the two syntaxes may read differently.
func translate(pattern string) (string, bool) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			i++
			escaped, ok := translateEscape(pattern[i], inClass)
			if !ok {
				return "", false
			}
			b.WriteString(escaped)
			if length := strings.IndexByte(pattern[i:], '}'); strings.HasPrefix(pattern[i+1:], "{") &&
				strings.IndexByte("pPx", pattern[i]) >= 0 && length > 0 {
				b.WriteString(pattern[i+1 : i+length+1])
				i += length
			}
			continue
		case inClass && strings.IndexByte("[&~", c) >= 0, inClass && strings.HasPrefix(pattern[i:], "--"):
			return "", false
		case c == '[' && !inClass:
			inClass = true
			// A bracket that stands first belongs to the class.
			if strings.HasPrefix(strings.TrimPrefix(pattern[i+1:], "^"), "]") {
				return "", false
			}
		case c == ']':
			inClass = false
		case !inClass && (c == '{' || c == '}') && !counted(pattern, i),
			!inClass && strings.HasPrefix(pattern[i:], "(?") && !strings.HasPrefix(pattern[i:], "(?:"):
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// asciiClasses are the classes that Pydantic's engine takes as Unicode.
var asciiClasses = map[byte]string{'d': "0-9", 'w': "0-9A-Za-z_", 's': `\t\n\f\r `}

func translateEscape(c byte, inClass bool) (string, bool) {
	lower := c | 0x20
	class := asciiClasses[lower]
	switch {
	case class != "" && inClass:
		return class, c == lower
	case class != "" && c == lower:
		return "[" + class + "]", true
	case class != "":
		return "[^" + class + "]", true
	case strings.IndexByte("01234567bBCQEvaZ<>", c) >= 0:
		return "", false
	default:
		return `\` + string(c), true
	}
}

// counted reports whether a brace belongs to a repetition such as `{2,3}`.
func counted(pattern string, at int) bool {
	start := strings.LastIndexByte(pattern[:at+1], '{')
	if start < 0 {
		return false
	}
	length := strings.IndexByte(pattern[start:], '}')
	if length < 0 {
		return false
	}
	low, high, _ := strings.Cut(pattern[start+1:start+length], ",")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return low != "" && digits(low) && digits(high)
}
