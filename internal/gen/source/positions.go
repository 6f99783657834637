package source

import (
	"encoding/binary"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Field numbers of descriptor.proto, of which source paths are made.
const (
	fileDependencyTag       = 3
	fileSyntaxTag           = 12 // of `edition` statements, too
	fileOptionDependencyTag = 15
	fileMessageTag          = 4
	fileEnumTag             = 5
	fileServiceTag          = 6
	fileExtensionTag        = 7
	messageFieldTag         = 2
	messageNestedTag        = 3
	messageEnumTag          = 4
	messageExtensionTag     = 6
	messageOneofTag         = 8
	enumValueTag            = 2
	serviceMethodTag        = 2
	nameTag                 = 1 // of every kind of element

	messageOptionsTag = 7
	fieldOptionsTag   = 8
	oneofOptionsTag   = 2
	serviceOptionsTag = 3
	methodOptionsTag  = 4
)

// locations are the places of a file, by source path.
type locations struct {
	byPath map[string]*descriptorpb.SourceCodeInfo_Location
	// first holds, for an option that is written in parts, the part that stands
	// first: `(tool).tool_id = "x"` has a place of its own, `(tool)` has none.
	first map[string]*descriptorpb.SourceCodeInfo_Location
}

func (f *file) locations() *locations {
	if f.located != nil {
		return f.located
	}
	all := f.proto.GetSourceCodeInfo().GetLocation()
	l := &locations{
		byPath: make(map[string]*descriptorpb.SourceCodeInfo_Location, len(all)),
		first:  map[string]*descriptorpb.SourceCodeInfo_Location{},
	}
	for _, location := range all {
		if !isUsable(location) {
			continue
		}
		path := location.GetPath()
		key := pathKey(path)
		if _, found := l.byPath[key]; !found {
			l.byPath[key] = location
		}
		for i, number := range path {
			if !isOurs(number) {
				continue
			}
			key := pathKey(path[:i+1])
			if before := l.first[key]; before == nil || slices.Compare(location.GetSpan()[:2], before.GetSpan()[:2]) < 0 {
				l.first[key] = location
			}
			break
		}
	}
	f.located = l
	return l
}

// isUsable refuses the spans that no compiler writes.
func isUsable(location *descriptorpb.SourceCodeInfo_Location) bool {
	span := location.GetSpan()
	if len(span) != 3 && len(span) != 4 {
		return false
	}
	const most = 1 << 30
	return !slices.ContainsFunc(span, func(n int32) bool { return n < 0 || n > most })
}

func pathKey(path []int32) string {
	key := make([]byte, 0, 4*len(path))
	for _, n := range path {
		key = binary.BigEndian.AppendUint32(key, uint32(n))
	}
	return string(key)
}

// at is the place of a path, or of its longest prefix that has one. The element
// is the full name that stands in for the place when there is none.
func (f *file) at(path []int32, element string) diag.Pos {
	pos := diag.Pos{Path: f.name(), Element: element}
	l := f.locations()
	for ; len(path) > 0; path = path[:len(path)-1] {
		location := l.byPath[pathKey(path)]
		if location == nil {
			location = l.first[pathKey(path)]
		}
		if location != nil {
			pos.Line = int(location.GetSpan()[0]) + 1
			pos.Col = int(location.GetSpan()[1]) + 1
			return pos
		}
	}
	return pos
}

// name is the place of the name of the element at the path.
func (f *file) nameAt(path []int32, element string) diag.Pos {
	return f.at(append(slices.Clip(path), nameTag), element)
}

// comment is what the author wrote above the element at the path, else behind it.
func (f *file) comment(path []int32) string {
	location := f.locations().byPath[pathKey(path)]
	if text := cleanComment(location.GetLeadingComments()); text != "" {
		return text
	}
	return cleanComment(location.GetTrailingComments())
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// cleanComment takes the comment's margin away, the lines that talk to linters,
// and the empty lines at both ends. Compilers hand on bytes that are no UTF-8;
// they become U+FFFD, because the text of a comment is never structure.
func cleanComment(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = lineBreaks.Replace(text)
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for _, line := range lines {
		line = strings.TrimRight(line, " \t")
		if !strings.HasPrefix(strings.TrimSpace(line), "buf:lint:ignore") {
			kept = append(kept, line)
		}
	}
	margin := -1
	for _, line := range kept {
		if line != "" {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if margin < 0 || indent < margin {
				margin = indent
			}
		}
	}
	for i, line := range kept {
		if line != "" {
			kept[i] = line[margin:]
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}

// Pos is the place of the name of a declaration.
func (v *View) Pos(d protoreflect.Descriptor) diag.Pos {
	f := v.files[d.ParentFile().Path()]
	return f.nameAt(pathOf(d), string(d.FullName()))
}

// Comment is the comment of a declaration, without its margin.
func (v *View) Comment(d protoreflect.Descriptor) string {
	return v.files[d.ParentFile().Path()].comment(pathOf(d))
}

// pathOf is the source path of a declaration.
func pathOf(d protoreflect.Descriptor) []int32 {
	var reversed []int32
	for {
		parent := d.Parent()
		_, top := parent.(protoreflect.FileDescriptor)
		var tag int32
		switch d := d.(type) {
		case protoreflect.MessageDescriptor:
			tag = either(top, fileMessageTag, messageNestedTag)
		case protoreflect.EnumDescriptor:
			tag = either(top, fileEnumTag, messageEnumTag)
		case protoreflect.FieldDescriptor:
			tag = messageFieldTag
			if d.IsExtension() {
				tag = either(top, fileExtensionTag, messageExtensionTag)
			}
		case protoreflect.OneofDescriptor:
			tag = messageOneofTag
		case protoreflect.EnumValueDescriptor:
			tag = enumValueTag
		case protoreflect.ServiceDescriptor:
			tag = fileServiceTag
		case protoreflect.MethodDescriptor:
			tag = serviceMethodTag
		default:
			return nil
		}
		reversed = append(reversed, int32(d.Index()), tag)
		if top {
			slices.Reverse(reversed)
			return reversed
		}
		d = parent
	}
}

func either(first bool, a, b int32) int32 {
	if first {
		return a
	}
	return b
}
