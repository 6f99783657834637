package source

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	annotationsv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/annotations/v1"
	commonv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/common/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Resolver finds no extension. A request that is unmarshalled with it keeps
// every option as bytes: whether a field is our option cannot be known before
// the request has been read, and another project's option on one of our numbers
// would otherwise be taken for ours or break the decoding.
type Resolver struct{}

var _ protoregistry.ExtensionTypeResolver = Resolver{}

// FindExtensionByName finds nothing.
func (Resolver) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

// FindExtensionByNumber finds nothing.
func (Resolver) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

// The messages that our options extend.
const (
	messageOptions protoreflect.FullName = "google.protobuf.MessageOptions"
	fieldOptions   protoreflect.FullName = "google.protobuf.FieldOptions"
	serviceOptions protoreflect.FullName = "google.protobuf.ServiceOptions"
	methodOptions  protoreflect.FullName = "google.protobuf.MethodOptions"
)

// commonPackage is where event_fact lives, besides the sibling of a copy of the
// annotations.
const commonPackage = "ameide_core_proto.common.v1"

// The options of the annotations, as this plugin knows them.
func known() []protoreflect.ExtensionType {
	return []protoreflect.ExtensionType{
		annotationsv1.E_MsgRole,
		annotationsv1.E_StateField,
		annotationsv1.E_Agent,
		annotationsv1.E_Tool,
		annotationsv1.E_ToolField,
	}
}

// isOurs reports whether a number is one of our options, or another project's
// option with the same number.
func isOurs(number int32) bool { return 51001 <= number && number <= 51006 }

// extension is one of our options under the full name that a request may
// declare it with.
type extension struct {
	fullName string
	extendee protoreflect.FullName
	number   protowire.Number
	shape    protoreflect.MessageDescriptor
	declared *declaration // nil when no file of the request declares it
	// exporters are the files whose importers see the declaration; made when
	// first asked for.
	exporters map[string]bool
}

// declaration is a declaration of an option in a file of the request.
type declaration struct {
	file  *file
	proto *descriptorpb.FieldDescriptorProto
	path  []int32
}

// annotations are the options that a request can carry.
type annotations struct {
	pkg        string
	extensions []*extension
}

var annotationsSuffix = regexp.MustCompile(`\.annotations(\.v[0-9]+[a-z0-9]*)?$`)

// recognise finds the declarations of our options in the request and compares
// them with the ones that this plugin was built with.
func recognise(v *View, pkg string) (*annotations, []diag.Diagnostic) {
	a := &annotations{pkg: pkg}
	add := func(pkg string, xt protoreflect.ExtensionType) {
		d := xt.TypeDescriptor()
		a.extensions = append(a.extensions, &extension{
			fullName: pkg + "." + string(d.Name()),
			extendee: d.ContainingMessage().FullName(),
			number:   d.Number(),
			shape:    d.Message(),
		})
	}
	for _, xt := range known() {
		add(pkg, xt)
	}
	add(commonPackage, commonv1.E_EventFact)
	if sibling := annotationsSuffix.ReplaceAllString(pkg, ".common$1"); sibling != pkg && sibling != commonPackage {
		add(sibling, commonv1.E_EventFact)
	}

	byName := map[string]*extension{}
	packages := map[string]bool{}
	for _, x := range a.extensions {
		byName[x.fullName] = x
		packages[x.fullName[:strings.LastIndexByte(x.fullName, '.')]] = true
	}
	var diagnostics []diag.Diagnostic
	for _, name := range v.names {
		f := v.files[name]
		if !packages[f.proto.GetPackage()] {
			continue
		}
		for i, declared := range f.proto.GetExtension() {
			x := byName[qualify(f.proto.GetPackage(), declared.GetName())]
			if x == nil {
				continue
			}
			d := &declaration{file: f, proto: declared, path: []int32{fileExtensionTag, int32(i)}}
			if first := x.declared; first != nil {
				diagnostics = append(diagnostics, diag.New(diag.AnnotationsMismatch,
					f.nameAt(d.path, x.fullName),
					"%s is declared twice", diag.Code(x.fullName)).
					WithNote(first.file.nameAt(first.path, x.fullName), "the other declaration").
					WithHelp("remove one of the files that declare it"))
				return a, diagnostics
			}
			x.declared = d
			diagnostics = append(diagnostics, x.compare(v, d)...)
		}
	}
	return a, diagnostics
}

