package langgraph

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// wellKnown are the Python types of the well-known types.
var wellKnown = map[string]string{
	"google.protobuf.Any":         "pb.Any",
	"google.protobuf.BoolValue":   "pb.Bool",
	"google.protobuf.BytesValue":  "pb.Bytes",
	"google.protobuf.DoubleValue": "pb.Double",
	"google.protobuf.Duration":    "pb.Duration",
	"google.protobuf.Empty":       "pb.Empty",
	"google.protobuf.FieldMask":   "pb.FieldMask",
	"google.protobuf.FloatValue":  "pb.Float",
	"google.protobuf.Int32Value":  "pb.Int32",
	"google.protobuf.Int64Value":  "pb.Int64",
	"google.protobuf.ListValue":   "pb.ListValue",
	"google.protobuf.NullValue":   "pb.NullValue",
	"google.protobuf.StringValue": "pb.String",
	"google.protobuf.Struct":      "pb.Struct",
	"google.protobuf.Timestamp":   "pb.Timestamp",
	"google.protobuf.UInt32Value": "pb.UInt32",
	"google.protobuf.UInt64Value": "pb.UInt64",
	"google.protobuf.Value":       "pb.Value",
}

// scalars are the Python types of the scalar kinds.
var scalars = map[contract.Kind]string{
	contract.KindDouble: "pb.Double", contract.KindFloat: "pb.Float",
	contract.KindInt32: "pb.Int32", contract.KindSint32: "pb.Int32", contract.KindSfixed32: "pb.Int32",
	contract.KindInt64: "pb.Int64", contract.KindSint64: "pb.Int64", contract.KindSfixed64: "pb.Int64",
	contract.KindUint32: "pb.UInt32", contract.KindFixed32: "pb.UInt32",
	contract.KindUint64: "pb.UInt64", contract.KindFixed64: "pb.UInt64",
	contract.KindBool: "pb.Bool", contract.KindString: "pb.String", contract.KindBytes: "pb.Bytes",
}

// model is a message with its Python names.
type model struct {
	message *contract.Message
	class   py.Ident
	fields  []*field
}

// field is a field with its Python name.
type field struct {
	*contract.Field
	name py.Ident
}

// types are the models and enums of one agent, by full name.
type types struct {
	models map[string]*model
	enums  map[string]enumNames
	// order is the models in the order of their definition: what a model needs
	// stands before it, as far as recursion allows.
	order []*model
}

type enumNames struct {
	enum    *contract.Enum
	class   py.Ident
	members []py.Ident // as enum.Values
}

func newTypes(a *contract.Agent) (*types, error) {
	t := &types{models: map[string]*model{}, enums: map[string]enumNames{}}
	naming := newNaming(a)
	for _, e := range a.Enums {
		class, err := naming.enum(e)
		if err != nil {
			return nil, fmt.Errorf("name enum %s: %w", e.FullName, err)
		}
		names := enumNames{enum: e, class: class}
		for _, value := range e.Values {
			member, err := memberName(value.Name)
			if err != nil {
				return nil, fmt.Errorf("name value %s of enum %s: %w", value.Name, e.FullName, err)
			}
			names.members = append(names.members, member)
		}
		t.enums[e.FullName] = names
	}
	for _, m := range a.Messages {
		class, err := naming.model(m)
		if err != nil {
			return nil, fmt.Errorf("name message %s: %w", m.FullName, err)
		}
		named := &model{message: m, class: class}
		for _, f := range m.Fields {
			name, err := fieldName(f.Name)
			if err != nil {
				return nil, fmt.Errorf("name field %s of message %s: %w", f.Name, m.FullName, err)
			}
			named.fields = append(named.fields, &field{f, name})
		}
		t.models[m.FullName] = named
	}
	if err := t.checkClasses(naming); err != nil {
		return nil, err
	}
	t.sort(a)
	return t, nil
}

// checkClasses refuses two types of one name, which the rule of naming excludes.
func (t *types) checkClasses(naming *naming) error {
	taken := map[string]string{}
	take := func(class py.Ident, fullName string) error {
		if other, ok := taken[class.String()]; ok {
			return fmt.Errorf("%s and %s both become the class %s", other, fullName, class)
		}
		taken[class.String()] = fullName
		return nil
	}
	for _, suffix := range stateSuffixes {
		class, err := naming.state(suffix)
		if err != nil {
			return err
		}
		if err := take(class, naming.agent.State.FullName); err != nil {
			return err
		}
	}
	for _, m := range naming.agent.Messages {
		if err := take(t.models[m.FullName].class, m.FullName); err != nil {
			return err
		}
	}
	for _, e := range naming.agent.Enums {
		if err := take(t.enums[e.FullName].class, e.FullName); err != nil {
			return err
		}
	}
	return nil
}

