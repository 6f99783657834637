package source

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	annotationsv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/annotations/v1"
	commonv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/common/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Option is an option on a declaration.
type Option[M proto.Message] struct {
	// Value is what the option says.
	Value M
	file  *file
	path  []int32 // of the option
	// element is the full name of the declaration.
	element string
}

// Pos is the place of the option, or of one of its fields by its number and, in
// a repeated field, the index of the element.
func (o *Option[M]) Pos(field ...int32) diag.Pos {
	path := slices.Concat(o.path, field)
	if len(field) == 2 {
		// Compilers record a list `[a, b]` once, at the index of its first element.
		for ; path[len(path)-1] > 0; path[len(path)-1]-- {
			if o.file.locations().byPath[pathKey(path)] != nil {
				break
			}
		}
	}
	return o.file.at(path, o.element)
}

// Role reads the msg_role option of a message; nil without one.
func (v *View) Role(d protoreflect.MessageDescriptor) (*Option[*annotationsv1.MessageRoleOption], []diag.Diagnostic) {
	return read(v, d, messageOptionsTag, annotationsv1.E_MsgRole, &annotationsv1.MessageRoleOption{})
}

// EventFact reads the event_fact option of a message; nil without one.
func (v *View) EventFact(d protoreflect.MessageDescriptor) (*Option[*commonv1.EventFactOption], []diag.Diagnostic) {
	return read(v, d, messageOptionsTag, commonv1.E_EventFact, &commonv1.EventFactOption{})
}

// StateField reads the state_field option of a field; nil without one.
func (v *View) StateField(d protoreflect.FieldDescriptor) (*Option[*annotationsv1.StateFieldOption], []diag.Diagnostic) {
	return read(v, d, fieldOptionsTag, annotationsv1.E_StateField, &annotationsv1.StateFieldOption{})
}

// ToolField reads the tool_field option of a field; nil without one.
func (v *View) ToolField(d protoreflect.FieldDescriptor) (*Option[*annotationsv1.ToolFieldOption], []diag.Diagnostic) {
	return read(v, d, fieldOptionsTag, annotationsv1.E_ToolField, &annotationsv1.ToolFieldOption{})
}

// Agent reads the agent option of a service; nil without one.
func (v *View) Agent(d protoreflect.ServiceDescriptor) (*Option[*annotationsv1.AgentServiceOption], []diag.Diagnostic) {
	return read(v, d, serviceOptionsTag, annotationsv1.E_Agent, &annotationsv1.AgentServiceOption{})
}

// Tool reads the tool option of a method; nil without one.
func (v *View) Tool(d protoreflect.MethodDescriptor) (*Option[*annotationsv1.ToolMethodOption], []diag.Diagnostic) {
	return read(v, d, methodOptionsTag, annotationsv1.E_Tool, &annotationsv1.ToolMethodOption{})
}

// read decodes an option from the bytes of the options message, if the file of
// the declaration can use it.
func read[M proto.Message](v *View, d protoreflect.Descriptor, optionsTag int32, xt protoreflect.ExtensionType, into M) (*Option[M], []diag.Diagnostic) {
	f := v.files[d.ParentFile().Path()]
	for x := range f.ours {
		if !f.ours[x] || x.shape.FullName() != xt.TypeDescriptor().Message().FullName() {
			continue
		}
		raw, found := x.find(d.Options().ProtoReflect().GetUnknown())
		if !found {
			continue
		}
		option := &Option[M]{
			Value:   into,
			file:    f,
			path:    append(pathOf(d), optionsTag, int32(x.number)),
			element: string(d.FullName()),
		}
		if err := (proto.UnmarshalOptions{Resolver: Resolver{}}).Unmarshal(raw, into); err != nil {
			return nil, []diag.Diagnostic{badOption(x, option.Pos(), option.element, "it is not an encoded option message").
				WithHelp("compile the files again with buf or protoc")}
		}
		return option, option.check(x)
	}
	return nil, nil
}

// check refuses what the option says and this plugin does not know: dropping it
// would generate something else than the author asked for.
func (o *Option[M]) check(x *extension) []diag.Diagnostic {
	var diagnostics []diag.Diagnostic
	report := func(pos diag.Pos, what string) {
		diagnostics = append(diagnostics, badOption(x, pos, o.element, what).
			WithHelp("remove it, or use a version of the plugin that knows it"))
	}
	message := o.Value.ProtoReflect()
	fields := message.Descriptor().Fields()
	for raw := message.GetUnknown(); len(raw) > 0; {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			break
		}
		value := raw[n:]
		m := protowire.ConsumeFieldValue(number, kind, value)
		if m < 0 {
			break
		}
		raw = value[m:]
		switch field := fields.ByNumber(number); {
		case field == nil:
			report(o.Pos(int32(number)), "it sets field "+itoa(uint64(number))+", which this version of the plugin does not know")
		default:
			report(o.Pos(int32(number)), diag.Code(string(field.Name()))+" is encoded as another type")
		}
	}
	for i := range fields.Len() {
		field := fields.Get(i)
		name, number := diag.Code(string(field.Name())), int32(field.Number())
		checkText := func(value string, pos diag.Pos) {
			switch {
			case !utf8.ValidString(value):
				report(pos, name+" is not valid UTF-8")
			case len(value) > maxText:
				report(pos, name+" is longer than "+itoa(maxText)+" bytes")
			}
		}
		switch value := message.Get(field); {
		case field.Enum() != nil:
			if field.Enum().Values().ByNumber(value.Enum()) == nil {
				report(o.Pos(number), fmt.Sprintf("%s is %d, which is not one of its values", name, value.Enum()))
				message.Clear(field)
			}
		case field.Kind() != protoreflect.StringKind:
		case field.IsList():
			for list, j := value.List(), 0; j < list.Len(); j++ {
				checkText(list.Get(j).String(), o.Pos(number, int32(j)))
			}
		default:
			checkText(value.String(), o.Pos(number))
		}
	}
	return diagnostics
}

func badOption(x *extension, pos diag.Pos, element, what string) diag.Diagnostic {
	return diag.New(diag.BadOptionValue, pos, "option %s of %s: %s", diag.Code(x.fullName), diag.Code(element), what)
}
