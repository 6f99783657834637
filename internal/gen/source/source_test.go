package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/gentest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
)

const annotationsFile = "ameide_core_proto/annotations/v1/agent_annotations.proto"

// request is the request of a case, read as the plugin reads it.
func request(t testing.TB, name string) *pluginpb.CodeGeneratorRequest {
	t.Helper()
	return gentest.Load(t, name).Request(t, "")
}

func open(t testing.TB, r *pluginpb.CodeGeneratorRequest) *source.View {
	t.Helper()
	v, diagnostics := source.Open(r, params.DefaultAnnotationsPackage)
	require.Empty(t, diag.Render(diagnostics))
	return v
}

func file(t testing.TB, r *pluginpb.CodeGeneratorRequest, name string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	for _, fd := range append(r.GetSourceFileDescriptors(), r.GetProtoFile()...) {
		if fd.GetName() == name {
			return fd
		}
	}
	t.Fatalf("no file %s", name)
	return nil
}

// without drops a file from the request.
func without(r *pluginpb.CodeGeneratorRequest, name string) {
	kept := r.GetProtoFile()[:0]
	for _, fd := range r.GetProtoFile() {
		if fd.GetName() != name {
			kept = append(kept, fd)
		}
	}
	r.ProtoFile = kept
}

// generated is a file to generate.
func generated(r *pluginpb.CodeGeneratorRequest, fd *descriptorpb.FileDescriptorProto) {
	r.FileToGenerate = append(r.FileToGenerate, fd.GetName())
	r.ProtoFile = append(r.ProtoFile, fd)
	r.SourceFileDescriptors = append(r.SourceFileDescriptors, fd)
}

func names(v *source.View) []string {
	var names []string
	for _, fd := range v.Files() {
		names = append(names, fd.Path())
	}
	return names
}

func TestOpenReadsOptions(t *testing.T) {
	t.Parallel()
	v := open(t, request(t, "imported"))
	require.False(t, v.IsEmpty())
	require.Equal(t, []string{
		"imported/agent/v1/agent.proto", "imported/state/v1/state.proto", "imported/tools/v1/tools.proto",
	}, names(v))
	agent, state := v.Files()[0], v.Files()[1]
	require.True(t, v.IsToGenerate(agent))
	require.False(t, v.IsToGenerate(state))
	require.True(t, v.Reachable(agent)[state.Path()])
	require.False(t, v.Reachable(state)[agent.Path()])

	option, diagnostics := v.Agent(agent.Services().Get(0))
	require.Empty(t, diagnostics)
	require.Equal(t, "imported-agent", option.Value.GetAgentId())
	// A file that is only imported has its options in proto_file.
	role, diagnostics := v.Role(state.Messages().ByName("ImportedState"))
	require.Empty(t, diagnostics)
	require.Equal(t, "STATE", role.Value.GetRole().String())
	none, diagnostics := v.Role(agent.Messages().ByName("RunRequest"))
	require.Empty(t, diagnostics)
	require.Nil(t, none)
}

// The file that declares the options may be missing when it was imported for
// them alone.
func TestOptionImportIsAbsent(t *testing.T) {
	t.Parallel()
	r := request(t, "import-option")
	want := names(open(t, r))
	require.Len(t, want, 2)
	without(r, annotationsFile)
	require.Equal(t, want, names(open(t, r)))

	// Another folder's file is another project's.
	for _, fd := range r.GetSourceFileDescriptors() {
		fd.OptionDependency = []string{"other/annotations.proto"}
	}
	require.True(t, open(t, r).IsEmpty())
}