// sort puts every model behind those that its fields hold.
func (t *types) sort(a *contract.Agent) {
	type visit struct {
		model *model
		next  int
	}
	seen := map[string]bool{}
	// A stack of its own, because a schema may nest deeper than ours.
	push := func(stack []visit, fullName string) []visit {
		m := t.models[fullName]
		if m == nil || seen[fullName] {
			return stack
		}
		seen[fullName] = true
		return append(stack, visit{model: m})
	}
	for _, root := range a.Messages {
		stack := push(nil, root.FullName)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.model.fields) {
				t.order = append(t.order, top.model)
				stack = stack[:len(stack)-1]
				continue
			}
			held := top.model.fields[top.next].Type
			top.next++
			stack = push(stack, held)
		}
	}
}

// uses are the names that the annotations of a module need.
type uses struct {
	annotated, field, overwrite, chat, chatUpdate, addMessages, untracked, untrackedReducer, rules bool
	reducers                                                                                       []string
}

// value is the type of one value of a field.
func (t *types) value(f *field, u *uses) (py.Expr, error) {
	switch {
	case f.Type == contract.ChatMessage:
		u.chat = true
		return py.Ref("ChatMessage"), nil
	case wellKnown[f.Type] != "":
		return py.Ref(wellKnown[f.Type]), nil
	case f.Kind == contract.KindMessage:
		if m := t.models[f.Type]; m != nil {
			return py.Name(m.class), nil
		}
	case f.Kind == contract.KindEnum:
		if e, ok := t.enums[f.Type]; ok {
			return py.Name(e.class), nil
		}
	case scalars[f.Kind] != "":
		return py.Ref(scalars[f.Kind]), nil
	}
	return py.Expr{}, fmt.Errorf("field %s has the unknown type %s %s", f.Pos.Element, f.Kind, f.Type)
}

// plain is the type of a field without its metadata. When it is checked, its
// elements have their rules.
func (t *types) plain(f *field, checked bool, u *uses) (py.Expr, error) {
	value, err := t.value(f, u)
	if err != nil {
		return py.Expr{}, err
	}
	rules := f.Rules
	if !checked || isFree(rules) {
		rules = &contract.Rules{}
	}
	switch {
	case f.Cardinality == contract.Repeated:
		return py.Index(py.Ref("list"), t.element(f, value, rules.Items, u)), nil
	case f.Cardinality == contract.Map:
		key := py.Ref(scalars[f.Key])
		if !isFree(rules.Keys) {
			key = t.element(f, key, rules.Keys, u)
		}
		return py.Index(py.Ref("dict"), key, t.element(f, value, rules.Values, u)), nil
	case f.optional() && (!checked || !t.mandatory(f)):
		return py.Union(value, py.None), nil
	default:
		return value, nil
	}
}

// mandatory reports whether a message without the field is not valid.
func (t *types) mandatory(f *field) bool { return f.Mandatory(t.enums[f.Type].enum) }

// optional reports whether the attribute is None when the field is unset. A
// default of its own does not fill it: that it is unset must be seen.
func (f *field) optional() bool {
	return f.Cardinality == contract.Singular && f.Presence == contract.Explicit
}

// names is the metadata that gives a field its other names; nothing where they
// follow from the Python name.
func (f *field) names() []py.Expr {
	switch {
	case f.JSONName != contract.LowerCamel(f.Name):
		return []py.Expr{py.Call(py.Ref("pb.Name"), py.Pos(py.Str(f.Name)), py.Pos(py.Str(f.JSONName)))}
	case f.name.String() != f.Name:
		return []py.Expr{py.Call(py.Ref("pb.Name"), py.Pos(py.Str(f.Name)))}
	default:
		return nil
	}
}

// reducers are the Python functions of the reducers.
var reducers = map[contract.Reducer]string{
	contract.Replace:     "replace",
	contract.AppendList:  "append_list",
	contract.MergeMap:    "merge_map",
	contract.AddMessages: "add_messages",
}

// merges reports whether updates of a state field add to its value.
func (f *field) merges() bool {
	return f.State != nil && (f.State.Reducer.Value == contract.AppendList ||
		f.State.Reducer.Value == contract.MergeMap || f.State.Reducer.Value == contract.AddMessages)
}

// channel is the metadata by which LangGraph makes the channel of a state field.
// It must be the last of an annotation.
func (f *field) channel(plain py.Expr, u *uses) []py.Expr {
	reducer := reducers[f.State.Reducer.Value]
	use := func() py.Expr {
		if f.State.Reducer.Value == contract.AddMessages {
			u.addMessages = true
		} else {
			u.reducers = append(u.reducers, reducer)
		}
		return py.Ref(reducer)
	}
	switch {
	case f.State.Checkpoint.Value && reducer == "":
		return nil
	case f.State.Checkpoint.Value:
		return []py.Expr{use()}
	case reducer == "":
		u.untracked = true
		return []py.Expr{py.Ref("UntrackedValue")}
	case !f.merges():
		u.untracked = true
		return []py.Expr{py.Call(py.Ref("UntrackedValue"), py.Pos(plain), py.Key(mustIdent("guard"), py.False))}
	default:
		u.untrackedReducer = true
		empty := "list"
		if f.Cardinality == contract.Map {
			empty = "dict"
		}
		return []py.Expr{py.Call(py.Ref("UntrackedReducer"), py.Pos(use()), py.Pos(py.Ref(empty)))}
	}
}

