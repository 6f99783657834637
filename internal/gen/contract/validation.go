package contract

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
)

// rulesOf reads the validation rules of a field.
func (b *builder) rulesOf(fd protoreflect.FieldDescriptor) *Rules {
	option, diagnostics := b.view.FieldRules(fd)
	if option = take(b, option, diagnostics); option == nil {
		return nil
	}
	return b.rules(option, option.Message())
}

// rules converts a buf.validate.FieldRules at a path in an option.
func (b *builder) rules(option *source.Foreign, m protoreflect.Message, path ...int32) *Rules {
	r := &Rules{Pos: option.Pos(path...)}
	for _, fd := range setFields(m) {
		at := append(slices.Clip(path), int32(fd.Number()))
		value := m.Get(fd)
		switch name := string(fd.Name()); {
		case name == "required":
			r.Required = value.Bool()
		case name == "ignore" && fd.Enum() != nil:
			r.Ignore = ignoreOf(fd, value)
		case name == "cel" || name == "cel_expression":
			r.CEL = append(r.CEL, b.expressions(option, fd, value, at)...)
		case fd.Message() != nil && !fd.IsList() && fd.ContainingOneof() != nil:
			r.Type = name
			b.ruleSet(r, option, value.Message(), at)
		default:
			// A rule of a version of protovalidate that is not known here.
			r.Standard = append(r.Standard, Rule{Name: name, Number: int32(fd.Number()), Pos: option.Pos(at...)})
		}
	}
	return r
}

// ruleSet converts the rules of one type, such as buf.validate.StringRules.
func (b *builder) ruleSet(r *Rules, option *source.Foreign, m protoreflect.Message, path []int32) {
	for _, fd := range setFields(m) {
		at := append(slices.Clip(path), int32(fd.Number()))
		value := m.Get(fd)
		switch name := string(fd.Name()); {
		case fd.IsExtension():
			rule := Rule{
				Name:   "[" + string(fd.FullName()) + "]",
				Number: int32(fd.Number()),
				Value:  plainValue(fd, value),
				Pos:    option.Pos(at...),
			}
			predefined, diagnostics := b.view.PredefinedRules(fd)
			if predefined = take(b, predefined, diagnostics); predefined != nil {
				message := predefined.Message()
				if cel := message.Descriptor().Fields().ByName("cel"); cel != nil {
					rule.CEL = b.expressions(predefined, cel, message.Get(cel), []int32{int32(cel.Number())})
				}
			}
			r.Standard = append(r.Standard, rule)
		case name == "items" && fd.Message() != nil:
			r.Items = b.rules(option, value.Message(), at...)
		case name == "keys" && fd.Message() != nil:
			r.Keys = b.rules(option, value.Message(), at...)
		case name == "values" && fd.Message() != nil:
			r.Values = b.rules(option, value.Message(), at...)
		case name == "example":
			// Says nothing about what is valid.
		default:
			r.Standard = append(r.Standard, Rule{
				Name:   name,
				Number: int32(fd.Number()),
				Value:  plainValue(fd, value),
				Pos:    option.Pos(at...),
			})
		}
	}
}

// expressions converts a repeated buf.validate.Rule, or a repeated string of
// expressions that are their own ids.
func (b *builder) expressions(option *source.Foreign, fd protoreflect.FieldDescriptor, value protoreflect.Value, path []int32) []Expression {
	if !fd.IsList() {
		return nil
	}
	var all []Expression
	for i := range value.List().Len() {
		e := Expression{Pos: option.Pos(append(slices.Clip(path), int32(i))...)}
		item := value.List().Get(i)
		if fd.Message() == nil {
			e.ID, e.Expression = item.String(), item.String()
		} else {
			text := func(name protoreflect.Name) string {
				if f := fd.Message().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind {
					return item.Message().Get(f).String()
				}
				return ""
			}
			e.ID, e.Message, e.Expression = text("id"), text("message"), text("expression")
		}
		if !b.view.IsText(e.ID) || !b.view.IsText(e.Message) || !b.view.IsText(e.Expression) {
			b.diagnostics = append(b.diagnostics, diag.New(diag.BadOptionValue, e.Pos,
				"a CEL rule is not valid UTF-8, or longer than an option may be").
				WithHelp("compile the file again with buf or protoc"))
			continue
		}
		all = append(all, e)
	}
	return all
}

// setFields are the fields that a message has, by number, extensions last.
func setFields(m protoreflect.Message) []protoreflect.FieldDescriptor {
	var fields []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, fd)
		return true
	})
	slices.SortFunc(fields, func(a, b protoreflect.FieldDescriptor) int {
		if a.IsExtension() != b.IsExtension() {
			return cmp.Compare(boolOf(a.IsExtension()), boolOf(b.IsExtension()))
		}
		return cmp.Compare(a.Number(), b.Number())
	})
	return fields
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// plainValue is the value of a rule as plain data.
func plainValue(fd protoreflect.FieldDescriptor, value protoreflect.Value) any {
	if fd.IsList() {
		values := make([]any, value.List().Len())
		for i := range values {
			values[i] = plainSingle(fd, value.List().Get(i))
		}
		return values
	}
	return plainSingle(fd, value)
}