// Another project's options on our numbers are not ours, even if their bytes
// would not decode as ours.
func TestOtherProjectsOptions(t *testing.T) {
	t.Parallel()
	values := map[string][]byte{
		"string":    protowire.AppendString(protowire.AppendTag(nil, 51003, protowire.BytesType), "text"),
		"fixed32":   protowire.AppendFixed32(protowire.AppendTag(nil, 51003, protowire.Fixed32Type), 7),
		"like ours": protowire.AppendBytes(protowire.AppendTag(nil, 51003, protowire.BytesType), []byte("\x0a\x05other")),
	}
	for name, raw := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "imported")
			options := &descriptorpb.ServiceOptions{}
			options.ProtoReflect().SetUnknown(raw)
			other := &descriptorpb.FileDescriptorProto{
				Name:       proto.String("other/other.proto"),
				Package:    proto.String("other"),
				Dependency: []string{"google/protobuf/descriptor.proto"},
				Service:    []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Options: options}},
				Extension: []*descriptorpb.FieldDescriptorProto{{
					Name: proto.String("agent"), Number: proto.Int32(51003), Extendee: proto.String(".google.protobuf.ServiceOptions"),
					Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
				}},
			}
			want := names(open(t, r))
			generated(r, other)
			require.Equal(t, want, names(open(t, r)))
		})
	}
}

// A file sees the options through a public import, but not through others.
func TestVisibility(t *testing.T) {
	t.Parallel()
	r := request(t, "imported")
	agent := file(t, r, "imported/agent/v1/agent.proto")
	through := &descriptorpb.FileDescriptorProto{
		Name: proto.String("through.proto"), Dependency: []string{annotationsFile},
	}
	generated(r, through)
	agent.Dependency[0] = "through.proto"
	require.NotContains(t, names(open(t, r)), agent.GetName())
	through.PublicDependency = []int32{0}
	require.Contains(t, names(open(t, r)), agent.GetName())
}

// An option may be written in parts, and in the two encodings of a message.
func TestEncodings(t *testing.T) {
	t.Parallel()
	id := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "x")
	node := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "y")
	tests := map[string][]byte{
		"whole": protowire.AppendBytes(protowire.AppendTag(nil, 51003, protowire.BytesType), append(append([]byte{}, id...), node...)),
		"parts": protowire.AppendBytes(protowire.AppendTag(
			protowire.AppendBytes(protowire.AppendTag(nil, 51003, protowire.BytesType), id), 51003, protowire.BytesType), node),
		"group": protowire.AppendGroup(protowire.AppendTag(nil, 51003, protowire.StartGroupType), 51003, append(append([]byte{}, id...), node...)),
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "imported")
			file(t, r, "imported/agent/v1/agent.proto").Service[0].Options.ProtoReflect().SetUnknown(raw)
			v := open(t, r)
			option, diagnostics := v.Agent(v.Files()[0].Services().Get(0))
			require.Empty(t, diagnostics)
			require.Equal(t, "x", option.Value.GetAgentId())
			require.Equal(t, "y", option.Value.GetEntryNode())
		})
	}
}

func TestBrokenOptions(t *testing.T) {
	t.Parallel()
	field := func(number protowire.Number, kind protowire.Type, value []byte) []byte {
		return append(protowire.AppendTag(nil, number, kind), value...)
	}
	text := func(s string) []byte { return protowire.AppendString(nil, s) }
	tests := map[string]struct {
		raw  []byte
		line int
		want string
	}{
		"noise":         {[]byte{0xff}, 12, "it is not an encoded option message"},
		"invalid utf8":  {field(1, protowire.BytesType, text("\xff")), 13, "`agent_id` is not valid UTF-8"},
		"list utf8":     {field(3, protowire.BytesType, text("a\xff")), 15, "`required_tool_ids` is not valid UTF-8"},
		"too long":      {field(2, protowire.BytesType, text(strings.Repeat("x", 300<<10))), 14, "`entry_node` is longer than 262144 bytes"},
		"unknown field": {field(99, protowire.VarintType, []byte{1}), 12, "it sets field 99, which this version of the plugin does not know"},
		"other type":    {field(1, protowire.VarintType, []byte{1}), 13, "`agent_id` is encoded as another type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "imported")
			raw := protowire.AppendBytes(protowire.AppendTag(nil, 51003, protowire.BytesType), test.raw)
			file(t, r, "imported/agent/v1/agent.proto").Service[0].Options.ProtoReflect().SetUnknown(raw)
			v := open(t, r)
			_, diagnostics := v.Agent(v.Files()[0].Services().Get(0))
			require.Len(t, diagnostics, 1)
			require.Equal(t, diag.BadOptionValue.Code, diagnostics[0].Code)
			require.Equal(t, test.line, diagnostics[0].Pos.Line)
			require.Equal(t, "option `ameide_core_proto.annotations.v1.agent` of `imported.agent.v1.ImportedAgent`: "+test.want, diagnostics[0].Message)
		})
	}
}