// carriedBy finds which of our numbers the options of a file hold.
func (a *annotations) carriedBy(f *file) map[*extension]bool {
	var carried map[*extension]bool
	look := func(options proto.Message, extendee protoreflect.FullName) {
		raw := options.ProtoReflect().GetUnknown()
		if len(raw) == 0 {
			return
		}
		for _, x := range a.extensions {
			if x.extendee != extendee || carried[x] {
				continue
			}
			if _, found := x.find(raw); found {
				if carried == nil {
					carried = map[*extension]bool{}
				}
				carried[x] = true
			}
		}
	}
	for _, service := range f.proto.GetService() {
		look(service.GetOptions(), serviceOptions)
		for _, method := range service.GetMethod() {
			look(method.GetOptions(), methodOptions)
		}
	}
	for message := range messages(f.proto) {
		look(message.proto.GetOptions(), messageOptions)
		for _, field := range message.proto.GetField() {
			look(field.GetOptions(), fieldOptions)
		}
	}
	return carried
}

// usableBy finds which of our options the file can use. A compiler may leave out
// a file that is imported for its options alone; then the path of the import is
// all that says whose options they are.
func (a *annotations) usableBy(v *View, f *file) map[*extension]bool {
	usable := map[*extension]bool{}
	for _, x := range a.extensions {
		if x.declared == nil {
			usable[x] = slices.ContainsFunc(f.proto.GetOptionDependency(), func(name string) bool {
				return v.files[name] == nil && path.Dir(name) == x.folder()
			})
			continue
		}
		if x.exporters == nil {
			x.exporters = v.exporters(x.declared.file)
		}
		exports := func(name string) bool { return x.exporters[name] }
		usable[x] = f == x.declared.file ||
			slices.ContainsFunc(f.proto.GetDependency(), exports) ||
			slices.ContainsFunc(f.proto.GetOptionDependency(), exports)
	}
	return usable
}

// isOurFile reports whether a file declares our options, or has the path of one
// that does.
func (a *annotations) isOurFile(name string) bool {
	return slices.ContainsFunc(a.extensions, func(x *extension) bool {
		return path.Dir(name) == x.folder() || x.declared != nil && x.declared.file.name() == name
	})
}

// folder is where a file of the extension's package lies by convention.
func (x *extension) folder() string {
	return path.Dir(strings.ReplaceAll(x.fullName, ".", "/"))
}

// find takes the value of the option out of the bytes of an options message: of
// several parts, which a compiler may write, all together.
func (x *extension) find(raw []byte) (value []byte, found bool) {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return value, found
		}
		raw = raw[n:]
		var part []byte
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return value, found
		}
		if number == x.number {
			switch kind {
			case protowire.BytesType:
				part, _ = protowire.ConsumeBytes(raw)
			case protowire.StartGroupType:
				part, _ = protowire.ConsumeGroup(number, raw)
			default:
				raw = raw[n:]
				continue
			}
			value, found = append(value, part...), true
		}
		raw = raw[n:]
	}
	return value, found
}

// compare says where a declaration disagrees with the option as we know it. It
// may lack fields and values, and may have more; what both have must be equal.
func (x *extension) compare(v *View, d *declaration) []diag.Diagnostic {
	var diagnostics []diag.Diagnostic
	report := func(f *file, path []int32, element, format string, args ...any) {
		diagnostics = append(diagnostics, diag.New(diag.AnnotationsMismatch, f.nameAt(path, element),
			"%s does not agree with the annotations that this plugin reads: %s",
			diag.Code(element), fmt.Sprintf(format, args...)).
			WithHelp("take the declaration from the annotations that are published with this plugin"))
	}
	wrong := func(format string, args ...any) { report(d.file, d.path, x.fullName, format, args...) }
	if got := d.proto.GetNumber(); protowire.Number(got) != x.number {
		wrong("its number is %d and should be %d", got, x.number)
	}
	if got := strings.TrimPrefix(d.proto.GetExtendee(), "."); got != string(x.extendee) {
		wrong("it extends %s and should extend %s", diag.Code(got), diag.Code(string(x.extendee)))
	}
	if d.proto.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
		wrong("it is repeated and should not be")
	}
	if kind := d.proto.GetType(); kind != descriptorpb.FieldDescriptorProto_TYPE_MESSAGE && kind != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		wrong("its type is %s and should be a message", kindName(kind))
		return diagnostics
	}
	typeName := strings.TrimPrefix(d.proto.GetTypeName(), ".")
	f, copied := v.findMessage(d.file, typeName)
	if copied == nil {
		wrong("its type %s is not in the request", diag.Code(typeName))
		return diagnostics
	}
	for i, field := range copied.proto.GetField() {
		path := append(copied.path(), messageFieldTag, int32(i))
		element := qualify(typeName, field.GetName())
		if problem := compareField(v, f, x.shape, field); problem != "" {
			report(f, path, element, "%s", problem)
		}
	}
	return diagnostics
}

