package source

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Limits of a request. They lie far above what people write and compilers
// accept; a request beyond them was made by hand, to exhaust something.
const (
	maxRequest     = 512 << 20 // bytes
	maxFiles       = 50_000
	maxNesting     = 31     // messages; protoc's own limit
	maxChildren    = 20_000 // of one message, enum or service, of one kind
	maxElements    = 4_000_000
	maxName        = 512       // bytes of a name or a package
	maxFileName    = 1_024     // bytes
	maxText        = 256 << 10 // bytes of a comment or an option
	maxPublicPaths = 1_000_000 // ways through public imports
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// checkLimits refuses a request that linking could choke on. It runs over the
// raw descriptors, without recursion.
func checkLimits(request *pluginpb.CodeGeneratorRequest, v *View) []diag.Diagnostic {
	over := func(pos diag.Pos, what string, got, limit int) []diag.Diagnostic {
		return []diag.Diagnostic{diag.New(diag.LimitExceeded, pos, "%s: %d; the limit is %d", what, got, limit).
			WithHelp("make it smaller: what compilers accept and people write stays far below the limit")}
	}
	if size := proto.Size(request); size > maxRequest {
		return over(diag.Pos{}, "the request is too large, in bytes", size, maxRequest)
	}
	if len(v.files) > maxFiles {
		return over(diag.Pos{}, "the request has too many files", len(v.files), maxFiles)
	}
	elements := 0
	for _, name := range v.names {
		f := v.files[name]
		if what, path, element, got, limit := f.exceeds(&elements); what != "" {
			return over(f.at(path, element), what, got, limit)
		}
		if elements > maxElements {
			return over(diag.Pos{Path: name}, "the request has too many declarations", elements, maxElements)
		}
	}
	return nil
}

// exceeds finds the first limit that a file exceeds.
func (f *file) exceeds(elements *int) (what string, path []int32, element string, got, limit int) {
	check := func(description string, n, most int, at func() ([]int32, string)) bool {
		if what != "" || n <= most {
			return what != ""
		}
		what, got, limit = description, n, most
		path, element = at()
		return true
	}
	fd := f.proto
	top := func() ([]int32, string) { return nil, "" }
	if check("the name of a file is too long, in bytes", len(fd.GetName()), maxFileName, top) ||
		check("the name of a package is too long, in bytes", len(fd.GetPackage()), maxName, top) ||
		check("a file has too many imports", len(fd.GetDependency())+len(fd.GetOptionDependency()), maxChildren, top) {
		return
	}
	names := func(name string, at func() ([]int32, string)) bool {
		return check("a name is too long, in bytes", len(name), maxName, at)
	}
	enums := func(parent func() ([]int32, string), enums []*descriptorpb.EnumDescriptorProto) bool {
		*elements += len(enums)
		for _, enum := range enums {
			*elements += len(enum.GetValue())
			if names(enum.GetName(), parent) ||
				check("an enum has too many values", len(enum.GetValue()), maxChildren, parent) ||
				check("an enum has too many reserved ranges", len(enum.GetReservedRange())+len(enum.GetReservedName()), maxChildren, parent) {
				return true
			}
			for _, value := range enum.GetValue() {
				if names(value.GetName(), parent) {
					return true
				}
			}
		}
		return false
	}
	*elements += len(fd.GetService()) + len(fd.GetExtension())
	if enums(top, fd.GetEnumType()) {
		return
	}
	for i, service := range fd.GetService() {
		at := func() ([]int32, string) {
			return []int32{fileServiceTag, int32(i)}, qualify(fd.GetPackage(), service.GetName())
		}
		*elements += len(service.GetMethod())
		if names(service.GetName(), at) || check("a service has too many methods", len(service.GetMethod()), maxChildren, at) {
			return
		}
		for _, method := range service.GetMethod() {
			if names(method.GetName(), at) {
				return
			}
		}
	}
	for m := range messages(fd) {
		at := func() ([]int32, string) { return m.path(), m.fullName(fd) }
		p := m.proto
		*elements += 1 + len(p.GetField()) + len(p.GetExtension()) + len(p.GetOneofDecl())
		if check("messages are nested too deeply, in levels", m.depth, maxNesting, at) ||
			names(p.GetName(), at) ||
			check("a message has too many fields", len(p.GetField()), maxChildren, at) ||
			check("a message has too many extensions", len(p.GetExtension()), maxChildren, at) ||
			check("a message has too many oneofs", len(p.GetOneofDecl()), maxChildren, at) ||
			check("a message has too many reserved or extension ranges",
				len(p.GetReservedRange())+len(p.GetReservedName())+len(p.GetExtensionRange()), maxChildren, at) ||
			enums(at, p.GetEnumType()) {
			return
		}
		for _, field := range p.GetField() {
			if names(field.GetName(), at) || names(field.GetJsonName(), at) {
				return
			}
		}
		if *elements > maxElements {
			return
		}
	}
	return
}
