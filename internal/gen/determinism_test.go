package gen_test

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/gentest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/targets"
)

// hash runs the plugin and gives the hash of its whole response.
func hash(t *testing.T, request *pluginpb.CodeGeneratorRequest) [sha256.Size]byte {
	t.Helper()
	input, err := proto.Marshal(request)
	require.NoError(t, err)
	output, stderr, err := gentest.RunBytes(targets.All(), input)
	require.NoError(t, err, "%s", stderr)
	return sha256.Sum256(output)
}

// The response depends on what the files say, and on nothing else.
//
// This test changes GOMAXPROCS and the environment, so it runs alone.
func TestDeterminism(t *testing.T) {
	for _, c := range gentest.Cases(t) {
		for _, run := range c.RunNames() {
			t.Run(c.Name+"/"+run, func(t *testing.T) {
				request := c.Request(t, c.Runs[run])
				want := hash(t, request)
				random := rand.New(rand.NewPCG(1, 2))
				for range 4 {
					require.Equal(t, want, hash(t, request), "the same request again")
					require.Equal(t, want, hash(t, permuted(request, random)), "the files in another order")
				}
				t.Setenv("LC_ALL", "tr_TR.UTF-8")
				t.Setenv("HOME", "/nonexistent")
				t.Chdir(t.TempDir())
				require.Equal(t, want, hash(t, request), "another environment")
				before := runtime.GOMAXPROCS(1)
				defer runtime.GOMAXPROCS(before)
				require.Equal(t, want, hash(t, request), "one processor")
			})
		}
	}
}

// permuted gives the request with its lists in another order that a compiler
// could have chosen: an imported file still stands before those that import it.
func permuted(request *pluginpb.CodeGeneratorRequest, random *rand.Rand) *pluginpb.CodeGeneratorRequest {
	request = proto.CloneOf(request)
	shuffle(random, request.GetFileToGenerate())
	shuffle(random, request.GetSourceFileDescriptors())
	waiting := request.GetProtoFile()
	shuffle(random, waiting)
	present := map[string]bool{}
	for _, file := range waiting {
		present[file.GetName()] = true
	}
	var ordered []*descriptorpb.FileDescriptorProto
	for len(waiting) > 0 {
		var later []*descriptorpb.FileDescriptorProto
		for _, file := range waiting {
			ready := true
			for _, name := range file.GetDependency() {
				ready = ready && !present[name]
			}
			if !ready {
				later = append(later, file)
				continue
			}
			ordered = append(ordered, file)
			delete(present, file.GetName())
		}
		waiting = later
	}
	request.ProtoFile = ordered
	return request
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// FuzzRequest feeds mutated requests to the plugin: it may refuse them, as the
// request of a broken compiler or with diagnostics, but it neither panics nor
// answers the same request in two ways.
func FuzzRequest(f *testing.F) {
	for _, name := range []string{"spec", "multi", "imported", "import-option", "diagnostics/bad-option-value-newer"} {
		c := gentest.Load(f, name)
		for _, run := range c.RunNames() {
			request := c.Request(f, c.Runs[run])
			// Mutations should hit what matters.
			for _, file := range append(request.GetProtoFile(), request.GetSourceFileDescriptors()...) {
				if file.GetPackage() == "google.protobuf" {
					file.SourceCodeInfo = nil
				}
			}
			input, err := proto.Marshal(request)
			require.NoError(f, err)
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		output, _, err := gentest.RunBytes(targets.All(), input)
		again, _, errAgain := gentest.RunBytes(targets.All(), input)
		if err != nil {
			require.NotContains(t, err.Error(), "internal error")
			require.EqualError(t, errAgain, err.Error())
			return
		}
		require.NoError(t, errAgain)
		require.True(t, bytes.Equal(output, again), "two answers to one request")
		response := &pluginpb.CodeGeneratorResponse{}
		require.NoError(t, proto.Unmarshal(output, response))
		require.True(t, response.Error == nil || len(response.GetFile()) == 0, "errors and files")
	})
}

// FuzzMutations changes valid requests where a mutation of bytes rarely gets: a
// name, a number, a list of the descriptors, all else staying well-formed.
func FuzzMutations(f *testing.F) {
	var requests []*pluginpb.CodeGeneratorRequest
	for _, name := range []string{"kinds", "spec", "multi", "import-option"} {
		c := gentest.Load(f, name)
		for _, run := range c.RunNames() {
			requests = append(requests, c.Request(f, c.Runs[run]))
		}
	}
	for seed := range uint64(32) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		request := proto.CloneOf(requests[random.IntN(len(requests))])
		for range 1 + random.IntN(4) {
			mutate(random, request)
		}
		input, err := proto.MarshalOptions{AllowPartial: true}.Marshal(request)
		if err != nil {
			return // a string that is not UTF-8 where proto3 forbids it
		}
		output, stderr, err := gentest.RunBytes(targets.All(), input)
		if err != nil {
			require.NotContains(t, err.Error(), "internal error", "%s", stderr)
			return
		}
		again, _, err := gentest.RunBytes(targets.All(), input)
		require.NoError(t, err)
		require.True(t, bytes.Equal(output, again), "two answers to one request")
	})
}

// mutate changes one random field of one random file.
func mutate(random *rand.Rand, request *pluginpb.CodeGeneratorRequest) {
	var files []*descriptorpb.FileDescriptorProto
	for _, file := range append(request.GetProtoFile(), request.GetSourceFileDescriptors()...) {
		if file.GetPackage() != "google.protobuf" || random.IntN(50) == 0 {
			files = append(files, file)
		}
	}
	message := files[random.IntN(len(files))].ProtoReflect()
	for {
		var set []protoreflect.FieldDescriptor
		message.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			set = append(set, field)
			return true
		})
		slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return a.Index() - b.Index() })
		if len(set) == 0 {
			return
		}
		field := set[random.IntN(len(set))]
		stop := random.IntN(6) == 0
		switch value := message.Get(field); {
		case stop && random.IntN(3) == 0:
			message.Clear(field)
			return
		case field.IsList():
			list := message.Mutable(field).List()
			i := random.IntN(list.Len())
			if field.Message() != nil && !stop {
				message = list.Get(i).Message()
				continue
			}
			switch random.IntN(3) {
			case 0:
				list.Append(list.Get(i))
			case 1:
				j := random.IntN(list.Len())
				a, b := list.Get(i), list.Get(j)
				list.Set(i, b)
				list.Set(j, a)
			case 2:
				list.Truncate(i)
			}
			return
		case field.Message() != nil:
			message = value.Message()
		default:
			message.Set(field, other(random, field, value))
			return
		}
	}
}

// other is another value for a field.
func other(random *rand.Rand, field protoreflect.FieldDescriptor, value protoreflect.Value) protoreflect.Value {
	numbers := []int64{0, 1, -1, 2, 9, 11, 18, 999, 1000, 2023, 19000, 51001, 51002, 51003, 1 << 29, 1<<31 - 1, -1 << 31}
	texts := []string{"", ".", "..", "x", "X", "class", "__init__", "a.b", ".a.b.C", "../x", "a\nb", "\x00", "\xff", "é", "\u202e", `"""`, "{agent}",
		"google.protobuf.Any", ".kinds.v1.Tree", "ameide_core_proto.annotations.v1", strings.Repeat("n", 600)}
	number := numbers[random.IntN(len(numbers))]
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[random.IntN(len(texts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(texts[random.IntN(len(texts))]))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!value.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	default:
		return value
	}
}
