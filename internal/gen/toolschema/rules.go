package toolschema

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

// said are the rules that a schema has told already.
type said map[string]bool

// apply tells the rules of a value: what keywords can say in keywords, the rest in
// words.
func (w *writer) apply(s *Schema, rules *contract.Rules, done said) {
	for _, rule := range rules.Standard {
		values, _ := rule.Value.([]any)
		switch rule.Name {
		case "const":
			values = []any{rule.Value}
		case "in":
		case "not_in":
			if forbidden, ok := jsonValues(s, values); ok && w.provider.has("not") {
				s.Not, done[rule.Name] = &Schema{Enum: forbidden}, true
			}
			continue
		default:
			continue
		}
		if allowed, ok := jsonValues(s, values); ok {
			s.Enum, done[rule.Name] = allowed, true
		}
	}
	s.notes = append(s.notes, ruleNotes(rules, done)...)
}

// jsonValues are values of rules as the schema's own kind of JSON; only texts and
// whole numbers are compared exactly by everyone.
func jsonValues(s *Schema, values []any) ([]any, bool) {
	var all []any
	for _, value := range values {
		number, isInteger := integerOf(value)
		switch _, isText := value.(string); {
		case isText && slices.Equal(s.Type, Types{"string"}):
			all = append(all, value)
		case isInteger && slices.Equal(s.Type, Types{"integer"}):
			all = append(all, number)
		case isInteger && s.Pattern != "":
			all = append(all, fmt.Sprint(number))
		default:
			return nil, false
		}
	}
	return all, len(all) > 0
}

// stringValue is a string.
func (w *writer) stringValue(rules *contract.Rules) *Schema {
	s := &Schema{Type: Types{"string"}}
	done := said{}
	for _, rule := range rules.Standard {
		text, _ := rule.Value.(string)
		number, _ := rule.Value.(uint64)
		pattern := ""
		switch name := rule.Name; name {
		case "len", "min_len", "max_len":
			if !w.provider.has("minLength") {
				continue
			}
			if name != "max_len" {
				s.MinLength = &number
			}
			if name != "min_len" {
				s.MaxLength = &number
			}
			done[name] = true
		case "pattern":
			if isPortable(text) {
				pattern = text
			}
		case "prefix":
			pattern = "^" + regexp.QuoteMeta(text)
		case "suffix":
			pattern = regexp.QuoteMeta(text) + "$"
		case "contains":
			pattern = regexp.QuoteMeta(text)
		default:
			format := formats[name]
			if format != "" && rule.Value == true && w.provider.hasFormat(format) {
				s.Format, done[name] = format, true
			}
		}
		if pattern != "" && s.Pattern == "" && w.provider.has("pattern") {
			s.Pattern, done[rule.Name] = pattern, true
		}
	}
	w.apply(s, rules, done)
	return s
}

// formats are the formats of JSON Schema for the forms of text.
var formats = map[string]string{
	"email": "email", "hostname": "hostname", "ipv4": "ipv4", "ipv6": "ipv6",
	"uri": "uri", "uri_ref": "uri-reference", "uuid": "uuid",
}

// unportable is what RE2 has and ECMA-262, which JSON Schema wants, has not or
// reads in another way.
var unportable = regexp.MustCompile(`\(\?[^:]|\\[AzQECpPaX]|\[\[:|\\x\{`)

func isPortable(pattern string) bool { return !unportable.MatchString(pattern) }

