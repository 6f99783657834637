package langgraph

import (
	"fmt"
	"slices"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// stateView is what state_generated.py shows.
type stateView struct {
	Doc py.Code
	// UsesAnnotated says whether the module imports Annotated.
	UsesAnnotated bool
	ThirdParty    []py.Code
	Local         []py.Code
	Enums         []enumView
	Models        []modelView
	Update        classView
	Input         classView
	Output        classView
	// Merges reports whether any field merges its updates.
	Merges     bool
	AllModels  py.Code
	AllEnums   py.Code
	Contract   py.Code
	OutputKeys py.Code
}

type enumView struct {
	// Decorators has the names of the members where they differ, or nothing.
	Decorators []py.Code
	Class      py.Code
	Doc        py.Code
	Members    []memberView
}

type memberView struct {
	Comments []py.Code
	Value    py.Code
}

type modelView struct {
	Class     py.Code
	Doc       py.Code
	HasFields bool
	Fields    []py.Code
	HasOneofs bool
	Oneofs    []py.Code
}

type classView struct {
	Class     py.Code
	HasFields bool
	Fields    []py.Code
}

func newStateView(a *contract.Agent, t *types) (*stateView, error) {
	u := &uses{}
	v := &stateView{Doc: py.Doc(0, "", fmt.Sprintf("Models of agent `%s`: its state, its tools, its facts and its API.", a.ID.Value))}
	var models, enums []py.Expr
	for _, e := range a.Enums {
		names := t.enums[e.FullName]
		v.Enums = append(v.Enums, newEnumView(names))
		enums = append(enums, py.Name(names.class))
	}
	for _, m := range t.order {
		view, err := t.modelView(m, m.message == a.State, u)
		if err != nil {
			return nil, err
		}
		v.Models = append(v.Models, view)
		models = append(models, py.Name(m.class))
	}
	state := t.models[a.State.FullName]
	if state == nil {
		return nil, fmt.Errorf("state %s of agent %s is not among its messages", a.State.FullName, a.ID.Value)
	}
	if err := v.classes(a, state, t, u); err != nil {
		return nil, err
	}
	v.AllModels = py.DeclareAs(0, mustIdent("MODELS"),
		py.Index(py.Ref("tuple"), py.Index(py.Ref("type"), py.Ref("pb.Message")), py.Ellipsis), py.Tuple(models...))
	v.AllEnums = py.DeclareAs(0, mustIdent("ENUMS"),
		py.Index(py.Ref("tuple"), py.Index(py.Ref("type"), py.Ref("IntEnum")), py.Ellipsis), py.Tuple(enums...))
	v.imports(u)
	return v, nil
}

func newEnumView(names enumNames) enumView {
	base := py.Ref("pb.OpenEnum")
	if names.enum.Closed {
		base = py.Ref("pb.ClosedEnum")
	}
	v := enumView{
		Class: py.Class(0, names.class, py.Pos(base)),
		Doc:   py.Doc(1, names.enum.Comment, "Enum `"+names.enum.FullName+"`."),
	}
	var renamed []py.Arg
	for i, value := range names.enum.Values {
		if names.members[i].String() != value.Name {
			renamed = append(renamed, py.Entry(py.Str(names.members[i].String()), py.Str(value.Name)))
		}
		v.Members = append(v.Members, memberView{
			Comments: py.Comment(1, value.Comment),
			Value:    py.Assign(1, names.members[i], py.Int(int64(value.Number))),
		})
	}
	if len(renamed) > 0 {
		v.Decorators = []py.Code{py.Decorator(0, py.Call(py.Ref("pb.proto_names"), py.Pos(py.Dict(renamed...))))}
	}
	return v
}

func (t *types) modelView(m *model, isState bool, u *uses) (modelView, error) {
	bases := []py.Arg{py.Pos(py.Ref("pb.Message")), py.Key(mustIdent("proto"), py.Str(m.message.FullName))}
	where := inMessage
	switch {
	case isState:
		where = inState
	case m.message.Role.Value == contract.RoleState:
		where = inOutput
	default:
		bases = append(bases, t.messageRules(m, u)...)
	}
	v := modelView{
		Class: py.Class(0, m.class, bases...),
		Doc:   py.Doc(1, m.message.Comment, "Message `"+m.message.FullName+"`."),
	}
	for _, f := range m.fields {
		line, err := t.declare(f, where, u)
		if err != nil {
			return modelView{}, err
		}
		v.Fields = append(v.Fields, line)
	}
	v.HasFields = len(v.Fields) > 0
	for _, oneof := range m.message.Oneofs {
		name, err := fieldName(oneof.Name)
		if err != nil {
			return modelView{}, fmt.Errorf("name oneof %s of message %s: %w", oneof.Name, m.message.FullName, err)
		}
		var members []py.Arg
		for _, f := range m.fields {
			if slices.Contains(oneof.Fields, f.Name) {
				members = append(members, py.Pos(py.Str(f.name.String())))
			}
		}
		if oneof.Required && where == inMessage {
			members = append(members, py.Key(mustIdent("required"), py.True))
		}
		v.Oneofs = append(v.Oneofs, py.Assign(1, name, py.Call(py.Ref("pb.OneOf"), members...)))
	}
	v.HasOneofs = len(v.Oneofs) > 0
	return v, nil
}

// classes fills in the classes that belong to the state, and its contract.
func (v *stateView) classes(a *contract.Agent, state *model, t *types, u *uses) error {
	var names []py.Ident
	naming := newNaming(a)
	for _, suffix := range stateSuffixes {
		name, err := naming.state(suffix)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	v.Update.Class = py.Class(0, names[0], py.Pos(py.Ref("TypedDict")), py.Key(mustIdent("total"), py.False))
	v.Input.Class = py.Class(0, names[1], py.Pos(py.Ref("pb.Message")))
	v.Output.Class = py.Class(0, names[2], py.Pos(py.Ref("pb.Message")))

	var outputKeys []py.Expr
	for _, f := range state.fields {
		plain, err := t.plain(f, true, u)
		if err != nil {
			return err
		}
		if checks := t.checks(f, plain, u); len(checks) > 0 {
			u.annotated = true
			plain = py.Index(py.Ref("Annotated"), append([]py.Expr{plain}, checks...)...)
		}
		if f.merges() {
			u.overwrite, v.Merges = true, true
			if f.State.Reducer.Value == contract.AddMessages {
				u.chatUpdate = true
				plain = py.Index(py.Ref("list"), py.Ref("ChatUpdate"))
			}
			plain = py.Union(plain, py.Ref("Overwrite"))
		}
		v.Update.Fields = append(v.Update.Fields, py.Declare(1, f.name, plain))
		if f.State != nil && f.State.PublicInput.Value {
			line, err := t.declare(f, inMessage, u)
			if err != nil {
				return err
			}
			v.Input.Fields = append(v.Input.Fields, line)
		}
		if f.State != nil && f.State.PublicOutput.Value {
			line, err := t.declare(f, inOutput, u)
			if err != nil {
				return err
			}
			v.Output.Fields = append(v.Output.Fields, line)
			outputKeys = append(outputKeys, py.Str(f.name.String()))
		}
	}
	for _, class := range []*classView{&v.Update, &v.Input, &v.Output} {
		class.HasFields = len(class.Fields) > 0
	}
	v.OutputKeys = py.Assign(0, mustIdent("PUBLIC_OUTPUT_KEYS"), py.Tuple(outputKeys...))
	v.Contract = py.Assign(0, mustIdent("STATE"), py.Call(py.Ref("StateContract"),
		py.Key(mustIdent("agent_id"), py.Str(a.ID.Value)),
		py.Key(mustIdent("schema"), py.Name(state.class)),
		py.Key(mustIdent("update_schema"), py.Name(names[0])),
		py.Key(mustIdent("input_schema"), py.Name(names[1])),
		py.Key(mustIdent("output_schema"), py.Name(names[2])),
		py.Key(mustIdent("types"), py.Tuple(py.Star(py.Ref("MODELS")), py.Star(py.Ref("ENUMS")))),
	))
	return nil
}

func (v *stateView) imports(u *uses) {
	var third, local imports
	if u.untracked {
		third.add("langgraph.channels", "UntrackedValue")
	}
	if u.addMessages {
		third.add("langgraph.graph.message", "add_messages")
	}
	if u.overwrite {
		third.add("langgraph.types", "Overwrite")
	}
	third.add("pydantic", "ConfigDict")
	if u.field {
		third.add("pydantic", "Field")
	}
	local.add("..support", "pb")
	if u.rules {
		local.add("..support", "rules")
	}
	if u.untrackedReducer {
		local.add("..support.channels", "UntrackedReducer")
	}
	if u.chat {
		local.add("..support.chat", "ChatMessage")
	}
	if u.chatUpdate {
		local.add("..support.chat", "ChatUpdate")
	}
	if len(u.reducers) > 0 {
		local.add("..support.reducers", u.reducers...)
	}
	local.add("..support.state", "StateContract")
	v.UsesAnnotated = u.annotated
	v.ThirdParty, v.Local = third.code(), local.code()
}
