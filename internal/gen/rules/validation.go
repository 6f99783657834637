package rules

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// checkValidation checks the buf.validate rules of every message that an agent's
// package has a model of: none of them may be lost in it.
func (c *checker) checkValidation() {
	seen := make(map[*contract.Message]bool)
	for _, agent := range c.contract.Agents {
		for _, message := range agent.Messages {
			if seen[message] {
				continue
			}
			seen[message] = true
			c.checkMessageRules(message)
			for _, field := range message.Fields {
				c.checkFieldRules(field)
			}
		}
		if agent.State != nil {
			c.checkStateRules(agent.State)
		}
	}
}

func (c *checker) checkMessageRules(message *contract.Message) {
	rules := message.Rules
	if rules == nil {
		return
	}
	for _, name := range rules.Unknown {
		c.report(unknownRule(rules.Pos, name, message.FullName))
	}
	for _, oneof := range rules.Oneofs {
		c.checkOneofRule(message, oneof)
	}
}

func (c *checker) checkOneofRule(message *contract.Message, oneof contract.OneofRule) {
	bad := func(format string, args ...any) {
		c.report(diag.New(diag.BadRule, oneof.Pos, "the oneof rule of message %s %s", diag.Code(message.FullName), fmt.Sprintf(format, args...)).
			WithHelp("list fields of the message, each of them once"))
	}
	if len(oneof.Fields) == 0 {
		bad("lists no fields")
	}
	for i, name := range oneof.Fields {
		switch {
		case slices.Contains(oneof.Fields[:i], name):
			bad("lists %s twice", diag.Code(name))
		case !slices.ContainsFunc(message.Fields, func(f *contract.Field) bool { return f.Name == name }):
			bad("lists %s, which the message does not have", diag.Code(name))
		}
	}
}

func (c *checker) checkFieldRules(field *contract.Field) {
	rules := field.Rules
	if rules == nil {
		return
	}
	kind := ruleKind(field.Kind, field.Type)
	if rules.Ignore == contract.IgnoreAlways {
		return
	}
	switch field.Cardinality {
	case contract.Repeated:
		c.checkRules(field, rules, "repeated", "")
		c.checkRules(field, rules.Items, kind, "items of ")
	case contract.Map:
		c.checkRules(field, rules, "map", "")
		c.checkRules(field, rules.Keys, ruleKind(field.Key, ""), "keys of ")
		c.checkRules(field, rules.Values, kind, "values of ")
	default:
		c.checkRules(field, rules, kind, "")
	}
}

// checkRules checks the rules of one value, which are of a kind.
func (c *checker) checkRules(field *contract.Field, rules *contract.Rules, kind, of string) {
	if rules == nil {
		return
	}
	name := of + diag.Code(field.Pos.Element)
	switch rules.Ignore {
	case contract.IgnoreUnset, contract.IgnoreZero, contract.IgnoreAlways:
	default:
		c.report(unknownRule(rules.Pos, "ignore: IGNORE_"+string(rules.Ignore), field.Pos.Element))
	}
	if rules.Type != "" && rules.Type != kind {
		wanted := "has no rules of its own"
		if kind != "" {
			wanted = "takes those for " + diag.Code(kind)
		}
		c.report(diag.New(diag.RuleMismatch, rules.Pos, "%s has rules for %s, and %s", name, diag.Code(rules.Type), wanted).
			WithHelp("use the rules for the type of the field, or a CEL rule"))
		return
	}
	for _, rule := range rules.Standard {
		c.checkRule(field, rules, rule, name)
	}
}

func (c *checker) checkRule(field *contract.Field, rules *contract.Rules, rule contract.Rule, name string) {
	switch {
	case strings.HasPrefix(rule.Name, "[") && (len(rule.CEL) == 0 || rule.Value == nil):
		c.report(diag.New(diag.UnsupportedRule, rule.Pos,
			"%s has the predefined rule %s, which has no CEL expression or a value that is a message", name, diag.Code(rule.Name)).
			WithHelp("give the rule an expression and a scalar value, or use a CEL rule"))
	case strings.HasPrefix(rule.Name, "["):
	case !isStandard(rules.Type, rule.Name):
		c.report(unknownRule(rule.Pos, rule.Name, field.Pos.Element))
	case rule.Name == "pattern":
		text, _ := rule.Value.(string)
		if _, err := syntax.Parse(text, syntax.Perl); err != nil {
			c.report(diag.New(diag.BadRule, rule.Pos, "%s has the pattern %s, which is no RE2 expression: %s",
				name, diag.Code(text), err.(*syntax.Error).Code).
				WithHelp("write the pattern in the syntax of RE2, which has no look-around and no back-references"))
		}
	}
}

