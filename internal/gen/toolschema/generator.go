package toolschema

import (
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

const (
	// maxNodes is how large a schema may get by writing out messages that stand in
	// themselves: more of them is more noise than help.
	maxNodes = 300
	// maxInlined is how large a schema may get by writing out any messages.
	maxInlined = 1000
	// maxRepeats is how often a message is written out within itself.
	maxRepeats = 3

	unlimited = 1 << 30
)

// Generator writes the schemas of the tools of one agent, one at a time.
type Generator struct {
	table    *providers
	messages map[string]*contract.Message
	enums    map[string]*contract.Enum
	// owners are the fields that have a JSON name, by message.
	owners map[*contract.Message]map[string]*contract.Field
}

// New prepares the schemas of an agent.
func New(agent *contract.Agent) (*Generator, error) {
	table, err := table()
	if err != nil {
		return nil, err
	}
	g := &Generator{
		table:    table,
		messages: make(map[string]*contract.Message, len(agent.Messages)),
		enums:    make(map[string]*contract.Enum, len(agent.Enums)),
		owners:   make(map[*contract.Message]map[string]*contract.Field),
	}
	for _, m := range agent.Messages {
		g.messages[m.FullName] = m
	}
	for _, e := range agent.Enums {
		g.enums[e.FullName] = e
	}
	return g, nil
}

// Input is the schema of the arguments that a model gives a tool, in the form of a
// profile. Parameters that the state fills are no part of it, and fields that only
// the service sets.
func (g *Generator) Input(tool *contract.Tool, profile Profile) *Schema {
	p := g.table.Profiles[profile]
	var s *Schema
	for limit := range p.attempts() {
		w := &writer{Generator: g, provider: p, limit: limit}
		s = w.root(tool.Input)
		if e := extentOf(s); w.nodes <= limit.nodes && e.nodes <= limit.nodes && e.depth <= p.maxDepth() {
			break
		}
	}
	return s
}

// Output is the schema of what a tool returns: canonical ProtoJSON in JSON Schema,
// draft 2020-12. A service of a newer contract may return more, so that no object
// is closed.
func (g *Generator) Output(tool *contract.Tool) *Schema {
	p := *g.table.Profiles[MCP]
	p.Closed = false
	w := &writer{Generator: g, provider: &p, output: true, limit: limit{unlimited, unlimited, unlimited}}
	return w.root(tool.Output)
}

// limit says how much of the messages a schema writes out.
type limit struct {
	// repeats is how often a message stands within itself, depth how deep messages
	// nest; what is beyond is text.
	repeats, depth int
	// nodes is the size above which the next limit is tried.
	nodes int
}

// attempts are the limits of a profile, the most generous one first. A profile
// with references needs none.
func (p *provider) attempts() func(func(limit) bool) {
	return func(yield func(limit) bool) {
		if p.Refs == "all" {
			yield(limit{unlimited, unlimited, unlimited})
			return
		}
		for repeats := maxRepeats; repeats > 0; repeats-- {
			if !yield(limit{repeats, unlimited, maxNodes}) {
				return
			}
		}
		if !yield(limit{1, unlimited, maxInlined}) {
			return
		}
		for depth := 9; depth > 0; depth-- {
			if !yield(limit{1, depth, maxInlined}) {
				return
			}
		}
	}
}

// writer writes one schema.
type writer struct {
	*Generator
	provider *provider
	output   bool
	limit    limit

	shape shape
	defs  Members
	// open are the messages around the place that is written.
	open  []string
	nodes int
}

func (w *writer) root(m *contract.Message) *Schema {
	w.shape = w.survey(m)
	s := w.object(m, true)
	w.describe(s, "", false)
	slices.SortFunc(w.defs.list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	if len(w.defs.list) > 0 {
		s.Defs = &w.defs
	}
	return s
}

// shape is what is known of the messages that a message holds.
type shape struct {
	// uses counts the fields that hold a message, recursive are those that close a
	// circle, cyclic those from which a circle can be reached.
	uses              map[string]int
	recursive, cyclic map[string]bool
	// names are the names of messages in $defs.
	names map[string]string
}

func (w *writer) survey(root *contract.Message) shape {
	s := shape{
		uses: map[string]int{}, recursive: map[string]bool{}, cyclic: map[string]bool{}, names: map[string]string{},
	}
	type frame struct {
		message *contract.Message
		next    int
	}
	const entered, done = 1, 2
	state := map[string]int{root.FullName: entered}
	stack := []*frame{{message: root}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		name := top.message.FullName
		if top.next == len(top.message.Fields) {
			state[name] = done
			stack = stack[:len(stack)-1]
			if len(stack) > 0 && (s.cyclic[name] || s.recursive[name]) {
				s.cyclic[stack[len(stack)-1].message.FullName] = true
			}
			continue
		}
		f := top.message.Fields[top.next]
		top.next++
		inner := w.messages[f.Type]
		if inner == nil || !w.visible(f, len(stack) == 1) {
			continue
		}
		s.uses[inner.FullName]++
		switch state[inner.FullName] {
		case entered:
			s.recursive[inner.FullName] = true
			s.cyclic[name] = true
		case done:
			if s.cyclic[inner.FullName] || s.recursive[inner.FullName] {
				s.cyclic[name] = true
			}
		default:
			state[inner.FullName] = entered
			stack = append(stack, &frame{message: inner})
		}
	}
	short := map[string]int{}
	for name := range s.uses {
		short[lastPart(name)]++
	}
	for name := range s.uses {
		if short[lastPart(name)] > 1 {
			s.names[name] = strings.ReplaceAll(name, ".", "_")
		} else {
			s.names[name] = lastPart(name)
		}
	}
	return s
}

func lastPart(fullName string) string { return fullName[strings.LastIndexByte(fullName, '.')+1:] }

// visible reports whether models see a field; the state fills some of a request.
func (w *writer) visible(f *contract.Field, inRoot bool) bool {
	if w.output {
		return true
	}
	injected := inRoot && f.Tool != nil && f.Tool.InjectFromState.Value != ""
	return !injected && !f.Is(contract.BehaviorOutputOnly)
}

// message is the schema of a message in a field: text where the schema ends, else
// a reference or written out.
func (w *writer) message(m *contract.Message) *Schema {
	name := m.FullName
	shared := w.shape.uses[name] > 1 || w.shape.recursive[name]
	if w.provider.Refs == "all" && shared {
		return w.reference(m)
	}
	cyclic := w.shape.cyclic[name] || w.shape.recursive[name]
	repeats := 0
	for _, around := range w.open {
		if around == name {
			repeats++
		}
	}
	switch {
	case cyclic && repeats >= w.limit.repeats, len(w.open) >= w.limit.depth, w.nodes > 2*w.limit.nodes:
		w.nodes++
		return text("JSON text of an object of type " + m.Name + ".")
	case w.provider.Refs == "acyclic" && shared && !cyclic:
		return w.reference(m)
	default:
		return w.object(m, false)
	}
}

// reference writes a message into $defs, once.
func (w *writer) reference(m *contract.Message) *Schema {
	name := w.shape.names[m.FullName]
	if !slices.ContainsFunc(w.defs.list, func(d Member) bool { return d.Name == name }) {
		at := len(w.defs.list)
		w.defs.Add(name, nil)
		s := w.object(m, false)
		w.describe(s, "", false)
		w.defs.list[at].Schema = s
	}
	return &Schema{Ref: "#/$defs/" + name}
}

// text is a value that is given as text.
func text(notes ...string) *Schema { return &Schema{Type: Types{"string"}, notes: notes} }

// record is an object that has the properties that are added to it, and no others
// where a profile wants that said.
func (w *writer) record() *Schema {
	s := &Schema{Type: Types{"object"}, Properties: &Members{}}
	if w.provider.Closed {
		s.AdditionalProperties = false
	}
	return s
}

// object is the schema of a message, without its description.
func (w *writer) object(m *contract.Message, isRoot bool) *Schema {
	w.nodes++
	w.open = append(w.open, m.FullName)
	defer func() { w.open = w.open[:len(w.open)-1] }()

	s := w.record()
	if !isRoot {
		s.about = sentences(m.Comment)
	}
	groups := map[string]bool{}
	for _, f := range m.Fields {
		if !w.visible(f, isRoot) {
			continue
		}
		if oneof := oneofOf(m, f); oneof != nil && !w.provider.Native {
			if !groups[oneof.Name] {
				groups[oneof.Name] = true
				w.add(s, w.oneofKey(m, oneof), w.tagged(m, oneof, isRoot), oneof.Required, false)
			}
			continue
		}
		isList := f.Cardinality != contract.Singular
		w.add(s, w.key(m, f), w.field(f), w.mandatory(f), isList)
	}
	if w.provider.AllRequired && s.Required == nil {
		s.Required = []string{}
	}
	if w.provider.Native && !w.output {
		w.exclude(s, m, isRoot)
	}
	if !w.output {
		s.notes = append(s.notes, w.messageNotes(m)...)
	}
	return s
}

// add adds a property, null where a profile wants every property.
func (w *writer) add(s *Schema, key string, value *Schema, required, isList bool) {
	if w.provider.AllRequired && !required && !isList {
		value = value.allowNull()
	}
	s.Properties.Add(key, value)
	if required || w.provider.AllRequired {
		s.Required = append(s.Required, key)
	}
}

// mandatory reports whether a property is required. Of an output, only what
// protobuf itself requires is always printed.
func (w *writer) mandatory(f *contract.Field) bool {
	switch {
	case w.output:
		return f.Presence == contract.Required
	case f.Oneof != "" && f.Presence != contract.Required && (f.Rules == nil || !f.Rules.Required):
		return false
	default:
		return f.Is(contract.BehaviorRequired) || f.Mandatory(w.enums[f.Type])
	}
}

// key is the name of a property: the ProtoJSON name, and the proto name where
// another field has that already, as old files may. The brackets of an extension
// are none of the characters that providers take.
func (w *writer) key(m *contract.Message, f *contract.Field) string {
	owners := w.owners[m]
	if owners == nil {
		owners = make(map[string]*contract.Field, len(m.Fields))
		for _, field := range m.Fields {
			if owners[field.JSONName] == nil {
				owners[field.JSONName] = field
			}
		}
		w.owners[m] = owners
	}
	key := f.JSONName
	if owners[key] != f {
		key = f.Name
	}
	if w.provider.Native {
		return key
	}
	return strings.Trim(key, "[]")
}

func oneofOf(m *contract.Message, f *contract.Field) *contract.Oneof {
	for _, oneof := range m.Oneofs {
		if f.Oneof != "" && oneof.Name == f.Oneof {
			return oneof
		}
	}
	return nil
}

// oneofKey is the property that holds a oneof: its name as ProtoJSON would write
// it, unless a field has it.
func (w *writer) oneofKey(m *contract.Message, oneof *contract.Oneof) string {
	key := contract.LowerCamel(oneof.Name)
	isTaken := func(name string) bool {
		return slices.ContainsFunc(m.Fields, func(f *contract.Field) bool { return f.Name == name || f.JSONName == name })
	}
	if isTaken(key) {
		key = oneof.Name
	}
	for isTaken(key) {
		key += "_"
	}
	return key
}

// tagged is a oneof as an object with one property, that of the field that is set.
func (w *writer) tagged(m *contract.Message, oneof *contract.Oneof, isRoot bool) *Schema {
	var choices []*Schema
	for _, f := range m.Fields {
		if f.Oneof != oneof.Name || !w.visible(f, isRoot) {
			continue
		}
		choice := w.record()
		choice.Required = []string{w.key(m, f)}
		choice.Properties.Add(w.key(m, f), w.field(f))
		w.nodes++
		choices = append(choices, choice)
	}
	s := &Schema{AnyOf: choices}
	if len(choices) == 1 {
		s = choices[0]
	}
	w.describe(s, oneof.Comment, false)
	return s
}

// exclude says of the members of oneofs, which stand beside each other, that one
// of them excludes the others.
func (w *writer) exclude(s *Schema, m *contract.Message, isRoot bool) {
	for _, oneof := range m.Oneofs {
		var keys []string
		for _, f := range m.Fields {
			if f.Oneof == oneof.Name && w.visible(f, isRoot) {
				keys = append(keys, w.key(m, f))
			}
		}
		if len(keys) == 0 || len(keys) == 1 && !oneof.Required {
			continue
		}
		s.notes = append(s.notes, oneofNote(keys, oneof.Required))
		for i, key := range keys[:len(keys)-1] {
			others := &Members{}
			for _, other := range keys[i+1:] {
				others.Add(other, never())
			}
			if s.DependentSchemas == nil {
				s.DependentSchemas = &Members{}
			}
			s.DependentSchemas.Add(key, &Schema{Properties: others})
		}
		// Providers refuse what combines schemas at the root.
		if oneof.Required && !isRoot && len(s.AnyOf) == 0 {
			for _, key := range keys {
				s.AnyOf = append(s.AnyOf, &Schema{Required: []string{key}})
			}
		}
	}
}