// place is where a field is declared.
type place int

// The places: a state holds what was checked when it was written, in parts.
const (
	inMessage place = iota
	inState
	// inOutput is what leaves the state, and the states of others.
	inOutput
)

// declare is the line of a field in a model.
func (t *types) declare(f *field, where place, u *uses) (py.Code, error) {
	checked := where == inMessage
	plain, err := t.plain(f, checked, u)
	if err != nil {
		return py.Code{}, err
	}
	metadata := f.names()
	if checked {
		metadata = append(t.checks(f, plain, u), metadata...)
	}
	for _, behavior := range []contract.Behavior{contract.BehaviorRequired, contract.BehaviorOutputOnly} {
		if where == inMessage && f.Is(behavior) {
			metadata = append(metadata, py.Ref("pb."+string(behavior)))
		}
	}
	if where == inState && f.State != nil {
		metadata = append(metadata, f.channel(plain, u)...)
	}
	annotation := plain
	if len(metadata) > 0 {
		u.annotated = true
		annotation = py.Index(py.Ref("Annotated"), append([]py.Expr{plain}, metadata...)...)
	}
	var options []py.Arg
	if text := f.description(); text != "" {
		options = append(options, py.Key(mustIdent("description"), py.Text(text)))
	}
	if f.Deprecated {
		options = append(options, py.Key(mustIdent("json_schema_extra"), py.Dict(py.Entry(py.Str("deprecated"), py.True))))
	}
	factory := map[contract.Cardinality]string{contract.Repeated: "list", contract.Map: "dict"}[f.Cardinality]
	switch {
	case f.Presence == contract.Required || checked && t.mandatory(f):
		if len(options) == 0 {
			return py.Declare(1, f.name, annotation), nil
		}
	case factory != "":
		options = append([]py.Arg{py.Key(mustIdent("default_factory"), py.Ref(factory))}, options...)
	default:
		value, err := t.zero(f)
		if err != nil {
			return py.Code{}, err
		}
		if len(options) == 0 {
			return py.DeclareAs(1, f.name, annotation, value), nil
		}
		options = append([]py.Arg{py.Key(mustIdent("default"), value)}, options...)
	}
	u.field = true
	return py.DeclareAs(1, f.name, annotation, py.Call(py.Ref("Field"), options...)), nil
}

// zero is the value of a singular field that is not set.
func (t *types) zero(f *field) (py.Expr, error) {
	if f.optional() {
		return py.None, nil
	}
	switch f.Kind {
	case contract.KindBool:
		return py.False, nil
	case contract.KindString:
		return py.Str(""), nil
	case contract.KindBytes:
		return py.Bytes(nil), nil
	case contract.KindDouble, contract.KindFloat:
		return py.Float(0), nil
	case contract.KindEnum:
		return t.zeroEnum(f)
	case contract.KindMessage:
		return py.None, nil
	default:
		return py.Int(0), nil
	}
}

// zeroEnum is the first value of an enum: of an open one, zero.
func (t *types) zeroEnum(f *field) (py.Expr, error) {
	if f.Type == "google.protobuf.NullValue" {
		return py.Ref("pb.NullValue.NULL_VALUE"), nil
	}
	names, ok := t.enums[f.Type]
	if !ok || len(names.members) == 0 {
		return py.Expr{}, fmt.Errorf("field %s has the unknown enum %s", f.Pos.Element, f.Type)
	}
	return py.Attr(py.Name(names.class), names.members[0]), nil
}

// description is the comment of a field, and the default that it stands for when
// it is unset.
func (f *field) description() string {
	text := describe(f.Comment)
	if !f.Default.Set {
		return text
	}
	value := f.Default.Value
	if f.Kind == contract.KindString || f.Kind == contract.KindBytes {
		value = `"` + value + `"`
	}
	return strings.TrimSpace(text + "\nUnset, it stands for " + value + ".")
}

// describe is a comment as the description of a field or a tool: a line for each
// paragraph, list item and indented line, however the comment was wrapped.
func describe(comment string) string {
	var lines []string
	joins := false
	for line := range strings.SplitSeq(strings.ReplaceAll(comment, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(strings.TrimPrefix(line, " "), " \t")
		if joins && continues(line) {
			lines[len(lines)-1] += " " + line
			continue
		}
		lines = append(lines, line)
		joins = line != "" && line[0] != ' ' && line[0] != '\t'
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// listItem is the start of a line that does not continue the one before.
var listItem = regexp.MustCompile(`^([-*+>#|] |[0-9]+[.)] |\s)`)

func continues(line string) bool { return line != "" && !listItem.MatchString(line) }
