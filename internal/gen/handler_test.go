package gen_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bufbuild/protoplugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/gentest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/targets"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/version"
)

// emitterFunc is a target of a test.
type emitterFunc func(*contract.Contract, params.Parameters) ([]emit.File, error)

func (f emitterFunc) Emit(c *contract.Contract, p params.Parameters) ([]emit.File, error) {
	return f(c, p)
}

func withContractTarget(f emitterFunc) gen.Targets {
	return gen.Targets{params.TargetContract: f}
}

// Compilers look at the features of a response even when it holds an error.
func TestFeatures(t *testing.T) {
	t.Parallel()
	for _, parameter := range []string{"target=contract", "nonsense"} {
		response := gentest.Run(t, targets.All(), gentest.Load(t, "multi").Request(t, parameter))
		require.Equal(t, uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL|
			pluginpb.CodeGeneratorResponse_FEATURE_SUPPORTS_EDITIONS), response.GetSupportedFeatures())
		require.Equal(t, int32(descriptorpb.Edition_EDITION_PROTO2), response.GetMinimumEdition())
		require.Equal(t, int32(descriptorpb.Edition_EDITION_2024), response.GetMaximumEdition())
	}
}

func TestFilesAreSorted(t *testing.T) {
	t.Parallel()
	unsorted := withContractTarget(func(*contract.Contract, params.Parameters) ([]emit.File, error) {
		return []emit.File{{Name: "b/x.txt"}, {Name: "a/y.txt", Content: "y"}, {Name: "b.txt"}}, nil
	})
	response := gentest.Run(t, unsorted, gentest.Load(t, "multi").Request(t, "target=contract"))
	var names []string
	for _, file := range response.GetFile() {
		names = append(names, file.GetName())
	}
	require.Equal(t, []string{"a/y.txt", "b.txt", "b/x.txt"}, names)
}

// Whatever a target does wrong, nothing leaves the plugin.
func TestBrokenTargets(t *testing.T) {
	t.Parallel()
	files := func(names ...string) emitterFunc {
		return func(*contract.Contract, params.Parameters) ([]emit.File, error) {
			var files []emit.File
			for _, name := range names {
				files = append(files, emit.File{Name: name, Content: name})
			}
			return files, nil
		}
	}
	tests := map[string]struct {
		target emitterFunc
		want   string
	}{
		"error": {func(*contract.Contract, params.Parameters) ([]emit.File, error) {
			return nil, errors.New("no paper")
		}, "target contract: no paper"},
		"panic": {func(*contract.Contract, params.Parameters) ([]emit.File, error) {
			panic("out of ink")
		}, "panic: out of ink"},
		"nil dereference": {func(*contract.Contract, params.Parameters) ([]emit.File, error) {
			var agent *contract.Agent
			return nil, errors.New(agent.Service)
		}, "panic: runtime error"},
		"escape":    {files("a/../../b"), "is not safe"},
		"parent":    {files(".."), "is not safe"},
		"absolute":  {files("/etc/x"), "is not safe"},
		"backslash": {files(`a\b`), "is not safe"},
		"newline":   {files("a\nb"), "is not safe"},
		"hidden":    {files("a/.git"), "is not safe"},
		"empty":     {files(""), "is not safe"},
		"twice":     {files("a", "b", "a"), "the same name"},
		"folded":    {files("A", "a"), "the same name"},
		"invalid utf8": {func(*contract.Contract, params.Parameters) ([]emit.File, error) {
			return []emit.File{{Name: "a", Content: "\xff"}}, nil
		}, "not UTF-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, err := proto.Marshal(gentest.Load(t, "multi").Request(t, "target=contract"))
			require.NoError(t, err)
			output, _, err := gentest.RunBytes(withContractTarget(test.target), input)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "internal error in "+version.String())
			require.Empty(t, output)
		})
	}
}

// A request without agents is an error, unless the caller says that it is fine.
func TestAllowEmpty(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"diagnostics/no-agent", "diagnostics/no-agent-imported"} {
		response := gentest.Run(t, targets.All(), gentest.Load(t, name).Request(t, "target=contract,allow_empty=true"))
		require.Empty(t, response.GetError(), name)
		require.Empty(t, response.GetFile(), name)
	}
	stripped := gentest.Load(t, "diagnostics/options-stripped").Request(t, "target=contract,allow_empty=true")
	require.Contains(t, gentest.Run(t, targets.All(), stripped).GetError(), "options-stripped",
		"lost options are no request without agents")
}

// A compiler from before source descriptors strips nothing.
func TestWithoutSourceDescriptors(t *testing.T) {
	t.Parallel()
	for _, c := range gentest.Cases(t) {
		if len(c.BuildFlags) > 0 {
			continue
		}
		for _, run := range c.RunNames() {
			request := c.Request(t, c.Runs[run])
			want := gentest.Run(t, targets.All(), request)
			source := map[string]*descriptorpb.FileDescriptorProto{}
			for _, file := range request.GetSourceFileDescriptors() {
				source[file.GetName()] = file
			}
			for i, file := range request.GetProtoFile() {
				if whole := source[file.GetName()]; whole != nil {
					request.ProtoFile[i] = whole
				}
			}
			request.SourceFileDescriptors = nil
			got := gentest.Run(t, targets.All(), request)
			require.Equal(t, want.GetError(), got.GetError(), "%s/%s", c.Name, run)
			require.True(t, proto.Equal(want, got), "%s/%s", c.Name, run)
		}
	}
}

// Without positions, diagnostics name the elements.
func TestWithoutSourceInfo(t *testing.T) {
	t.Parallel()
	request := gentest.Load(t, "diagnostics/bad-option-value-newer").
		Request(t, "target=contract,annotations_package=acme.annotations.v1")
	for _, file := range append(request.GetProtoFile(), request.GetSourceFileDescriptors()...) {
		file.SourceCodeInfo = nil
	}
	response := gentest.Run(t, targets.All(), request)
	require.Contains(t, response.GetError(), "acme/agent/v1/agent.proto:acme.agent.v1.State.question: error[AG008 bad-option-value]")
}

func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	valid, err := proto.Marshal(gentest.Load(t, "multi").Request(t, "target=contract"))
	require.NoError(t, err)
	for name, input := range map[string][]byte{
		"empty":     nil,
		"noise":     []byte("syntax = \"proto3\";"),
		"truncated": valid[:len(valid)-7],
	} {
		output, _, err := gentest.RunBytes(targets.All(), input)
		require.Error(t, err, name)
		require.Empty(t, output, name)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (string, error) {
		var stdout, stderr bytes.Buffer
		err := protoplugin.Run(context.Background(), protoplugin.Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		}, gen.NewHandler(targets.All()), gen.RunOptions()...)
		return stdout.String(), err
	}
	stdout, err := run("--version")
	require.NoError(t, err)
	require.Equal(t, version.String()+"\n", stdout)
	require.Contains(t, stdout, "protoc-gen-ameide-agent v"+version.Number)
	_, err = run("--help")
	require.ErrorContains(t, err, "--help")
}
