package contract

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	annotationsv1 "github.com/ameideio/protoc-gen-ameide-agent/annotations/ameide_core_proto/annotations/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/source"
)

// Build makes the contract of a request. The diagnostics are about options that
// cannot be read; what the contract itself gets wrong is for package rules.
func Build(v *source.View, p params.Parameters) (*Contract, []diag.Diagnostic) {
	b := &builder{
		view: v,
		contract: &Contract{
			Messages: map[string]*Message{},
			Enums:    map[string]*Enum{},
		},
		converted:  map[protoreflect.FullName]*Message{},
		extensions: map[protoreflect.FullName][]protoreflect.FieldDescriptor{},
		states:     map[protoreflect.FullName]protoreflect.MessageDescriptor{},
		factFiles:  map[*Fact]string{},
	}
	b.indexExtensions()
	for _, fd := range v.Files() {
		b.file(fd)
	}
	b.finishMessages()
	b.sort()
	b.indexTools()
	for _, pending := range b.agents {
		b.finishAgent(pending, p)
	}
	return b.contract, b.diagnostics
}

type builder struct {
	view        *source.View
	contract    *Contract
	diagnostics []diag.Diagnostic

	// converted are the messages that were asked for; work are those of them
	// whose fields are still to be converted.
	converted map[protoreflect.FullName]*Message
	// extensions are the extensions of each message, by number.
	extensions map[protoreflect.FullName][]protoreflect.FieldDescriptor
	work       []protoreflect.MessageDescriptor

	states    map[protoreflect.FullName]protoreflect.MessageDescriptor
	factFiles map[*Fact]string
	agents    []pendingAgent

	// toolByID and allTools are the tools that have an id of their own.
	toolByID map[string]*Tool
	allTools []*Tool // by id
}

// pendingAgent is an agent whose parts are sought when all files are read.
type pendingAgent struct {
	agent   *Agent
	service protoreflect.ServiceDescriptor
}

// take keeps the diagnostics of reading an option.
func take[T any](b *builder, option T, diagnostics []diag.Diagnostic) T {
	b.diagnostics = append(b.diagnostics, diagnostics...)
	return option
}

func (b *builder) file(fd protoreflect.FileDescriptor) {
	for i := range fd.Services().Len() {
		b.service(fd.Services().Get(i), b.view.IsToGenerate(fd))
	}
	var work []protoreflect.MessageDescriptor
	push := func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			work = append(work, messages.Get(i))
		}
	}
	for push(fd.Messages()); len(work) > 0; {
		md := work[len(work)-1]
		work = work[:len(work)-1]
		push(md.Messages())
		if !md.IsMapEntry() {
			b.labelled(md)
		}
	}
}

// labelled takes a message of an annotated file into the contract when it
// carries an option, itself or on a field.
func (b *builder) labelled(md protoreflect.MessageDescriptor) {
	// A role and the options of fields are read again with the message, and
	// reported there.
	role := RoleNone
	if option, diagnostics := b.view.Role(md); option != nil || len(diagnostics) > 0 {
		role = b.message(md).Role.Value
	}
	for i := range md.Fields().Len() {
		state, stateDiagnostics := b.view.StateField(md.Fields().Get(i))
		tool, toolDiagnostics := b.view.ToolField(md.Fields().Get(i))
		if state != nil || tool != nil || len(stateDiagnostics)+len(toolDiagnostics) > 0 {
			b.contract.Annotated = append(b.contract.Annotated, b.message(md))
			break
		}
	}
	option, diagnostics := b.view.EventFact(md)
	fact := take(b, option, diagnostics)
	isFact := role == RoleFact || role == RoleEvent
	if role == RoleState {
		b.states[md.FullName()] = md
		b.contract.States = append(b.contract.States, b.message(md))
	}
	if !isFact && fact == nil {
		return
	}
	f := &Fact{Message: b.message(md), Pos: b.view.Pos(md)}
	if fact != nil {
		f.HasOption = true
		f.Pos = fact.Pos()
		f.Type = text(fact.Value.Type, fact.Pos(1))
		f.SchemaSubject = text(fact.Value.SchemaSubject, fact.Pos(2))
		f.StreamRef = text(fact.Value.StreamRef, fact.Pos(3))
		f.PartitionKeyFields = texts(fact.Value.GetPartitionKeyFields(), 4, fact.Pos)
		f.IdempotencyKeyFields = texts(fact.Value.GetIdempotencyKeyFields(), 5, fact.Pos)
	}
	if isFact {
		b.factFiles[f] = md.ParentFile().Path()
		b.contract.Facts = append(b.contract.Facts, f)
	} else {
		b.contract.StrayFacts = append(b.contract.StrayFacts, f)
	}
}