// Only what annotated files need is linked: a broken file beside them is not
// looked at.
func TestLinksOnlyTheClosure(t *testing.T) {
	t.Parallel()
	broken := &descriptorpb.FileDescriptorProto{
		Name:       proto.String("broken.proto"),
		Dependency: []string{"missing.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: proto.String("not a name"),
		}},
	}
	r := request(t, "imported")
	generated(r, broken)
	require.NotEmpty(t, names(open(t, r)))
	alone := &pluginpb.CodeGeneratorRequest{}
	generated(alone, broken)
	require.True(t, open(t, alone).IsEmpty())
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	agent := "imported/agent/v1/agent.proto"
	tests := map[string]struct {
		change func(t *testing.T, r *pluginpb.CodeGeneratorRequest)
		want   string
	}{
		"cycle": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			state := file(t, r, "imported/state/v1/state.proto")
			state.Dependency = append(state.Dependency, agent)
		}, "AG069 broken-file]: `imported/state/v1/state.proto` imports `imported/agent/v1/agent.proto`, which imports it back"},
		"unknown type": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, agent).MessageType[0].Field[0].TypeName = proto.String(".x.Missing")
		}, "AG069 broken-file]: the descriptor of the file is not valid: message field \"imported.agent.v1.RunRequest.input\""},
		"bad name": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, agent).MessageType[0].Name = proto.String("a b")
		}, "AG069 broken-file]"},
		"name on path": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			fd := file(t, r, agent)
			without(r, agent)
			fd.Name = proto.String("a/../\n# coding: utf-7/x.proto")
			r.ProtoFile = append(r.ProtoFile, fd)
			r.FileToGenerate[0] = fd.GetName()
		}, `AG006 unsafe-file-name]`},
		"declared twice": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			again := proto.CloneOf(file(t, r, annotationsFile))
			again.Name = proto.String("again.proto")
			r.ProtoFile = append(r.ProtoFile, again)
		}, "AG002 annotations-mismatch]: `ameide_core_proto.annotations.v1.msg_role` is declared twice"},
		"missing type of option": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, annotationsFile).Extension[0].TypeName = proto.String(".x.Missing")
		}, "its type `x.Missing` is not in the request"},
		"repeated option": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, annotationsFile).Extension[0].Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}, "it is repeated and should not be"},
		"proto3 copy": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, annotationsFile).Syntax = proto.String("proto3")
		}, "it cannot tell an unset value from a default one; declare it `optional`"},
		"deep nesting": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			innermost := file(t, r, agent).MessageType[0]
			for range 9_000 {
				nested := &descriptorpb.DescriptorProto{Name: proto.String("N")}
				innermost.NestedType = []*descriptorpb.DescriptorProto{nested}
				innermost = nested
			}
		}, "AG005 limit-exceeded]: messages are nested too deeply, in levels: 32; the limit is 31"},
		"many fields": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			message := file(t, r, agent).MessageType[0]
			message.Field = make([]*descriptorpb.FieldDescriptorProto, 20_001)
			for i := range message.Field {
				message.Field[i] = &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprint("f", i))}
			}
		}, "AG005 limit-exceeded]: a message has too many fields: 20001; the limit is 20000"},
		"long name": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			file(t, r, agent).Service[0].Name = proto.String(strings.Repeat("S", 513))
		}, "AG005 limit-exceeded]: a name is too long, in bytes: 513; the limit is 512"},
		"many public ways": {func(t *testing.T, r *pluginpb.CodeGeneratorRequest) {
			// Two files a layer, each importing both of the layer below: 2^60 ways.
			below := []string{"imported/state/v1/state.proto", "imported/tools/v1/tools.proto"}
			for layer := range 60 {
				var here []string
				for _, side := range []string{"a", "b"} {
					fd := &descriptorpb.FileDescriptorProto{
						Name: proto.String(fmt.Sprintf("l%d%s.proto", layer, side)), Dependency: below, PublicDependency: []int32{0, 1},
					}
					here = append(here, fd.GetName())
					r.ProtoFile = append(r.ProtoFile, fd)
				}
				below = here
			}
			fd := file(t, r, agent)
			fd.Dependency = append(fd.Dependency, below...)
		}, "AG005 limit-exceeded]: public imports lead to too many ways"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "imported")
			test.change(t, r)
			v, diagnostics := source.Open(r, params.DefaultAnnotationsPackage)
			require.Nil(t, v)
			require.Contains(t, diag.Render(diagnostics), test.want)
		})
	}
}

