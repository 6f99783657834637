// Package gentest gives tests the cases of testdata, as requests and as runs of
// the plugin.
package gentest

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"testing"

	"github.com/bufbuild/protoplugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
)

// Root is the directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Case is a directory of testdata that has a case.json.
type Case struct {
	// Name is the path of the directory below testdata, slash-separated.
	Name string `json:"-"`
	// Runs are the parameters of the plugin, by the name of the run.
	Runs map[string]string `json:"runs"`
	// Generate are the files to generate; all files of the case when empty.
	Generate []string `json:"generate"`
	// Drop are files of the image that the request lacks.
	Drop []string `json:"drop"`
	// BuildFlags are flags of `buf build` for the image.
	BuildFlags []string `json:"build_flags"`
	// Protovalidate says that the image is built with protovalidate's protos.
	Protovalidate bool `json:"protovalidate"`
}

// RunNames are the names of the runs, sorted.
func (c Case) RunNames() []string {
	var names []string
	for name := range c.Runs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Cases are all cases, sorted by name.
func Cases(t testing.TB) []Case {
	t.Helper()
	root := filepath.Join(Root(), "testdata")
	var cases []Case
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "case.json" {
			relative, relErr := filepath.Rel(root, filepath.Dir(path))
			if relErr != nil {
				return relErr
			}
			cases = append(cases, Load(t, filepath.ToSlash(relative)))
		}
		return err
	}))
	slices.SortFunc(cases, func(a, b Case) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return cases
}

// Load reads a case.
func Load(t testing.TB, name string) Case {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Root(), "testdata", filepath.FromSlash(name), "case.json"))
	require.NoError(t, err)
	c := Case{Name: name}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&c), "%s/case.json", name)
	require.NotEmpty(t, c.Runs, "%s/case.json has no runs", name)
	return c
}

// Request makes the request that a compiler would send for the case: the files
// to generate without their source-retained options, and once more with them.
func (c Case) Request(t testing.TB, parameter string) *pluginpb.CodeGeneratorRequest {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Root(), "testdata", filepath.FromSlash(c.Name), "image.binpb"))
	require.NoError(t, err, "run scripts/images.sh")
	image := &descriptorpb.FileDescriptorSet{}
	require.NoError(t, proto.UnmarshalOptions{Resolver: source.Resolver{}}.Unmarshal(data, image))
	kept := keptInSource(image)
	request := &pluginpb.CodeGeneratorRequest{}
	if parameter != "" {
		request.Parameter = proto.String(parameter)
	}
	for _, file := range image.GetFile() {
		if slices.Contains(c.Drop, file.GetName()) {
			continue
		}
		generate := !isImport(file)
		if len(c.Generate) > 0 {
			generate = slices.Contains(c.Generate, file.GetName())
		}
		file.ProtoReflect().SetUnknown(nil)
		if !generate {
			request.ProtoFile = append(request.ProtoFile, file)
			continue
		}
		request.FileToGenerate = append(request.FileToGenerate, file.GetName())
		request.ProtoFile = append(request.ProtoFile, strip(file, kept))
		request.SourceFileDescriptors = append(request.SourceFileDescriptors, file)
	}
	require.NotEmpty(t, request.GetFileToGenerate())
	return request
}

// optionField is a field of an options message.
type optionField struct {
	options string
	number  protowire.Number
}

// keptInSource finds the options of an image that compilers keep in source only.
func keptInSource(image *descriptorpb.FileDescriptorSet) map[optionField]bool {
	kept := map[optionField]bool{}
	for _, file := range image.GetFile() {
		for _, extension := range file.GetExtension() {
			if extension.GetOptions().GetRetention() == descriptorpb.FieldOptions_RETENTION_SOURCE {
				kept[optionField{extension.GetExtendee(), protowire.Number(extension.GetNumber())}] = true
			}
		}
	}
	return kept
}

// strip gives a copy of the file without the options that are kept in source.
func strip(file *descriptorpb.FileDescriptorProto, kept map[optionField]bool) *descriptorpb.FileDescriptorProto {
	file = proto.CloneOf(file)
	_ = protorange.Range(file.ProtoReflect(), func(values protopath.Values) error {
		message, ok := values.Index(-1).Value.Interface().(protoreflect.Message)
		if !ok {
			return nil
		}
		var rest []byte
		for raw := message.GetUnknown(); len(raw) > 0; {
			number, _, n := protowire.ConsumeField(raw)
			if n < 0 {
				break
			}
			if !kept[optionField{"." + string(message.Descriptor().FullName()), number}] {
				rest = append(rest, raw[:n]...)
			}
			raw = raw[n:]
		}
		message.SetUnknown(rest)
		return nil
	})
	return file
}

// isImport reads buf's mark on the files of an image that are only imported.
func isImport(file *descriptorpb.FileDescriptorProto) bool {
	const bufExtension, isImport = 8042, 1
	for raw := file.ProtoReflect().GetUnknown(); len(raw) > 0; {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return false
		}
		if number == bufExtension && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(raw[n:])
			inside, kind, m := protowire.ConsumeTag(inner)
			if inside == isImport && kind == protowire.VarintType {
				value, _ := protowire.ConsumeVarint(inner[m:])
				return value != 0
			}
		}
		m := protowire.ConsumeFieldValue(number, kind, raw[n:])
		if m < 0 {
			return false
		}
		raw = raw[n+m:]
	}
	return false
}

// Run runs the plugin on the request, through bytes, as a compiler does.
func Run(t testing.TB, targets gen.Targets, request *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorResponse {
	t.Helper()
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	require.NoError(t, err)
	output, stderr, err := RunBytes(targets, input)
	require.NoError(t, err, "%s", stderr)
	require.Empty(t, stderr)
	response := &pluginpb.CodeGeneratorResponse{}
	require.NoError(t, proto.Unmarshal(output, response))
	return response
}

// RunBytes runs the plugin on the bytes of a request.
func RunBytes(targets gen.Targets, input []byte) (output, stderr []byte, err error) {
	var out, errOut bytes.Buffer
	err = protoplugin.Run(context.Background(), protoplugin.Env{
		Stdin:  bytes.NewReader(input),
		Stdout: &out,
		Stderr: &errOut,
	}, gen.NewHandler(targets), gen.RunOptions()...)
	return out.Bytes(), errOut.Bytes(), err
}
