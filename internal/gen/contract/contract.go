// Package contract holds what the protos of a request say about its agents, as
// plain data.
//
// The contract is target-neutral: it knows protobuf's words (message, field,
// presence, oneof) and the words of the annotations (agent, state, tool, fact),
// and nothing of Python, Go, LangGraph or Eino. It may describe an invalid
// contract: package rules says what is wrong with it, and only a contract
// without errors reaches an emitter. Every slice has a defined order, so equal
// requests give equal contracts whatever the order of their files.
package contract

import (
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// Pos is a place in a proto file.
type Pos = diag.Pos

// Opt is the value of one field of an option message.
type Opt[T any] struct {
	Value T
	// Set reports whether the proto says a value.
	Set bool
	// Pos is the place of the field's own key, or the nearest place around it
	// that the compiler recorded.
	Pos Pos
}

// Contract is everything that a request says about agents.
type Contract struct {
	// Agents are the agents of the files to generate, sorted by ID, then by the
	// full name of their service.
	Agents []*Agent
	// Tools are all tools that the request knows, imports included, sorted by the
	// full name of their method.
	Tools []*Tool
	// Facts are all messages of role FACT or EVENT, sorted by full name.
	Facts []*Fact
	// StrayFacts are all messages that carry event_fact without such a role,
	// sorted by full name. They are mistakes: package rules refuses them.
	StrayFacts []*Fact
	// Annotated are all messages of the request of which a field carries
	// state_field or tool_field, reached by an agent or not, sorted by full name.
	Annotated []*Message
	// States are all messages of role STATE, sorted by full name.
	States []*Message
	// Messages and Enums hold every type that the parts above reach, by full name.
	Messages map[string]*Message
	Enums    map[string]*Enum
}

// Agent is a service with the agent option.
type Agent struct {
	ID              Opt[string]
	EntryNode       Opt[string]
	RequiredToolIDs []Opt[string]

	// Service is the full name of the service, Package its proto package.
	Service string
	Package string
	Comment string
	// Deprecated is the service's own deprecated option.
	Deprecated bool
	Pos        Pos

	// Methods are the methods of the service in declaration order.
	Methods []*Method
	// State is the state message, nil when there is none or several.
	State *Message
	// StateCandidates are the messages among which State was sought: one when
	// State is set.
	StateCandidates []*Message
	// Tools are the tools that the agent uses, sorted by ID: the required ones or
	// all, as the `tools` parameter says. A required tool that does not exist, or
	// is not unique, is left out.
	Tools []*Tool
	// Facts are the facts and events that the agent may emit, sorted by full name:
	// those of its package and of the files that its own file imports, directly or
	// not.
	Facts []*Fact
	// Messages and Enums are the types that the state, the methods, the tools and
	// the facts reach, sorted by full name. Well-known types (google.protobuf.*
	// with a JSON form of their own) and ChatMessage are not among them.
	Messages []*Message
	Enums    []*Enum
}

// Method is an rpc of an agent's service.
type Method struct {
	Name            string
	Comment         string
	Input           string // full name of the request message
	Output          string // full name of the response message
	ClientStreaming bool
	ServerStreaming bool
	Pos             Pos
}

// Tool is an rpc with the tool option.
type Tool struct {
	ID               Opt[string]
	DisplayName      Opt[string]
	Description      Opt[string]
	Idempotent       Opt[bool]
	DefaultTimeoutMS Opt[uint32]

	// Name is the name shown to models, derived from ID.
	Name string

	Service          string // full name
	Method           string // simple name
	Comment          string
	Input            *Message
	Output           *Message
	ClientStreaming  bool
	ServerStreaming  bool
	IdempotencyLevel IdempotencyLevel
	Deprecated       bool
	Pos              Pos
}

// FullMethod is the full name of the tool's method, such as
// `acme.tools.v1.Tools.WebSearch`.
func (t *Tool) FullMethod() string { return t.Service + "." + t.Method }

// IsIdempotent reports whether a call of the tool may be repeated: by the tool
// option, else by the standard idempotency_level.
func (t *Tool) IsIdempotent() bool {
	if t.Idempotent.Set {
		return t.Idempotent.Value
	}
	return t.IdempotencyLevel != IdempotencyUnknown
}

// Text is what the tool does, for models: the option's description, else the
// method's comment.
func (t *Tool) Text() string {
	if t.Description.Value != "" {
		return t.Description.Value
	}
	return t.Comment
}

// IdempotencyLevel is the standard idempotency_level option of a method.
type IdempotencyLevel string

// The idempotency levels of protobuf.
const (
	IdempotencyUnknown IdempotencyLevel = ""
	NoSideEffects      IdempotencyLevel = "NO_SIDE_EFFECTS"
	Idempotent         IdempotencyLevel = "IDEMPOTENT"
)

// Fact is a message of role FACT or EVENT.
type Fact struct {
	Message *Message
	// HasOption reports whether the message carries event_fact.
	HasOption            bool
	Type                 Opt[string]
	SchemaSubject        Opt[string]
	StreamRef            Opt[string]
	PartitionKeyFields   []Opt[string]
	IdempotencyKeyFields []Opt[string]
	Pos                  Pos
}

// Role is the role of a message.
type Role string

// The roles of messages.
const (
	RoleNone       Role = ""
	RoleState      Role = "STATE"
	RoleToolInput  Role = "TOOL_INPUT"
	RoleToolOutput Role = "TOOL_OUTPUT"
	RoleEvent      Role = "EVENT"
	RoleFact       Role = "FACT"
)

// Message is a message type.
type Message struct {
	FullName string
	Package  string
	// Name is the name without the package: `Outer.Inner` for a nested message.
	Name       string
	Role       Opt[Role]
	Comment    string
	Deprecated bool
	// MapEntry messages never appear in a contract: their fields are maps.
	Fields []*Field      // declaration order
	Oneofs []*Oneof      // declaration order, without the synthetic ones of `optional`
	Rules  *MessageRules // nil without any
	Pos    Pos
}

// Field finds a field by its proto name; nil when there is none.
func (m *Message) Field(name string) *Field {
	for _, f := range m.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Oneof is a group of fields of which at most one is set.
type Oneof struct {
	Name    string
	Comment string
	Fields  []string // proto names, declaration order
	// Required says that exactly one of the fields is set.
	Required bool
	Pos      Pos
}

// Cardinality says how many values a field holds.
type Cardinality string

// The cardinalities of fields.
const (
	Singular Cardinality = "singular"
	Repeated Cardinality = "repeated"
	Map      Cardinality = "map"
)

// Presence says whether an unset singular field differs from one that holds its
// default.
type Presence string

// The presences of fields. Repeated fields and maps have implicit presence.
const (
	Implicit Presence = "implicit"
	Explicit Presence = "explicit"
	Required Presence = "required"
)

// Kind is the type of a value, by protobuf's own name.
type Kind string

// The kinds of values. Groups and delimited messages are KindMessage.
const (
	KindDouble   Kind = "double"
	KindFloat    Kind = "float"
	KindInt32    Kind = "int32"
	KindInt64    Kind = "int64"
	KindUint32   Kind = "uint32"
	KindUint64   Kind = "uint64"
	KindSint32   Kind = "sint32"
	KindSint64   Kind = "sint64"
	KindFixed32  Kind = "fixed32"
	KindFixed64  Kind = "fixed64"
	KindSfixed32 Kind = "sfixed32"
	KindSfixed64 Kind = "sfixed64"
	KindBool     Kind = "bool"
	KindString   Kind = "string"
	KindBytes    Kind = "bytes"
	KindEnum     Kind = "enum"
	KindMessage  Kind = "message"
)

// IsScalar reports whether the kind is neither a message nor an enum.
func (k Kind) IsScalar() bool { return k != KindMessage && k != KindEnum }

// Field is a field of a message.
type Field struct {
	Name        string // proto name; `[pkg.name]` for an extension
	JSONName    string // ProtoJSON name, default or set
	Number      int32
	Cardinality Cardinality
	// Kind and Type describe the value, the element, or the map's value.
	// Type is the full name of the message or enum, else empty.
	Kind Kind
	Type string
	// Key is the kind of a map's keys, else empty.
	Key      Kind
	Presence Presence
	// Oneof is the name of the oneof that holds the field, else empty.
	Oneof string
	// Default is the value of the `default` option in text form as protoc writes it
	// to FieldDescriptorProto.default_value; Set when there is one.
	Default    Opt[string]
	Delimited  bool
	Deprecated bool
	Comment    string
	Pos        Pos

	State *StateField // nil without the state_field option
	Tool  *ToolField  // nil without the tool_field option
	Rules *Rules      // nil without validation rules
	// Behaviors are what google.api.field_behavior says, in the order of the proto.
	Behaviors []Behavior
}

// Is reports whether the field has a behavior.
func (f *Field) Is(behavior Behavior) bool { return slices.Contains(f.Behaviors, behavior) }

// StateField is the state_field option of a field.
type StateField struct {
	Reducer      Opt[Reducer]
	Checkpoint   Opt[bool]
	PublicInput  Opt[bool]
	PublicOutput Opt[bool]
	Pos          Pos
}

// Reducer says how a state field merges updates.
type Reducer string

// The reducers. An unset reducer means REPLACE with one writer per superstep.
const (
	ReducerUnset Reducer = ""
	Replace      Reducer = "REPLACE"
	AppendList   Reducer = "APPEND_LIST"
	MergeMap     Reducer = "MERGE_MAP"
	AddMessages  Reducer = "ADD_MESSAGES"
)

// ToolField is the tool_field option of a field.
type ToolField struct {
	InjectFromState Opt[string]
	Pos             Pos
}

// Enum is an enum type.
type Enum struct {
	FullName   string
	Package    string
	Name       string // without the package, as Message.Name
	Comment    string
	Closed     bool
	Deprecated bool
	Values     []*EnumValue // declaration order, aliases included
	Pos        Pos
}

// EnumValue is a value of an enum.
type EnumValue struct {
	Name       string
	Number     int32
	Comment    string
	Deprecated bool
	Pos        Pos
}

// ChatMessage is the full name of the message type that ADD_MESSAGES merges.
const ChatMessage = "ameide_core_proto.agent.v1.ChatMessage"

// LowerCamel is the JSON name that a field has when it says none.
func LowerCamel(name string) string {
	var b strings.Builder
	upper := false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			upper = true
		case upper && c >= 'a' && c <= 'z':
			b.WriteByte(c - 'a' + 'A')
			upper = false
		default:
			b.WriteByte(c)
			upper = false
		}
	}
	return b.String()
}