func unknownRule(pos contract.Pos, rule, element string) diag.Diagnostic {
	return diag.New(diag.UnknownRule, pos, "%s has the rule %s, which this version of the plugin does not know",
		diag.Code(element), diag.Code(rule)).
		WithHelp("update the plugin, or express the rule in CEL")
}

// checkStateRules reports the rules of a state that nothing can keep: a state
// begins empty, and nodes write it in parts.
func (c *checker) checkStateRules(state *contract.Message) {
	lost := func(pos contract.Pos, format string, args ...any) {
		c.report(diag.New(diag.StateRule, pos, "%s", fmt.Sprintf(format, args...)).
			WithHelp("move what the rule is about into a message that a field of the state holds"))
	}
	if rules := state.Rules; rules != nil && (len(rules.CEL) > 0 || len(rules.Oneofs) > 0) {
		lost(rules.Pos, "state %s has rules for the whole message, and nodes write it field by field", diag.Code(state.FullName))
	}
	for _, oneof := range state.Oneofs {
		if oneof.Required {
			lost(oneof.Pos, "oneof %s of a state is required, and a state begins empty", diag.Code(oneof.Pos.Element))
		}
	}
	for _, field := range state.Fields {
		rules := field.Rules
		if rules == nil || rules.Ignore == contract.IgnoreAlways {
			continue
		}
		input := field.State != nil && field.State.PublicInput.Value
		switch {
		case field.Type == contract.ChatMessage && !isFreeOfChecks(rules):
			lost(rules.Pos, "state field %s holds chat messages, which are not checked", diag.Code(field.Pos.Element))
		case rules.Required && !input:
			lost(rules.Pos, "state field %s is required and no public input, and a state begins empty", diag.Code(field.Pos.Element))
		}
	}
}

func isFreeOfChecks(r *contract.Rules) bool {
	return !r.Required && len(r.Standard) == 0 && len(r.CEL) == 0 && r.Items == nil && r.Keys == nil && r.Values == nil
}

// ruleKind is the set of rules for a type; empty for messages of one's own.
func ruleKind(kind contract.Kind, typeName string) string {
	switch kind {
	case contract.KindMessage:
		return wellKnownRules[typeName]
	default:
		return string(kind)
	}
}

// wellKnownRules are the sets of rules for well-known types.
var wellKnownRules = map[string]string{
	"google.protobuf.Any": "any", "google.protobuf.Duration": "duration",
	"google.protobuf.FieldMask": "field_mask", "google.protobuf.Timestamp": "timestamp",
	"google.protobuf.BoolValue": "bool", "google.protobuf.BytesValue": "bytes",
	"google.protobuf.DoubleValue": "double", "google.protobuf.FloatValue": "float",
	"google.protobuf.Int32Value": "int32", "google.protobuf.Int64Value": "int64",
	"google.protobuf.StringValue": "string",
	"google.protobuf.UInt32Value": "uint32", "google.protobuf.UInt64Value": "uint64",
}

// isStandard reports whether a set of rules has a rule, in the version of
// protovalidate that the models follow.
func isStandard(set, rule string) bool {
	known, ok := standardRules[set]
	if !ok {
		known = standardRules["number"]
	}
	return slices.Contains(known, rule) || rule == "finite" && (set == "float" || set == "double")
}

// standardRules are the rules of each set; examples say nothing.
var standardRules = map[string][]string{
	"number": {"const", "lt", "lte", "gt", "gte", "in", "not_in"},
	"bool":   {"const"},
	"string": {
		"const", "len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes", "pattern", "prefix", "suffix",
		"contains", "not_contains", "in", "not_in", "email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref",
		"address", "uuid", "tuuid", "ulid", "ip_with_prefixlen", "ipv4_with_prefixlen", "ipv6_with_prefixlen",
		"ip_prefix", "ipv4_prefix", "ipv6_prefix", "host_and_port", "protobuf_fqn", "protobuf_dot_fqn",
		"well_known_regex", "strict",
	},
	"bytes": {
		"const", "len", "min_len", "max_len", "pattern", "prefix", "suffix", "contains", "in", "not_in",
		"ip", "ipv4", "ipv6", "uuid",
	},
	"enum":       {"const", "defined_only", "in", "not_in"},
	"repeated":   {"min_items", "max_items", "unique"},
	"map":        {"min_pairs", "max_pairs"},
	"any":        {"in", "not_in"},
	"duration":   {"const", "lt", "lte", "gt", "gte", "in", "not_in"},
	"field_mask": {"const", "in", "not_in"},
	"timestamp":  {"const", "lt", "lte", "lt_now", "gt", "gte", "gt_now", "within"},
}