func roleOf(role annotationsv1.MessageRole) Role {
	if role == annotationsv1.MessageRole_MESSAGE_ROLE_UNSPECIFIED {
		return RoleNone
	}
	return Role(role.String())
}

func (b *builder) service(sd protoreflect.ServiceDescriptor, generate bool) {
	option, diagnostics := b.view.Agent(sd)
	if generate {
		option = take(b, option, diagnostics)
	}
	if option != nil && generate {
		agent := &Agent{
			ID:              text(option.Value.AgentId, option.Pos(1)),
			EntryNode:       text(option.Value.EntryNode, option.Pos(2)),
			RequiredToolIDs: texts(option.Value.GetRequiredToolIds(), 3, option.Pos),
			Service:         string(sd.FullName()),
			Package:         string(sd.ParentFile().Package()),
			Comment:         b.view.Comment(sd),
			Deprecated:      sd.Options().(*descriptorpb.ServiceOptions).GetDeprecated(),
			Pos:             b.view.Pos(sd),
		}
		for i := range sd.Methods().Len() {
			md := sd.Methods().Get(i)
			b.message(md.Input())
			b.message(md.Output())
			agent.Methods = append(agent.Methods, &Method{
				Name:            string(md.Name()),
				Comment:         b.view.Comment(md),
				Input:           string(md.Input().FullName()),
				Output:          string(md.Output().FullName()),
				ClientStreaming: md.IsStreamingClient(),
				ServerStreaming: md.IsStreamingServer(),
				Pos:             b.view.Pos(md),
			})
		}
		b.contract.Agents = append(b.contract.Agents, agent)
		b.agents = append(b.agents, pendingAgent{agent, sd})
	}
	for i := range sd.Methods().Len() {
		b.method(sd.Methods().Get(i))
	}
}

func (b *builder) method(md protoreflect.MethodDescriptor) {
	option, diagnostics := b.view.Tool(md)
	if option = take(b, option, diagnostics); option == nil {
		return
	}
	standard := md.Options().(*descriptorpb.MethodOptions)
	tool := &Tool{
		ID:               text(option.Value.ToolId, option.Pos(1)),
		DisplayName:      text(option.Value.DisplayName, option.Pos(2)),
		Description:      text(option.Value.Description, option.Pos(3)),
		Idempotent:       flag(option.Value.Idempotent, option.Pos(4)),
		DefaultTimeoutMS: value(option.Value.DefaultTimeoutMs, option.Pos(5)),
		Service:          string(md.Parent().FullName()),
		Method:           string(md.Name()),
		Comment:          b.view.Comment(md),
		Input:            b.message(md.Input()),
		Output:           b.message(md.Output()),
		ClientStreaming:  md.IsStreamingClient(),
		ServerStreaming:  md.IsStreamingServer(),
		Deprecated:       standard.GetDeprecated(),
		Pos:              b.view.Pos(md),
	}
	tool.Name = toolName(tool.ID.Value)
	if level := standard.GetIdempotencyLevel(); level != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN {
		tool.IdempotencyLevel = IdempotencyLevel(level.String())
	}
	b.contract.Tools = append(b.contract.Tools, tool)
}

// toolName is the name of a tool as models see it: they take no dots.
func toolName(id string) string { return strings.ReplaceAll(id, ".", "_") }

// message converts a message, at once its head and later its fields.
func (b *builder) message(md protoreflect.MessageDescriptor) *Message {
	if m := b.converted[md.FullName()]; m != nil {
		return m
	}
	m := &Message{
		FullName:   string(md.FullName()),
		Package:    string(md.ParentFile().Package()),
		Name:       localName(md),
		Comment:    b.view.Comment(md),
		Deprecated: md.Options().(*descriptorpb.MessageOptions).GetDeprecated(),
		Pos:        b.view.Pos(md),
	}
	option, diagnostics := b.view.Role(md)
	if option = take(b, option, diagnostics); option != nil {
		m.Role = Opt[Role]{
			Value: roleOf(option.Value.GetRole()),
			Set:   option.Value.Role != nil,
			Pos:   option.Pos(1),
		}
	}
	b.converted[md.FullName()] = m
	b.work = append(b.work, md)
	return m
}