// applyList tells the rules for the number of items of a list or pairs of a map.
func (w *writer) applyList(s *Schema, rules *contract.Rules, unit string) {
	done := said{}
	isObject := slices.Equal(s.Type, Types{"object"})
	for _, rule := range rules.Standard {
		number, _ := rule.Value.(uint64)
		switch rule.Name {
		case "min_items", "min_pairs":
			if isObject {
				s.MinProperties, done[rule.Name] = &number, true
			} else if w.provider.has("minItems") {
				s.MinItems, done[rule.Name] = &number, true
			}
		case "max_items", "max_pairs":
			if isObject {
				s.MaxProperties, done[rule.Name] = &number, true
			} else if w.provider.has("maxItems") {
				s.MaxItems, done[rule.Name] = &number, true
			}
		case "unique":
			if rule.Value == true && w.provider.has("uniqueItems") {
				s.UniqueItems, done[rule.Name] = true, true
			}
		}
	}
	// Of an implicit list, `required` says that it is not empty.
	if rules.Required && rules.Find("min_"+unit) == nil {
		one := uint64(1)
		switch {
		case isObject:
			s.MinProperties = &one
		case w.provider.has("minItems"):
			s.MinItems = &one
		default:
			s.notes = append(s.notes, "At least 1 of them.")
		}
	}
	s.notes = append(s.notes, ruleNotes(rules, done)...)
}

