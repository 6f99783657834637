package source

import (
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// safeFileName is what the name of a file may look like that has a part in the
// output: as an import, in a header, in a comment.
var safeFileName = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.proto$`)

// safePackage is what the name of a package may look like in a help text that
// people paste.
var safePackage = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// closure is every annotated file and every file that one of them imports, an
// imported file before those that import it.
func (v *View) closure() ([]*file, []diag.Diagnostic) {
	var (
		order       []*file
		diagnostics []diag.Diagnostic
	)
	type step struct {
		file *file
		next int // the dependency to look at next
	}
	const entered, done = 1, 2
	state := map[string]int{}
	for _, root := range v.annotated {
		if state[root.name()] == done {
			continue
		}
		state[root.name()] = entered
		for stack := []*step{{file: root}}; len(stack) > 0; {
			top := stack[len(stack)-1]
			imports := top.file.proto.GetDependency()
			dependencies := slices.Concat(imports, v.optionImports(top.file.proto))
			if top.next == len(dependencies) {
				state[top.file.name()] = done
				order = append(order, top.file)
				stack = stack[:len(stack)-1]
				continue
			}
			index := top.next
			top.next++
			pos := top.file.at([]int32{fileDependencyTag, int32(index)}, "")
			if index >= len(imports) {
				pos = top.file.at([]int32{fileOptionDependencyTag}, "")
			}
			name := dependencies[index]
			imported := v.files[name]
			switch {
			case imported == nil:
				diagnostics = append(diagnostics, diag.New(diag.MissingImport, pos,
					"the imported file %s is not in the request", diag.Code(name)).
					WithHelp("give the compiler the file, and keep imports when you build an image (`buf build`, or `protoc --include_imports`)"))
			case state[name] == entered:
				diagnostics = append(diagnostics, diag.New(diag.BrokenFile, pos,
					"%s imports %s, which imports it back", diag.Code(top.file.name()), diag.Code(name)).
					WithHelp("break the cycle of imports"))
			case state[name] == 0:
				state[name] = entered
				stack = append(stack, &step{file: imported})
			}
		}
	}
	diagnostics = append(diagnostics, checkFileNames(order)...)
	diagnostics = append(diagnostics, checkEditions(order)...)
	diagnostics = append(diagnostics, checkPublicImports(order)...)
	return order, diagnostics
}

// checkFileNames refuses names that could be read as something else where they
// are printed, and names that become the same Python module.
func checkFileNames(files []*file) []diag.Diagnostic {
	var diagnostics []diag.Diagnostic
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b *file) int { return strings.Compare(a.name(), b.name()) })
	modules := map[string]*file{}
	for _, f := range sorted {
		if !safeFileName.MatchString(f.name()) {
			diagnostics = append(diagnostics, diag.New(diag.UnsafeFileName, diag.Pos{Path: f.name()},
				"the file name %s has characters that cannot be used in generated code", diag.Code(f.name())).
				WithHelp("rename the file and its folders with ASCII letters, digits, `_`, `-` and `.`"))
			continue
		}
		module := strings.ReplaceAll(f.name(), "-", "_")
		if other := modules[module]; other != nil {
			diagnostics = append(diagnostics, diag.New(diag.UnsafeFileName, diag.Pos{Path: f.name()},
				"the files %s and %s become the same module", diag.Code(other.name()), diag.Code(f.name())).
				WithHelp("rename one of the two files"))
			continue
		}
		modules[module] = f
	}
	return diagnostics
}

// MaximumEdition is the newest edition that the linker knows.
const MaximumEdition = descriptorpb.Edition_EDITION_2024

// checkEditions refuses what the linker does not know. Compilers see to it for
// the files to generate, but not for what those import.
func checkEditions(files []*file) []diag.Diagnostic {
	var diagnostics []diag.Diagnostic
	for _, f := range files {
		if edition := f.proto.GetEdition(); f.proto.GetSyntax() == "editions" && edition > MaximumEdition {
			diagnostics = append(diagnostics, diag.New(diag.BrokenFile, f.at([]int32{fileSyntaxTag}, ""),
				"the file is written in %s, which this version of the plugin does not know", editionName(edition)).
				WithHelp("use %s or an older one in the files that agents import", editionName(MaximumEdition)))
		}
	}
	return diagnostics
}

func editionName(edition descriptorpb.Edition) string {
	if name, ok := descriptorpb.Edition_name[int32(edition)]; ok {
		return strings.ToLower(strings.Replace(name, "_", " ", 1))
	}
	return "edition number " + itoa(uint64(edition))
}

// checkPublicImports refuses files that import each other publicly in so many
// ways that the linker, which walks every way, would not end. The files come
// with imported ones first.
func checkPublicImports(files []*file) []diag.Diagnostic {
	ways := map[string]int{}
	total := 0
	for _, f := range files {
		dependencies := f.proto.GetDependency()
		for _, name := range dependencies {
			total += ways[name]
		}
		for _, i := range f.proto.GetPublicDependency() {
			if 0 <= i && int(i) < len(dependencies) {
				ways[f.name()] += 1 + ways[dependencies[i]]
			}
		}
		if total > maxPublicPaths || ways[f.name()] > maxPublicPaths {
			return []diag.Diagnostic{diag.New(diag.LimitExceeded, diag.Pos{Path: f.name()},
				"public imports lead to too many ways through the files; the limit is %d", maxPublicPaths).
				WithHelp("import fewer files publicly")}
		}
	}
	return nil
}

// link makes descriptors of the files, which come with imported ones first.
func link(files []*file) (*protoregistry.Files, []diag.Diagnostic) {
	linked := &protoregistry.Files{}
	for _, f := range files {
		descriptor, err := protodesc.NewFile(f.linkable(), linked)
		if err == nil {
			err = linked.RegisterFile(descriptor)
		}
		if err != nil {
			return nil, []diag.Diagnostic{diag.New(diag.BrokenFile, diag.Pos{Path: f.name()},
				"the descriptor of the file is not valid: %s", linkError(err)).
				WithHelp("compile the files again with buf or protoc")}
		}
	}
	return linked, nil
}

// linkError is the text of an error of the linker, without its prefix: the
// prefix has a space of one of two kinds, chosen when the plugin was built.
func linkError(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}

// linkable is the file without its positions: the linker would copy them all,
// and refuses the file when one is malformed.
func (f *file) linkable() *descriptorpb.FileDescriptorProto {
	bare := &descriptorpb.FileDescriptorProto{}
	f.proto.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if fd.Name() != "source_code_info" {
			bare.ProtoReflect().Set(fd, value)
		}
		return true
	})
	if hasMessageSet(bare.GetMessageType()) {
		bare = proto.CloneOf(bare)
		unsetMessageSets(bare.GetMessageType())
	}
	return bare
}

// maxFieldNumber is the largest number of a field outside of a MessageSet.
const maxFieldNumber = 1<<29 - 1

func hasMessageSet(messages []*descriptorpb.DescriptorProto) bool {
	return slices.ContainsFunc(messages, func(m *descriptorpb.DescriptorProto) bool {
		return m.GetOptions().GetMessageSetWireFormat() || hasMessageSet(m.GetNestedType())
	})
}

// unsetMessageSets makes ordinary messages of MessageSets, which the linker does
// not know: they differ on the wire only, which generated code never sees.
func unsetMessageSets(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		if m.GetOptions().GetMessageSetWireFormat() {
			m.GetOptions().MessageSetWireFormat = nil
			for _, r := range m.GetExtensionRange() {
				r.End = proto.Int32(min(r.GetEnd(), maxFieldNumber+1))
			}
		}
		unsetMessageSets(m.GetNestedType())
	}
}