// localName is the name of a type without its package.
func localName(d protoreflect.Descriptor) string {
	if pkg := d.ParentFile().Package(); pkg != "" {
		return strings.TrimPrefix(string(d.FullName()), string(pkg)+".")
	}
	return string(d.FullName())
}

// finishMessages converts the fields of the messages that were asked for, and
// with them what they reach.
func (b *builder) finishMessages() {
	for len(b.work) > 0 {
		md := b.work[len(b.work)-1]
		b.work = b.work[:len(b.work)-1]
		m := b.converted[md.FullName()]
		m.Rules = b.messageRulesOf(md)
		builtIn := IsBuiltIn(m.FullName)
		if !builtIn {
			b.contract.Messages[m.FullName] = m
		}
		for _, fd := range b.fieldsOf(md) {
			m.Fields = append(m.Fields, b.field(fd))
			value := fd
			if fd.IsMap() {
				value = fd.MapValue()
			}
			switch {
			case builtIn:
			case value.Message() != nil:
				b.message(value.Message())
			case value.Enum() != nil:
				b.enum(value.Enum())
			}
		}
		ignoreUnset(m)
		for i := range md.Oneofs().Len() {
			if od := md.Oneofs().Get(i); !od.IsSynthetic() {
				m.Oneofs = append(m.Oneofs, b.oneof(od))
			}
		}
	}
}

// fieldsOf are the fields of a message in declaration order, and the extensions
// of it that the request declares, by number.
func (b *builder) fieldsOf(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var fields []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		fields = append(fields, md.Fields().Get(i))
	}
	return append(fields, b.extensions[md.FullName()]...)
}

// indexExtensions finds the extensions of every message, wherever they stand.
func (b *builder) indexExtensions() {
	type scope interface {
		Extensions() protoreflect.ExtensionDescriptors
		Messages() protoreflect.MessageDescriptors
	}
	var scopes []scope
	for _, fd := range b.view.Closure() {
		scopes = append(scopes, fd)
	}
	for len(scopes) > 0 {
		last := scopes[len(scopes)-1]
		scopes = scopes[:len(scopes)-1]
		for i := range last.Extensions().Len() {
			extension := last.Extensions().Get(i)
			extended := extension.ContainingMessage().FullName()
			b.extensions[extended] = append(b.extensions[extended], extension)
		}
		for i := range last.Messages().Len() {
			scopes = append(scopes, last.Messages().Get(i))
		}
	}
	for _, extensions := range b.extensions {
		slices.SortFunc(extensions, func(a, b protoreflect.FieldDescriptor) int {
			return cmp.Compare(a.Number(), b.Number())
		})
	}
}

func (b *builder) oneof(od protoreflect.OneofDescriptor) *Oneof {
	oneof := &Oneof{
		Name:     string(od.Name()),
		Comment:  b.view.Comment(od),
		Required: b.isRequired(od),
		Pos:      b.view.Pos(od),
	}
	for i := range od.Fields().Len() {
		oneof.Fields = append(oneof.Fields, string(od.Fields().Get(i).Name()))
	}
	return oneof
}