// compareField says how a field of a copy disagrees with the field that we know,
// or "".
func compareField(v *View, f *file, shape protoreflect.MessageDescriptor, field *descriptorpb.FieldDescriptorProto) string {
	if same := shape.Fields().ByName(protoreflect.Name(field.GetName())); same != nil && int32(same.Number()) != field.GetNumber() {
		return fmt.Sprintf("its number is %d and should be %d", field.GetNumber(), same.Number())
	}
	want := shape.Fields().ByNumber(protowire.Number(field.GetNumber()))
	if want == nil {
		return "" // Newer annotations: refused where the field is used.
	}
	repeated := field.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	switch {
	case string(want.Name()) != field.GetName():
		return fmt.Sprintf("its name should be %s", diag.Code(string(want.Name())))
	case int(want.Kind()) != int(field.GetType()):
		return fmt.Sprintf("its type is %s and should be %s", kindName(field.GetType()), want.Kind())
	case want.IsList() && !repeated:
		return "it should be repeated"
	case !want.IsList() && repeated:
		return "it should not be repeated"
	case !repeated && !hasPresence(f.proto, field):
		return "it cannot tell an unset value from a default one; declare it `optional`"
	}
	if want.Enum() == nil {
		return ""
	}
	copied := v.findEnum(f, strings.TrimPrefix(field.GetTypeName(), "."))
	if copied == nil {
		return fmt.Sprintf("its type %s is not in the request", diag.Code(field.GetTypeName()))
	}
	return compareEnum(want.Enum(), copied)
}

func compareEnum(want protoreflect.EnumDescriptor, copied *descriptorpb.EnumDescriptorProto) string {
	agreed := map[int32]bool{}
	for _, value := range copied.GetValue() {
		same := want.Values().ByName(protoreflect.Name(value.GetName()))
		if same == nil {
			continue
		}
		if int32(same.Number()) != value.GetNumber() {
			return fmt.Sprintf("its value %s is %d and should be %d", diag.Code(value.GetName()), value.GetNumber(), same.Number())
		}
		agreed[value.GetNumber()] = true
	}
	for _, value := range copied.GetValue() {
		same := want.Values().ByNumber(protoreflect.EnumNumber(value.GetNumber()))
		if same != nil && !agreed[value.GetNumber()] {
			return fmt.Sprintf("its value %d is called %s and should be called %s",
				value.GetNumber(), diag.Code(value.GetName()), diag.Code(string(same.Name())))
		}
	}
	return ""
}

// hasPresence reports whether a singular field tells unset from default.
func hasPresence(fd *descriptorpb.FileDescriptorProto, field *descriptorpb.FieldDescriptorProto) bool {
	switch fd.GetSyntax() {
	case "proto3":
		return field.GetProto3Optional() || field.OneofIndex != nil
	case "editions":
		presence := field.GetOptions().GetFeatures().GetFieldPresence()
		if presence == descriptorpb.FeatureSet_FIELD_PRESENCE_UNKNOWN {
			presence = fd.GetOptions().GetFeatures().GetFieldPresence()
		}
		return presence != descriptorpb.FeatureSet_IMPLICIT
	default:
		return true
	}
}

func kindName(kind descriptorpb.FieldDescriptorProto_Type) string {
	return strings.ToLower(strings.TrimPrefix(kind.String(), "TYPE_"))
}

// findMessage finds a message that a file may name.
func (v *View) findMessage(f *file, fullName string) (*file, *message) {
	for _, other := range v.visibleFiles(f) {
		for m := range messages(other.proto) {
			if m.fullName(other.proto) == fullName {
				return other, m
			}
		}
	}
	return nil, nil
}

// findEnum finds an enum that a file may name.
func (v *View) findEnum(f *file, fullName string) *descriptorpb.EnumDescriptorProto {
	for _, other := range v.visibleFiles(f) {
		for _, enum := range other.proto.GetEnumType() {
			if qualify(other.proto.GetPackage(), enum.GetName()) == fullName {
				return enum
			}
		}
		for m := range messages(other.proto) {
			for _, enum := range m.proto.GetEnumType() {
				if qualify(m.fullName(other.proto), enum.GetName()) == fullName {
					return enum
				}
			}
		}
	}
	return nil
}

// visibleFiles are the files that the file sees, in the order of their names,
// the file itself first.
func (v *View) visibleFiles(f *file) []*file {
	visible := v.visible(f)
	files := []*file{f}
	for _, name := range v.names {
		if visible[name] && name != f.name() {
			files = append(files, v.files[name])
		}
	}
	return files
}