func plainSingle(fd protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return value.Bool()
	case protoreflect.EnumKind:
		return int64(value.Enum())
	case protoreflect.StringKind:
		return value.String()
	case protoreflect.BytesKind:
		return slices.Clone(value.Bytes())
	case protoreflect.FloatKind:
		return float32(value.Float())
	case protoreflect.DoubleKind:
		return value.Float()
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return value.Uint()
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return plainMessage(value.Message())
	default:
		return value.Int()
	}
}

// plainMessage is the value of a rule that is a message: those of protovalidate
// are a Duration, a Timestamp, a FieldMask or a wrapper. Any other one has no value.
func plainMessage(m protoreflect.Message) any {
	fields := m.Descriptor().Fields()
	switch m.Descriptor().FullName() {
	case "google.protobuf.Duration", "google.protobuf.Timestamp":
		seconds, nanos := fields.ByName("seconds"), fields.ByName("nanos")
		if seconds == nil || nanos == nil {
			return nil
		}
		if m.Descriptor().Name() == "Timestamp" {
			return Timestamp{Seconds: m.Get(seconds).Int(), Nanos: int32(m.Get(nanos).Int())}
		}
		return Duration{Seconds: m.Get(seconds).Int(), Nanos: int32(m.Get(nanos).Int())}
	case "google.protobuf.FieldMask":
		paths := fields.ByName("paths")
		if paths == nil || !paths.IsList() {
			return nil
		}
		values := Paths{}
		for i, list := 0, m.Get(paths).List(); i < list.Len(); i++ {
			values = append(values, list.Get(i).String())
		}
		return values
	default:
		// The wrappers are what they hold.
		if value := fields.ByName("value"); strings.HasPrefix(string(m.Descriptor().FullName()), "google.protobuf.") &&
			fields.Len() == 1 && value != nil && value.Message() == nil {
			return plainSingle(value, m.Get(value))
		}
		return nil
	}
}

// ignoreOf is when rules do not apply; an unknown way is kept by its name, for
// package rules to refuse.
func ignoreOf(fd protoreflect.FieldDescriptor, value protoreflect.Value) Ignore {
	declared := fd.Enum().Values().ByNumber(value.Enum())
	if declared == nil {
		return Ignore("?")
	}
	name := strings.TrimPrefix(string(declared.Name()), "IGNORE_")
	if name == "UNSPECIFIED" {
		return IgnoreUnset
	}
	return Ignore(name)
}

// messageRulesOf reads the validation rules of a message.
func (b *builder) messageRulesOf(md protoreflect.MessageDescriptor) *MessageRules {
	option, diagnostics := b.view.MessageRules(md)
	if option = take(b, option, diagnostics); option == nil {
		return nil
	}
	r := &MessageRules{Pos: option.Pos()}
	m := option.Message()
	for _, fd := range setFields(m) {
		at := []int32{int32(fd.Number())}
		value := m.Get(fd)
		switch name := string(fd.Name()); {
		case name == "cel" || name == "cel_expression":
			r.CEL = append(r.CEL, b.expressions(option, fd, value, at)...)
		case name == "oneof" && fd.IsList() && fd.Message() != nil:
			for i := range value.List().Len() {
				r.Oneofs = append(r.Oneofs, oneofRule(value.List().Get(i).Message(), option.Pos(at[0], int32(i))))
			}
		default:
			r.Unknown = append(r.Unknown, name)
		}
	}
	return r
}

// ignoreUnset lets the fields of a oneof rule hold their zero value: they count as
// unset then.
func ignoreUnset(m *Message) {
	if m.Rules == nil {
		return
	}
	for _, oneof := range m.Rules.Oneofs {
		for _, f := range m.Fields {
			if f.Rules != nil && f.Rules.Ignore == IgnoreUnset && slices.Contains(oneof.Fields, f.Name) {
				f.Rules.Ignore = IgnoreZero
			}
		}
	}
}

func oneofRule(m protoreflect.Message, pos Pos) OneofRule {
	rule := OneofRule{Pos: pos}
	for _, fd := range setFields(m) {
		switch {
		case fd.Name() == "fields" && fd.IsList():
			for i, list := 0, m.Get(fd).List(); i < list.Len(); i++ {
				rule.Fields = append(rule.Fields, list.Get(i).String())
			}
		case fd.Name() == "required":
			rule.Required = m.Get(fd).Bool()
		}
	}
	return rule
}

// isRequired reports whether one field of a oneof must be set.
func (b *builder) isRequired(od protoreflect.OneofDescriptor) bool {
	option, diagnostics := b.view.OneofRules(od)
	if option = take(b, option, diagnostics); option == nil {
		return false
	}
	required := option.Message().Descriptor().Fields().ByName("required")
	return required != nil && required.Kind() == protoreflect.BoolKind && option.Message().Get(required).Bool()
}

// behaviorsOf reads google.api.field_behavior.
func (b *builder) behaviorsOf(fd protoreflect.FieldDescriptor) []Behavior {
	names, diagnostics := b.view.FieldBehavior(fd)
	var behaviors []Behavior
	for _, name := range take(b, names, diagnostics) {
		behaviors = append(behaviors, Behavior(name))
	}
	return behaviors
}
