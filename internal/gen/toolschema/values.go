package toolschema

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

// field is the schema of a field, with its description.
func (w *writer) field(f *contract.Field) *Schema {
	w.nodes++
	rules := w.rulesOf(f.Rules)
	var s *Schema
	switch f.Cardinality {
	case contract.Repeated:
		items := w.value(f.Kind, f.Type, w.rulesOf(rules.Items))
		w.describe(items, "", false)
		s = &Schema{Type: Types{"array"}, Items: items}
		w.applyList(s, rules, "items")
	case contract.Map:
		s = w.mapping(f, rules)
	default:
		s = w.value(f.Kind, f.Type, rules)
	}
	if !w.output {
		s.notes = append(s.notes, expressionNotes(rules)...)
	}
	return w.describe(s, f.Comment, f.Deprecated)
}

// rulesOf are the rules that a schema tells, never nil.
func (w *writer) rulesOf(r *contract.Rules) *contract.Rules {
	if r == nil || w.output || r.Ignore == contract.IgnoreAlways {
		return &contract.Rules{}
	}
	return r
}

// mapping is a map: an object, or pairs where the names of an object's properties
// have to be known.
func (w *writer) mapping(f *contract.Field, rules *contract.Rules) *Schema {
	value := w.value(f.Kind, f.Type, w.rulesOf(rules.Values))
	w.describe(value, "", false)
	keyRules := w.rulesOf(rules.Keys)
	if !w.provider.Native {
		key := w.value(f.Key, "", keyRules)
		w.describe(key, "", false)
		pair := w.record()
		pair.Required = []string{"key", "value"}
		pair.Properties.Add("key", key)
		pair.Properties.Add("value", value)
		s := &Schema{Type: Types{"array"}, Items: pair, notes: []string{"Pairs of key and value, no key twice."}}
		w.applyList(s, rules, "pairs")
		return s
	}
	s := &Schema{Type: Types{"object"}, AdditionalProperties: value}
	switch f.Key {
	case contract.KindString:
		names := w.value(f.Key, "", keyRules)
		// What no keyword says is said of the map.
		s.notes = append(s.notes, prefixed("Keys: ", append(names.notes, expressionNotes(keyRules)...))...)
		names.notes, names.Type = nil, nil
		if names.isConstrained() {
			s.PropertyNames = names
		}
	case contract.KindBool:
		s.PropertyNames = &Schema{Enum: []any{"true", "false"}}
	default:
		s.PropertyNames = &Schema{Pattern: integerPattern(f.Key)}
		s.notes = append(s.notes, prefixed("Keys: ", ruleNotes(keyRules, nil))...)
	}
	w.applyList(s, rules, "pairs")
	return s
}

// isConstrained reports whether the names of a map's keys are limited.
func (s *Schema) isConstrained() bool {
	return s.Pattern != "" || s.Format != "" || len(s.Enum) > 0 || s.Not != nil || s.MinLength != nil || s.MaxLength != nil
}

// value is the schema of one value, without a description.
func (w *writer) value(kind contract.Kind, typeName string, rules *contract.Rules) *Schema {
	switch kind {
	case contract.KindEnum:
		return w.enum(w.enums[typeName], typeName, rules)
	case contract.KindMessage:
		if m := w.messages[typeName]; m != nil {
			return w.message(m)
		}
		return w.wellKnown(typeName, rules)
	default:
		return w.scalar(kind, rules)
	}
}

func (w *writer) scalar(kind contract.Kind, rules *contract.Rules) *Schema {
	switch kind {
	case contract.KindBool:
		s := &Schema{Type: Types{"boolean"}}
		w.apply(s, rules, said{})
		return s
	case contract.KindString:
		return w.stringValue(rules)
	case contract.KindBytes:
		s := &Schema{Type: Types{"string"}}
		if w.provider.has("contentEncoding") {
			s.ContentEncoding = "base64"
		} else {
			s.notes = append(s.notes, "Base64.")
		}
		s.notes = append(s.notes, ruleNotes(rules, nil)...)
		return s
	case contract.KindFloat, contract.KindDouble:
		return w.float(rules)
	case contract.KindInt32, contract.KindSint32, contract.KindSfixed32:
		return w.integer(rules, math.MinInt32, math.MaxInt32)
	case contract.KindUint32, contract.KindFixed32:
		return w.integer(rules, 0, math.MaxUint32)
	default:
		return w.bigInteger(kind, rules)
	}
}

// integer is a number of 32 bits.
func (w *writer) integer(rules *contract.Rules, low, high int64) *Schema {
	s := &Schema{Type: Types{"integer"}}
	done := said{}
	tight := [2]bool{low == 0, false}
	if w.provider.has("minimum") && !rules.IsOutside() {
		for _, rule := range rules.Standard {
			number, ok := integerOf(rule.Value)
			if !ok {
				continue
			}
			switch rule.Name {
			case "gt":
				low, tight[0] = number+1, true
			case "gte":
				low, tight[0] = number, true
			case "lt":
				high, tight[1] = number-1, true
			case "lte":
				high, tight[1] = number, true
			default:
				continue
			}
			done[rule.Name] = true
		}
	}
	// The range of the type is no news to a model, but a validator needs it.
	if w.provider.has("minimum") && (tight[0] || w.provider.Native) {
		s.Minimum = json.Number(strconv.FormatInt(low, 10))
	}
	if w.provider.has("maximum") && (tight[1] || w.provider.Native) {
		s.Maximum = json.Number(strconv.FormatInt(high, 10))
	}
	w.apply(s, rules, done)
	return s
}