func (b *builder) field(fd protoreflect.FieldDescriptor) *Field {
	f := &Field{
		Name:        string(fd.Name()),
		JSONName:    fd.JSONName(),
		Number:      int32(fd.Number()),
		Cardinality: Singular,
		Presence:    Implicit,
		Deprecated:  fd.Options().(*descriptorpb.FieldOptions).GetDeprecated(),
		Comment:     b.view.Comment(fd),
		Pos:         b.view.Pos(fd),
	}
	if fd.IsExtension() {
		f.Name = "[" + string(fd.FullName()) + "]"
		f.JSONName = f.Name
	}
	of := fd
	switch {
	case fd.IsMap():
		f.Cardinality = Map
		f.Key, _, _ = kindOf(fd.MapKey())
		of = fd.MapValue()
	case fd.IsList():
		f.Cardinality = Repeated
	case fd.Cardinality() == protoreflect.Required:
		f.Presence = Required
	case fd.HasPresence():
		f.Presence = Explicit
	}
	f.Kind, f.Type, f.Delimited = kindOf(of)
	if oneof := fd.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		f.Oneof = string(oneof.Name())
	}
	if fd.HasDefault() {
		f.Default = Opt[string]{
			Value: protodesc.ToFieldDescriptorProto(fd).GetDefaultValue(),
			Set:   true,
			Pos:   f.Pos,
		}
	}
	if !utf8.ValidString(f.JSONName) || !utf8.ValidString(f.Default.Value) {
		b.diagnostics = append(b.diagnostics, diag.New(diag.BrokenFile, f.Pos,
			"the JSON name or the default of %s is not valid UTF-8", diag.Code(string(fd.FullName()))).
			WithHelp("compile the file again with buf or protoc"))
	}
	stateOption, diagnostics := b.view.StateField(fd)
	if option := take(b, stateOption, diagnostics); option != nil {
		f.State = &StateField{
			Reducer:      Opt[Reducer]{Set: option.Value.Reducer != nil, Pos: option.Pos(1)},
			Checkpoint:   flag(option.Value.Checkpoint, option.Pos(2)),
			PublicInput:  flag(option.Value.PublicInput, option.Pos(3)),
			PublicOutput: flag(option.Value.PublicOutput, option.Pos(4)),
			Pos:          option.Pos(),
		}
		if reducer := option.Value.GetReducer(); reducer != annotationsv1.ReducerKind_REDUCER_KIND_UNSPECIFIED {
			f.State.Reducer.Value = Reducer(reducer.String())
		}
	}
	toolOption, diagnostics := b.view.ToolField(fd)
	if option := take(b, toolOption, diagnostics); option != nil {
		f.Tool = &ToolField{InjectFromState: text(option.Value.InjectFromState, option.Pos(1)), Pos: option.Pos()}
	}
	f.Rules = b.rulesOf(fd)
	f.Behaviors = b.behaviorsOf(fd)
	return f
}

func kindOf(fd protoreflect.FieldDescriptor) (kind Kind, typeName string, delimited bool) {
	switch {
	case fd.Message() != nil:
		return KindMessage, string(fd.Message().FullName()), fd.Kind() == protoreflect.GroupKind
	case fd.Enum() != nil:
		return KindEnum, string(fd.Enum().FullName()), false
	default:
		return Kind(fd.Kind().String()), "", false
	}
}

func (b *builder) enum(ed protoreflect.EnumDescriptor) {
	name := string(ed.FullName())
	if b.contract.Enums[name] != nil || IsBuiltIn(name) {
		return
	}
	e := &Enum{
		FullName:   name,
		Package:    string(ed.ParentFile().Package()),
		Name:       localName(ed),
		Comment:    b.view.Comment(ed),
		Closed:     ed.IsClosed(),
		Deprecated: ed.Options().(*descriptorpb.EnumOptions).GetDeprecated(),
		Pos:        b.view.Pos(ed),
	}
	for i := range ed.Values().Len() {
		value := ed.Values().Get(i)
		e.Values = append(e.Values, &EnumValue{
			Name:       string(value.Name()),
			Number:     int32(value.Number()),
			Comment:    b.view.Comment(value),
			Deprecated: value.Options().(*descriptorpb.EnumValueOptions).GetDeprecated(),
			Pos:        b.view.Pos(value),
		})
	}
	b.contract.Enums[name] = e
}

func (b *builder) sort() {
	c := b.contract
	slices.SortFunc(c.Agents, func(x, y *Agent) int {
		return cmp.Or(cmp.Compare(x.ID.Value, y.ID.Value), cmp.Compare(x.Service, y.Service))
	})
	slices.SortFunc(c.Tools, func(x, y *Tool) int { return cmp.Compare(x.FullMethod(), y.FullMethod()) })
	for _, facts := range [][]*Fact{c.Facts, c.StrayFacts} {
		slices.SortFunc(facts, func(x, y *Fact) int { return cmp.Compare(x.Message.FullName, y.Message.FullName) })
	}
	for _, messages := range [][]*Message{c.States, c.Annotated} {
		slices.SortFunc(messages, compareMessages)
	}
}

func compareMessages(x, y *Message) int { return cmp.Compare(x.FullName, y.FullName) }

