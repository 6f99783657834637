package source

import (
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// The options of other projects that agents may carry: the rules of
// protovalidate, and the behaviors of fields. They are read with the
// descriptors that the request has for them, so that the plugin needs no code
// generated for them and no particular version.
const (
	fieldRules      protoreflect.FullName = "buf.validate.field"
	messageRules    protoreflect.FullName = "buf.validate.message"
	oneofRules      protoreflect.FullName = "buf.validate.oneof"
	predefinedRules protoreflect.FullName = "buf.validate.predefined"
	fieldBehavior   protoreflect.FullName = "google.api.field_behavior"
)

// foreignNumbers are the numbers that the options have in every version.
var foreignNumbers = map[protoreflect.FullName]protowire.Number{
	fieldRules: 1159, messageRules: 1159, oneofRules: 1159, predefinedRules: 1160, fieldBehavior: 1052,
}

// foreignFiles are where the options are declared by convention.
var foreignFiles = map[protoreflect.FullName]string{
	fieldRules: "buf/validate/validate.proto", messageRules: "buf/validate/validate.proto",
	oneofRules: "buf/validate/validate.proto", predefinedRules: "buf/validate/validate.proto",
	fieldBehavior: "google/api/field_behavior.proto",
}

// Foreign is an option of another project on a declaration.
type Foreign struct {
	value   protoreflect.Value
	option  protoreflect.ExtensionDescriptor
	file    *file
	path    []int32 // of the option
	element string
}

// Message is what an option that is a message says.
func (o *Foreign) Message() protoreflect.Message { return o.value.Message() }

// Pos is the place of the option, or of what it says at a path of field numbers
// and indexes within it.
func (o *Foreign) Pos(path ...int32) diag.Pos {
	full := append(append([]int32{}, o.path...), path...)
	return o.file.at(full, o.element)
}

// FieldRules reads the buf.validate.field option of a field; nil without one.
func (v *View) FieldRules(d protoreflect.FieldDescriptor) (*Foreign, []diag.Diagnostic) {
	return v.foreign(d, fieldOptionsTag, fieldRules)
}

// MessageRules reads the buf.validate.message option; nil without one.
func (v *View) MessageRules(d protoreflect.MessageDescriptor) (*Foreign, []diag.Diagnostic) {
	return v.foreign(d, messageOptionsTag, messageRules)
}

// OneofRules reads the buf.validate.oneof option; nil without one.
func (v *View) OneofRules(d protoreflect.OneofDescriptor) (*Foreign, []diag.Diagnostic) {
	return v.foreign(d, oneofOptionsTag, oneofRules)
}

// PredefinedRules reads the buf.validate.predefined option of an extension of a
// set of rules; nil without one.
func (v *View) PredefinedRules(d protoreflect.FieldDescriptor) (*Foreign, []diag.Diagnostic) {
	return v.foreign(d, fieldOptionsTag, predefinedRules)
}

// FieldBehavior reads the google.api.field_behavior option of a field: the names
// of its values.
func (v *View) FieldBehavior(d protoreflect.FieldDescriptor) ([]string, []diag.Diagnostic) {
	option, diagnostics := v.foreign(d, fieldOptionsTag, fieldBehavior)
	if option == nil {
		return nil, diagnostics
	}
	var names []string
	if option.option.Enum() == nil || !option.option.IsList() {
		return nil, append(diagnostics, option.unreadable("it is not a list of enum values"))
	}
	for i, list := 0, option.value.List(); i < list.Len(); i++ {
		if value := option.option.Enum().Values().ByNumber(list.Get(i).Enum()); value != nil {
			names = append(names, string(value.Name()))
		}
	}
	return names, diagnostics
}

// foreign reads an option of another project, if the file of the declaration
// sees the file that declares it.
func (v *View) foreign(d protoreflect.Descriptor, optionsTag int32, name protoreflect.FullName) (*Foreign, []diag.Diagnostic) {
	raw := d.Options().ProtoReflect().GetUnknown()
	raw = only(raw, foreignNumbers[name])
	if len(raw) == 0 {
		return nil, nil
	}
	f := v.files[d.ParentFile().Path()]
	option := &Foreign{
		file:    f,
		path:    append(pathOf(d), optionsTag, int32(foreignNumbers[name])),
		element: string(d.FullName()),
	}
	declared, err := v.linked.FindDescriptorByName(name)
	if err != nil {
		for _, imported := range f.proto.GetOptionDependency() {
			if imported == foreignFiles[name] {
				return nil, []diag.Diagnostic{diag.New(diag.MissingImport, option.Pos(),
					"the option %s of %s cannot be read: the file %s, which declares it, is not in the request",
					diag.Code(string(name)), diag.Code(option.element), diag.Code(imported)).
					WithHelp("import the file with a plain `import` instead of `import option`")}
			}
		}
		return nil, nil // Another project's option of that number.
	}
	extension, ok := declared.(protoreflect.ExtensionDescriptor)
	if !ok || extension.Number() != foreignNumbers[name] ||
		extension.ContainingMessage().FullName() != d.Options().ProtoReflect().Descriptor().FullName() {
		return nil, []diag.Diagnostic{diag.New(diag.AnnotationsMismatch, option.Pos(),
			"%s is not declared as protovalidate and the Google APIs publish it", diag.Code(string(name))).
			WithHelp("take the file that declares it from its own project")}
	}
	if !v.sees(f, extension.ParentFile().Path()) {
		return nil, nil
	}
	if v.types == nil {
		v.types = dynamicpb.NewTypes(v.linked)
	}
	resolved, err := v.types.FindExtensionByName(name)
	if err != nil {
		return nil, []diag.Diagnostic{option.unreadable("its declaration cannot be used")}
	}
	extension = resolved.TypeDescriptor()
	option.option = extension
	message := dynamicpb.NewMessage(extension.ContainingMessage())
	if err := (proto.UnmarshalOptions{Resolver: v.types}).Unmarshal(raw, message); err != nil {
		return nil, []diag.Diagnostic{option.unreadable("it is not an encoded option")}
	}
	option.value = message.Get(extension)
	if problem := unknownIn(option.value, extension); problem != "" {
		return nil, []diag.Diagnostic{option.unreadable(problem)}
	}
	return option, nil
}

func (o *Foreign) unreadable(what string) diag.Diagnostic {
	name := "option"
	if o.option != nil {
		name = string(o.option.FullName())
	}
	return diag.New(diag.BadOptionValue, o.Pos(), "option %s of %s: %s", diag.Code(name), diag.Code(o.element), what).
		WithHelp("import the files that declare what it sets, and compile again with buf or protoc")
}

// unknownIn says what a message has that the request does not declare. The rules
// nest as deep as lists of lists would, which protobuf does not have.
func unknownIn(value protoreflect.Value, fd protoreflect.FieldDescriptor) (problem string) {
	if fd.Message() == nil {
		return ""
	}
	if fd.IsList() {
		for i := range value.List().Len() {
			if problem = unknownInMessage(value.List().Get(i).Message()); problem != "" {
				return problem
			}
		}
		return ""
	}
	return unknownInMessage(value.Message())
}

func unknownInMessage(message protoreflect.Message) (problem string) {
	if raw := message.GetUnknown(); len(raw) > 0 {
		number, _, _ := protowire.ConsumeTag(raw)
		return "it sets field " + itoa(uint64(number)) + " of " + diag.Code(string(message.Descriptor().FullName())) +
			", which no file of the request declares"
	}
	message.Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if !fd.IsMap() {
			problem = unknownIn(value, fd)
		}
		return problem == ""
	})
	return problem
}