// ruleNotes are rules in words, without those that are told already.
func ruleNotes(rules *contract.Rules, done said) []string {
	var notes []string
	if note := rangeNote(rules, done); note != "" {
		notes = append(notes, note)
	}
	for _, rule := range rules.Standard {
		if done[rule.Name] {
			continue
		}
		if note := ruleNote(rules, rule); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// rangeNote is a range in words.
func rangeNote(rules *contract.Rules, done said) string {
	var parts []string
	for _, name := range []string{"gt", "gte", "lt", "lte"} {
		if rule := rules.Find(name); rule != nil && !done[name] {
			parts = append(parts, map[string]string{
				"gt": "greater than ", "gte": "at least ", "lt": "less than ", "lte": "at most ",
			}[name]+show(rule.Value))
		}
	}
	joined := " and "
	if rules.IsOutside() {
		joined = " or "
	}
	return sentence(strings.Join(parts, joined))
}

// ruleNote is a rule in words; empty for one that models need not know.
func ruleNote(rules *contract.Rules, rule contract.Rule) string {
	unit := "characters"
	if rules.Type == "bytes" {
		unit = "bytes"
	}
	values, _ := rule.Value.([]any)
	switch name := rule.Name; name {
	case "const":
		return "Always " + show(rule.Value) + "."
	case "in":
		return listNote(rules.Type, "The type is one of ", "Only the paths ", "One of ") + showAll(values) + "."
	case "not_in":
		return listNote(rules.Type, "The type is none of ", "None of the paths ", "None of ") + showAll(values) + "."
	case "len":
		return fmt.Sprintf("Exactly %v %s.", rule.Value, unit)
	case "min_len":
		return fmt.Sprintf("At least %v %s.", rule.Value, unit)
	case "max_len":
		return fmt.Sprintf("At most %v %s.", rule.Value, unit)
	case "len_bytes":
		return fmt.Sprintf("Exactly %v bytes in UTF-8.", rule.Value)
	case "min_bytes":
		return fmt.Sprintf("At least %v bytes in UTF-8.", rule.Value)
	case "max_bytes":
		return fmt.Sprintf("At most %v bytes in UTF-8.", rule.Value)
	case "min_items", "min_pairs":
		return fmt.Sprintf("At least %v of them.", rule.Value)
	case "max_items", "max_pairs":
		return fmt.Sprintf("At most %v of them.", rule.Value)
	case "unique":
		return whenTrue(rule, "None of them twice.")
	case "pattern":
		return "Matches the regular expression " + show(rule.Value) + "."
	case "prefix":
		return "Starts with " + show(rule.Value) + "."
	case "suffix":
		return "Ends with " + show(rule.Value) + "."
	case "contains":
		return "Contains " + show(rule.Value) + "."
	case "not_contains":
		return "Does not contain " + show(rule.Value) + "."
	case "lt_now":
		return whenTrue(rule, "In the past.")
	case "gt_now":
		return whenTrue(rule, "In the future.")
	case "within":
		return "Within " + show(rule.Value) + " of now."
	case "well_known_regex":
		return map[any]string{int64(1): "The name of an HTTP header.", int64(2): "The value of an HTTP header."}[rule.Value]
	default:
		return whenTrue(rule, formNotes[name])
	}
}

// listNote is the phrase before a list, for what a set of rules is about.
func listNote(set, ofType, ofPaths, ofValues string) string {
	switch set {
	case "any":
		return ofType
	case "field_mask":
		return ofPaths
	default:
		return ofValues
	}
}

func whenTrue(rule contract.Rule, note string) string {
	if rule.Value == true {
		return note
	}
	return ""
}

// formNotes are the forms of text in words.
var formNotes = map[string]string{
	"email": "An email address.", "hostname": "A hostname.", "address": "A hostname or an IP address.",
	"ip": "An IP address.", "ipv4": "An IPv4 address.", "ipv6": "An IPv6 address.",
	"ip_with_prefixlen":   "An IP address with the length of a prefix, such as 192.0.2.1/24.",
	"ipv4_with_prefixlen": "An IPv4 address with the length of a prefix, such as 192.0.2.1/24.",
	"ipv6_with_prefixlen": "An IPv6 address with the length of a prefix, such as 2001:db8::1/64.",
	"ip_prefix":           "An IP prefix, such as 192.0.2.0/24.", "ipv4_prefix": "An IPv4 prefix, such as 192.0.2.0/24.",
	"ipv6_prefix": "An IPv6 prefix, such as 2001:db8::/64.",
	"uri":         "A URI.", "uri_ref": "A URI or a relative reference.",
	"uuid": "A UUID.", "tuuid": "A UUID without hyphens.", "ulid": "A ULID.",
	"host_and_port": "A host and a port, such as example.com:80.",
	"protobuf_fqn":  "A full name of protobuf.", "protobuf_dot_fqn": "A full name of protobuf with a dot before it.",
}

// expressionNotes are the rules in CEL: what they say of a value that breaks them.
func expressionNotes(rules *contract.Rules) []string {
	var notes []string
	for _, rule := range rules.Standard {
		for _, e := range rule.CEL {
			notes = append(notes, expressionNote(e, "rule = "+show(rule.Value)))
		}
	}
	for _, e := range rules.CEL {
		notes = append(notes, expressionNote(e, ""))
	}
	return notes
}

func expressionNote(e contract.Expression, with string) string {
	if e.Message != "" {
		return sentence(e.Message)
	}
	note := "Must satisfy `" + e.Expression + "`"
	if with != "" {
		note += ", where " + with
	}
	return note + "."
}

// messageNotes are the rules for a whole message.
func (w *writer) messageNotes(m *contract.Message) []string {
	if m.Rules == nil {
		return nil
	}
	var notes []string
	for _, oneof := range m.Rules.Oneofs {
		var keys []string
		for _, f := range m.Fields {
			if slices.Contains(oneof.Fields, f.Name) {
				keys = append(keys, w.key(m, f))
			}
		}
		notes = append(notes, oneofNote(keys, oneof.Required))
	}
	for _, e := range m.Rules.CEL {
		notes = append(notes, expressionNote(e, ""))
	}
	return notes
}

// oneofNote says how many of some properties may be set.
func oneofNote(keys []string, required bool) string {
	count := "at most"
	if required {
		count = "exactly"
	}
	return "Set " + count + " one of " + list(keys) + "."
}

// show prints a value of a rule.
func show(value any) string {
	switch value := value.(type) {
	case string:
		return strconv.Quote(value)
	case []byte:
		return strconv.Quote(base64.StdEncoding.EncodeToString(value)) + " in Base64"
	case contract.Paths:
		return strings.Join(value, ",")
	case []any:
		return showAll(value)
	default:
		return fmt.Sprint(value)
	}
}

func showAll(values []any) string {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = show(value)
	}
	return list(shown)
}

func list(names []string) string { return strings.Join(names, ", ") }