// Positions point at the key of an option where the compiler recorded it, else
// at the nearest thing around it.
func TestPositions(t *testing.T) {
	t.Parallel()
	r := request(t, "kinds")
	v := open(t, r)
	fd := v.Files()[0]
	require.Equal(t, "kinds/v1/kinds.proto", fd.Path())
	lines := map[string]string{}
	at := func(name string, pos diag.Pos) { lines[name] = fmt.Sprintf("%d:%d", pos.Line, pos.Col) }

	agent := fd.Services().ByName("KindsAgent")
	agentOption, _ := v.Agent(agent)
	state := fd.Messages().ByName("KindsState")
	round := state.Fields().ByName("round")
	roundOption, _ := v.StateField(round)
	at("service", v.Pos(agent))
	at("option", agentOption.Pos())
	at("entry_node", agentOption.Pos(2))
	at("list", agentOption.Pos(3, 0))
	at("second of list", agentOption.Pos(3, 1))
	at("unset key", agentOption.Pos(9))
	at("message", v.Pos(state))
	at("field", v.Pos(round))
	at("option in parts", roundOption.Pos())
	at("part", roundOption.Pos(2))
	at("unset part", roundOption.Pos(1))
	want := map[string]string{
		"service":         "19:9",
		"option":          "20:10",
		"entry_node":      "22:5",
		"list":            "23:5",
		"second of list":  "23:5",
		"unset key":       "20:10",
		"message":         "53:9",
		"field":           "62:9",
		"option in parts": "62:20",
		"part":            "62:20",
		"unset part":      "62:20",
	}
	require.Equal(t, want, lines)

	for _, located := range r.GetSourceFileDescriptors() {
		located.SourceCodeInfo.Location = []*descriptorpb.SourceCodeInfo_Location{
			{Path: []int32{6, 0, 1}, Span: []int32{-1, 2, 3}},
			{Path: []int32{6, 0, 1}, Span: []int32{1}},
			{Path: []int32{-6}, Span: []int32{1, 2, 3, 4, 5}},
			{},
		}
	}
	v = open(t, r)
	agent = v.Files()[0].Services().ByName("KindsAgent")
	require.Equal(t, diag.Pos{Path: "kinds/v1/kinds.proto", Element: "kinds.v1.KindsAgent"}, v.Pos(agent))
	require.Empty(t, v.Comment(agent))
}

func TestResolverFindsNothing(t *testing.T) {
	t.Parallel()
	_, err := source.Resolver{}.FindExtensionByName(protoreflect.FullName(params.DefaultAnnotationsPackage + ".agent"))
	require.Error(t, err)
	_, err = source.Resolver{}.FindExtensionByNumber("google.protobuf.ServiceOptions", 51003)
	require.Error(t, err)
}