// finishAgent finds the parts of an agent among those of the request.
func (b *builder) finishAgent(pending pendingAgent, p params.Parameters) {
	a := pending.agent
	a.StateCandidates = b.stateCandidates(pending.service)
	if len(a.StateCandidates) == 1 {
		a.State = a.StateCandidates[0]
	}
	a.Tools = b.tools(a, p.Tools == params.ToolsAll)
	reachable := b.view.Reachable(pending.service.ParentFile())
	for _, fact := range b.contract.Facts {
		if fact.Message.Package == a.Package || reachable[b.factFiles[fact]] {
			a.Facts = append(a.Facts, fact)
		}
	}
	b.collectTypes(a)
}

// stateCandidates seeks the state of an agent: in what its methods take and
// return, else in its package.
func (b *builder) stateCandidates(sd protoreflect.ServiceDescriptor) []*Message {
	found := map[protoreflect.FullName]bool{}
	look := func(md protoreflect.MessageDescriptor) {
		if md != nil && b.states[md.FullName()] != nil {
			found[md.FullName()] = true
		}
	}
	for i := range sd.Methods().Len() {
		method := sd.Methods().Get(i)
		for _, envelope := range []protoreflect.MessageDescriptor{method.Input(), method.Output()} {
			look(envelope)
			for j := range envelope.Fields().Len() {
				if field := envelope.Fields().Get(j); field.IsMap() {
					look(field.MapValue().Message())
				} else {
					look(field.Message())
				}
			}
		}
	}
	if len(found) == 0 {
		for name, md := range b.states {
			if md.ParentFile().Package() == sd.ParentFile().Package() {
				found[name] = true
			}
		}
	}
	candidates := make([]*Message, 0, len(found))
	for name := range found {
		candidates = append(candidates, b.converted[name])
	}
	slices.SortFunc(candidates, compareMessages)
	return candidates
}

// indexTools finds the tools whose id no other tool has.
func (b *builder) indexTools() {
	b.toolByID = map[string]*Tool{}
	shared := map[string]bool{"": true}
	for _, tool := range b.contract.Tools {
		id := tool.ID.Value
		if b.toolByID[id] != nil {
			shared[id] = true
		}
		b.toolByID[id] = tool
	}
	for id := range shared {
		delete(b.toolByID, id)
	}
	b.allTools = slices.SortedFunc(maps.Values(b.toolByID), compareTools)
}

func compareTools(x, y *Tool) int { return cmp.Compare(x.ID.Value, y.ID.Value) }

// tools are the tools of an agent, by id: those that it requires, or all. An id
// that several tools have belongs to none.
func (b *builder) tools(a *Agent, all bool) []*Tool {
	if all {
		return slices.Clone(b.allTools)
	}
	var tools []*Tool
	for _, id := range a.RequiredToolIDs {
		if tool := b.toolByID[id.Value]; tool != nil {
			tools = append(tools, tool)
		}
	}
	slices.SortFunc(tools, compareTools)
	return slices.Compact(tools)
}

// collectTypes finds the types that the parts of an agent reach.
func (b *builder) collectTypes(a *Agent) {
	var work []string
	if a.State != nil {
		work = append(work, a.State.FullName)
	}
	for _, method := range a.Methods {
		work = append(work, method.Input, method.Output)
	}
	for _, tool := range a.Tools {
		work = append(work, tool.Input.FullName, tool.Output.FullName)
	}
	for _, fact := range a.Facts {
		work = append(work, fact.Message.FullName)
	}
	seen := map[string]bool{}
	for len(work) > 0 {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		if enum := b.contract.Enums[name]; enum != nil {
			a.Enums = append(a.Enums, enum)
		}
		if message := b.contract.Messages[name]; message != nil {
			a.Messages = append(a.Messages, message)
			for _, field := range message.Fields {
				if field.Type != "" {
					work = append(work, field.Type)
				}
			}
		}
	}
	slices.SortFunc(a.Messages, compareMessages)
	slices.SortFunc(a.Enums, func(x, y *Enum) int { return cmp.Compare(x.FullName, y.FullName) })
}

func value[T any](v *T, pos Pos) Opt[T] {
	if v == nil {
		return Opt[T]{Pos: pos}
	}
	return Opt[T]{Value: *v, Set: true, Pos: pos}
}

func text(v *string, pos Pos) Opt[string] { return value(v, pos) }

func flag(v *bool, pos Pos) Opt[bool] { return value(v, pos) }

func texts(values []string, field int32, pos func(...int32) Pos) []Opt[string] {
	var opts []Opt[string]
	for i, v := range values {
		opts = append(opts, Opt[string]{Value: v, Set: true, Pos: pos(field, int32(i))})
	}
	return opts
}