// only is what the bytes of an options message hold of one field.
func only(raw []byte, number protowire.Number) []byte {
	var found []byte
	for len(raw) > 0 {
		got, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return found
		}
		m := protowire.ConsumeFieldValue(got, kind, raw[n:])
		if m < 0 {
			return found
		}
		if got == number {
			found = append(found, raw[:n+m]...)
		}
		raw = raw[n+m:]
	}
	return found
}

// sees reports whether a file may use the declarations of another one.
func (v *View) sees(f *file, declaring string) bool {
	if f.name() == declaring {
		return true
	}
	exporters := v.foreignExporters[declaring]
	if exporters == nil {
		exporters = v.exporters(v.files[declaring])
		if v.foreignExporters == nil {
			v.foreignExporters = map[string]map[string]bool{}
		}
		v.foreignExporters[declaring] = exporters
	}
	for _, imports := range [][]string{f.proto.GetDependency(), f.proto.GetOptionDependency()} {
		for _, name := range imports {
			if exporters[name] {
				return true
			}
		}
	}
	return false
}

// optionImports are the files that a file imports for its options, as far as the
// request has them.
func (v *View) optionImports(f *descriptorpb.FileDescriptorProto) []string {
	var present []string
	for _, name := range f.GetOptionDependency() {
		if v.files[name] != nil {
			present = append(present, name)
		}
	}
	return present
}

// IsText reports whether a text of an option is valid, and not too long.
func (v *View) IsText(text string) bool { return len(text) <= maxText && utf8.ValidString(text) }
