package source

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	annotationsv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/annotations/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Stripped reports whether the request lost its options before it came here: its
// files import the annotations, and none carries one of their options.
func (v *View) Stripped() (diag.Diagnostic, bool) {
	if !v.IsEmpty() {
		return diag.Diagnostic{}, false
	}
	importer, pos := v.firstImporter()
	if importer == nil {
		return diag.Diagnostic{}, false
	}
	return diag.New(diag.OptionsStripped, pos,
		"%s imports the annotations, but no file of the request carries one of their options",
		diag.Code(importer.name())).
		WithHelp("build the image with its source-retained options (`buf build` without `--exclude-source-retention-options`, " +
			"`protoc --descriptor_set_out` with `--retain_options`); if the import is a leftover, remove it"), true
}

// NoAgent says why no file to generate has an agent, for a caller who wants one.
func (v *View) NoAgent() diag.Diagnostic {
	d := diag.New(diag.NoAgent, diag.Pos{}, "none of the files to generate (%d) has a service with the option %s",
		v.toGenerate(), diag.Code(v.annotations.pkg+"."+string(annotationsv1.E_Agent.TypeDescriptor().Name())))
	others := v.otherAgents()
	for _, pos := range others[:min(len(others), 5)] {
		d = d.WithNote(pos, "%s has it, but its file is not a file to generate", diag.Code(pos.Element))
	}
	if pkg := v.lookalike(); pkg != "" {
		return d.WithHelp("the request has a copy of the annotations in the package %s: set `annotations_package=%s`", diag.Code(pkg), pkg)
	}
	return d.WithHelp("put the option on the agent's service; with buf, set `strategy: all`, " +
		"because its default calls the plugin once for each folder; where a run without agents is right, set `allow_empty=true`")
}

func (v *View) toGenerate() int {
	n := 0
	for _, f := range v.files {
		if f.generate {
			n++
		}
	}
	return n
}

// firstImporter is the first file, by name, that imports the annotations, with
// the place of the import.
func (v *View) firstImporter() (*file, diag.Pos) {
	for _, name := range v.names {
		f := v.files[name]
		if v.annotations.declaredIn(f) {
			continue
		}
		if i := slices.IndexFunc(f.proto.GetDependency(), v.annotations.isOurFile); i >= 0 {
			return f, f.at([]int32{fileDependencyTag, int32(i)}, "")
		}
		if i := slices.IndexFunc(f.proto.GetOptionDependency(), v.annotations.isOurFile); i >= 0 {
			return f, f.at([]int32{fileOptionDependencyTag, int32(i)}, "")
		}
	}
	return nil, diag.Pos{}
}

// declaredIn reports whether the file declares one of our options.
func (a *annotations) declaredIn(f *file) bool {
	return slices.ContainsFunc(a.extensions, func(x *extension) bool {
		return x.declared != nil && x.declared.file == f
	})
}

// otherAgents are the places of the agents in files that are only imported.
func (v *View) otherAgents() []diag.Pos {
	var positions []diag.Pos
	for _, fd := range v.Files() {
		for i := range fd.Services().Len() {
			service := fd.Services().Get(i)
			if option, _ := v.Agent(service); option != nil && !v.IsToGenerate(fd) {
				positions = append(positions, v.Pos(service))
			}
		}
	}
	return positions
}

// lookalike is the first package, by name, that declares an `agent` option like
// ours, when ours is not in the request.
func (v *View) lookalike() string {
	xt := annotationsv1.E_Agent.TypeDescriptor()
	found := ""
	for _, name := range v.names {
		fd := v.files[name].proto
		if fd.GetPackage() == v.annotations.pkg {
			return ""
		}
		looks := slices.ContainsFunc(fd.GetExtension(), func(x *descriptorpb.FieldDescriptorProto) bool {
			return x.GetName() == string(xt.Name()) && protoreflect.FieldNumber(x.GetNumber()) == xt.Number() &&
				x.GetExtendee() == "."+string(serviceOptions)
		})
		if looks && safePackage.MatchString(fd.GetPackage()) && (found == "" || fd.GetPackage() < found) {
			found = fd.GetPackage()
		}
	}
	return found
}
