// Package source reads a request: which file says what, which options are ours,
// and where in the files they stand.
//
// It trusts nothing. Sizes, nesting and counts are checked before anything is
// linked, an option is recognised by the declaration that the request holds for
// it and not by its number alone, and files that no annotated file needs are
// never linked at all.
package source

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// View is a request as the generator sees it: every file with the options that
// its author wrote.
type View struct {
	// files are all files of the request, by name.
	files map[string]*file
	// names are the names of all files, sorted.
	names       []string
	annotations *annotations
	// annotated are the files that carry one of our options, sorted by name.
	annotated []*file
	linked    *protoregistry.Files
	// publicImporters are the files that import a file publicly, by its name;
	// made when first asked for.
	publicImporters map[string][]string
	// foreignExporters are the files that hand on the declarations of a file with
	// options of another project; made when first asked for.
	foreignExporters map[string]map[string]bool
	// types are the extensions of the linked files; made when first asked for.
	types *dynamicpb.Types
}

// file is a file of the request.
type file struct {
	proto    *descriptorpb.FileDescriptorProto
	generate bool
	// ours are the options that the file can use, because it sees the file that
	// declares them.
	ours map[*extension]bool

	located *locations // made when first asked for
}

func (f *file) name() string { return f.proto.GetName() }

// Open reads a request: it checks the limits, recognises the annotations of the
// package and links the files that carry them, with all that they import.
//
// The request must have been unmarshalled with Resolver, so that the options
// are still bytes. With diagnostics there is no view.
func Open(request *pluginpb.CodeGeneratorRequest, annotationsPackage string) (*View, []diag.Diagnostic) {
	v := merge(request)
	if diagnostics := checkLimits(request, v); len(diagnostics) > 0 {
		return nil, diagnostics
	}
	recognised, diagnostics := recognise(v, annotationsPackage)
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	v.annotations = recognised
	v.scan()
	closure, diagnostics := v.closure()
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	if v.linked, diagnostics = link(closure); len(diagnostics) > 0 {
		return nil, diagnostics
	}
	return v, nil
}

// merge takes of every file the descriptor that still has its source-retained
// options: the source descriptor of a file to generate. Files that are only
// imported keep their options in proto_file, and compilers that send no source
// descriptors strip nothing.
func merge(request *pluginpb.CodeGeneratorRequest) *View {
	v := &View{files: make(map[string]*file, len(request.GetProtoFile()))}
	for _, proto := range request.GetProtoFile() {
		v.files[proto.GetName()] = &file{proto: proto}
	}
	for _, proto := range request.GetSourceFileDescriptors() {
		v.files[proto.GetName()] = &file{proto: proto}
	}
	for _, name := range request.GetFileToGenerate() {
		if f := v.files[name]; f != nil {
			f.generate = true
		}
	}
	v.names = make([]string, 0, len(v.files))
	for name := range v.files {
		v.names = append(v.names, name)
	}
	slices.Sort(v.names)
	return v
}

// IsEmpty reports whether no file carries one of our options. Nothing was linked
// then.
func (v *View) IsEmpty() bool { return len(v.annotated) == 0 }

// Files are the files that carry one of our options, sorted by name.
func (v *View) Files() []protoreflect.FileDescriptor {
	files := make([]protoreflect.FileDescriptor, 0, len(v.annotated))
	for _, f := range v.annotated {
		if linked, err := v.linked.FindFileByPath(f.name()); err == nil {
			files = append(files, linked)
		}
	}
	return files
}

// Closure are the files of Files and all that they import, sorted by name.
func (v *View) Closure() []protoreflect.FileDescriptor {
	var files []protoreflect.FileDescriptor
	if v.linked == nil {
		return nil
	}
	v.linked.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		files = append(files, fd)
		return true
	})
	slices.SortFunc(files, func(a, b protoreflect.FileDescriptor) int { return strings.Compare(a.Path(), b.Path()) })
	return files
}

// IsToGenerate reports whether the caller wants output for the file.
func (v *View) IsToGenerate(fd protoreflect.FileDescriptor) bool {
	f := v.files[fd.Path()]
	return f != nil && f.generate
}

// Reachable returns the names of the files that the file imports, directly or
// not, and its own.
func (v *View) Reachable(fd protoreflect.FileDescriptor) map[string]bool {
	reached := map[string]bool{}
	for work := []string{fd.Path()}; len(work) > 0; {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if f := v.files[name]; f != nil && !reached[name] {
			reached[name] = true
			work = append(work, f.proto.GetDependency()...)
		}
	}
	return reached
}

// visible returns the names of the files whose declarations the file may use in
// its options: itself, what it imports, and what those import publicly.
func (v *View) visible(f *file) map[string]bool {
	seen := map[string]bool{f.name(): true}
	work := slices.Concat(f.proto.GetDependency(), f.proto.GetOptionDependency())
	for len(work) > 0 {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		if imported := v.files[name]; imported != nil {
			for _, i := range imported.proto.GetPublicDependency() {
				if deps := imported.proto.GetDependency(); 0 <= i && int(i) < len(deps) {
					work = append(work, deps[i])
				}
			}
		}
	}
	return seen
}

// exporters returns the names of the files that hand on the declarations of a
// file to their importers: the file itself, and those that import it publicly,
// directly or not.
func (v *View) exporters(f *file) map[string]bool {
	if v.publicImporters == nil {
		v.publicImporters = map[string][]string{}
		for _, name := range v.names {
			fd := v.files[name].proto
			for _, i := range fd.GetPublicDependency() {
				if deps := fd.GetDependency(); 0 <= i && int(i) < len(deps) {
					v.publicImporters[deps[i]] = append(v.publicImporters[deps[i]], name)
				}
			}
		}
	}
	exporters := map[string]bool{}
	for work := []string{f.name()}; len(work) > 0; {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if !exporters[name] {
			exporters[name] = true
			work = append(work, v.publicImporters[name]...)
		}
	}
	return exporters
}

// scan finds the files that carry our options, in the bytes of the options, so
// that a request without any costs no linking.
func (v *View) scan() {
	for _, name := range v.names {
		f := v.files[name]
		carried := v.annotations.carriedBy(f)
		if len(carried) == 0 {
			continue
		}
		f.ours = v.annotations.usableBy(v, f)
		for x := range carried {
			if f.ours[x] {
				v.annotated = append(v.annotated, f)
				break
			}
		}
	}
}