func integerOf(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case uint64:
		return int64(value), value <= math.MaxInt64
	default:
		return 0, false
	}
}

// bigInteger is a number of 64 bits, which ProtoJSON writes as text: readers of
// JSON round numbers as large as that.
func (w *writer) bigInteger(kind contract.Kind, rules *contract.Rules) *Schema {
	s := &Schema{Type: Types{"string"}, notes: []string{"A 64-bit integer as text."}}
	if w.output {
		s.notes = nil
	}
	if w.provider.has("pattern") {
		s.Pattern = integerPattern(kind)
	}
	w.apply(s, rules, said{})
	return s
}

func integerPattern(kind contract.Kind) string {
	if strings.HasPrefix(string(kind), "uint") || strings.HasPrefix(string(kind), "fixed") {
		return "^[0-9]+$"
	}
	return "^-?[0-9]+$"
}

func (w *writer) float(rules *contract.Rules) *Schema {
	if w.output {
		return &Schema{AnyOf: []*Schema{
			{Type: Types{"number"}},
			{Type: Types{"string"}, Enum: []any{"NaN", "Infinity", "-Infinity"}},
		}}
	}
	s := &Schema{Type: Types{"number"}}
	done := said{}
	if !rules.IsOutside() {
		for _, rule := range rules.Standard {
			keyword := map[string]string{
				"gt": "exclusiveMinimum", "gte": "minimum", "lt": "exclusiveMaximum", "lte": "maximum",
			}[rule.Name]
			number, ok := floatOf(rule.Value)
			if keyword == "" || !ok || !w.provider.has(keyword) {
				continue
			}
			done[rule.Name] = true
			switch rule.Name {
			case "gt":
				s.ExclusiveMinimum = number
			case "gte":
				s.Minimum = number
			case "lt":
				s.ExclusiveMaximum = number
			case "lte":
				s.Maximum = number
			}
		}
	}
	w.apply(s, rules, done)
	return s
}

func floatOf(value any) (json.Number, bool) {
	switch value := value.(type) {
	case float32:
		if math.IsInf(float64(value), 0) || value != value {
			return "", false
		}
		return json.Number(strconv.FormatFloat(float64(value), 'g', -1, 32)), true
	case float64:
		if math.IsInf(value, 0) || value != value {
			return "", false
		}
		return json.Number(strconv.FormatFloat(value, 'g', -1, 64)), true
	default:
		return "", false
	}
}

// enum is an enum by the names of its values, the first name of each number.
func (w *writer) enum(e *contract.Enum, typeName string, rules *contract.Rules) *Schema {
	if e == nil { // google.protobuf.NullValue
		if w.provider.Native {
			return &Schema{Type: Types{"null"}}
		}
		return &Schema{Type: Types{"string"}, Enum: []any{"NULL_VALUE"}}
	}
	s := &Schema{Type: Types{"string"}}
	seen := map[int32]bool{}
	var remarks []string
	for _, v := range e.Values {
		if seen[v.Number] || !rules.AllowNumber(int64(v.Number)) {
			continue
		}
		seen[v.Number] = true
		s.Enum = append(s.Enum, v.Name)
		if remark := strings.Join(strings.Fields(v.Comment), " "); remark != "" {
			remarks = append(remarks, "\n"+v.Name+": "+remark)
		}
	}
	if w.output {
		if !e.Closed {
			return &Schema{AnyOf: []*Schema{s, {Type: Types{"integer"}}}}
		}
		return s
	}
	s.about, s.notes = sentences(e.Comment), remarks
	return s
}

// wellKnown is a well-known type.
func (w *writer) wellKnown(typeName string, rules *contract.Rules) *Schema {
	native := w.provider.Native
	anything := Types{"null", "boolean", "number", "string", "array", "object"}
	var s *Schema
	switch name := strings.TrimPrefix(typeName, "google.protobuf."); name {
	case "BoolValue", "BytesValue", "DoubleValue", "FloatValue", "Int32Value", "Int64Value", "StringValue",
		"UInt32Value", "UInt64Value":
		return w.scalar(contract.Kind(strings.ToLower(strings.TrimSuffix(name, "Value"))), rules)
	case "Timestamp":
		s = &Schema{Type: Types{"string"}, Format: "date-time"}
	case "Duration":
		s = &Schema{Type: Types{"string"}}
		if w.provider.has("pattern") {
			s.Pattern = `^-?[0-9]+(\.[0-9]{1,9})?s$`
		}
		s.notes = append(s.notes, "Seconds followed by s, such as 1.5s.")
	case "FieldMask":
		s = text("Paths of fields in lowerCamelCase, joined by commas.")
	case "Empty":
		s = w.record()
		if w.provider.AllRequired {
			s.Required = []string{}
		}
	case "Value":
		s = text("Any JSON value, as JSON text.")
		if native {
			s = &Schema{Type: anything}
		}
	case "ListValue":
		s = text("A JSON array, as text.")
		if native {
			s = &Schema{Type: Types{"array"}, Items: &Schema{Type: anything}}
		}
	case "Any":
		s = text("A JSON object with the type URL as @type, as text.")
		if native {
			s = &Schema{Type: Types{"object"}, Properties: &Members{}, Required: []string{"@type"}}
			s.Properties.Add("@type", &Schema{Type: Types{"string"}})
			if w.output { // An Any that holds nothing.
				s.Required = nil
			}
		}
	default: // Struct, and chat messages, which are LangChain's.
		s = text("A JSON object, as text.")
		if native {
			s = &Schema{Type: Types{"object"}}
		}
	}
	if w.output {
		s.notes = nil
	}
	w.apply(s, rules, said{})
	return s
}
