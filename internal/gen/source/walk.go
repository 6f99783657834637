package source

import (
	"iter"
	"slices"

	"google.golang.org/protobuf/types/descriptorpb"
)

// message is a message of a file, before linking.
type message struct {
	proto  *descriptorpb.DescriptorProto
	parent *message // nil for a message that is not nested
	index  int32    // among its siblings
	depth  int      // 1 for a message that is not nested
}

// path is the source path of the message.
func (m *message) path() []int32 {
	var reversed []int32
	for ; m.parent != nil; m = m.parent {
		reversed = append(reversed, m.index, messageNestedTag)
	}
	reversed = append(reversed, m.index, fileMessageTag)
	slices.Reverse(reversed)
	return reversed
}

// fullName is the full name of the message in its file.
func (m *message) fullName(fd *descriptorpb.FileDescriptorProto) string {
	name := m.proto.GetName()
	for parent := m.parent; parent != nil; parent = parent.parent {
		name = parent.proto.GetName() + "." + name
	}
	return qualify(fd.GetPackage(), name)
}

func qualify(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// messages yields all messages of a file, an outer one before its nested ones.
// It keeps its own stack, because a hostile request may nest deeper than a
// goroutine's.
func messages(fd *descriptorpb.FileDescriptorProto) iter.Seq[*message] {
	return func(yield func(*message) bool) {
		var stack []*message
		push := func(parent *message, depth int, protos []*descriptorpb.DescriptorProto) {
			for i := len(protos) - 1; i >= 0; i-- {
				stack = append(stack, &message{proto: protos[i], parent: parent, index: int32(i), depth: depth})
			}
		}
		push(nil, 1, fd.GetMessageType())
		for len(stack) > 0 {
			m := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(m) {
				return
			}
			push(m, m.depth+1, m.proto.GetNestedType())
		}
	}
}
