package langgraph

import (
	"fmt"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph/py"
)

// tool is a tool with its Python names.
type tool struct {
	*contract.Tool
	module py.Ident
	class  py.Ident
}

func newTools(a *contract.Agent) ([]tool, error) {
	tools := make([]tool, len(a.Tools))
	taken := map[string]string{}
	for i, t := range a.Tools {
		module, err := toolModule(t)
		if err != nil {
			return nil, fmt.Errorf("name tool %s: %w", t.ID.Value, err)
		}
		class, err := toolClass(module)
		if err != nil {
			return nil, err
		}
		if other, ok := taken[module.String()]; ok {
			return nil, fmt.Errorf("tools %s and %s both become the module %s", other, t.ID.Value, module)
		}
		taken[module.String()] = t.ID.Value
		tools[i] = tool{t, module, class}
	}
	return tools, nil
}

// toolView is what tool.py shows.
type toolView struct {
	Doc      py.Code
	Local    []py.Code
	Exports  py.Code
	Spec     py.Code
	Class    py.Code
	ClassDoc py.Code
	Input    py.Code
	Output   py.Code
}

func newToolView(t tool, types *types) (*toolView, error) {
	input, output := types.models[t.Input.FullName], types.models[t.Output.FullName]
	var local imports
	local.add("...support.schemas", "ToolSchemas")
	local.add("...support.tools", "ToolAdapter", "ToolSpec")
	side := func(m *contract.Message, named *model) (py.Expr, error) {
		switch {
		case named != nil:
			local.addFrom(3, mustModule("state.generated"), named.class)
			return py.Name(named.class), nil
		case wellKnown[m.FullName] == "pb.Empty":
			local.add("...support", "pb")
			return py.Ref("pb.Empty"), nil
		default:
			return py.Expr{}, fmt.Errorf("tool %s has the message %s, which has no model", t.ID.Value, m.FullName)
		}
	}
	in, err := side(t.Input, input)
	if err != nil {
		return nil, err
	}
	out, err := side(t.Output, output)
	if err != nil {
		return nil, err
	}
	spec := []py.Arg{
		py.Key(mustIdent("tool_id"), py.Str(t.ID.Value)),
		py.Key(mustIdent("name"), py.Str(t.Name)),
		py.Key(mustIdent("display_name"), py.Str(t.displayName())),
		py.Key(mustIdent("description"), py.Text(describe(t.Text()))),
		py.Key(mustIdent("service"), py.Str(t.Service)),
		py.Key(mustIdent("method"), py.Str(t.Method)),
		py.Key(mustIdent("idempotent"), py.Bool(t.IsIdempotent())),
	}
	if t.DefaultTimeoutMS.Set {
		spec = append(spec, py.Key(mustIdent("timeout_ms"), py.Uint(uint64(t.DefaultTimeoutMS.Value))))
	}
	injected, err := t.injected(input)
	if err != nil {
		return nil, err
	}
	if len(injected) > 0 {
		spec = append(spec, py.Key(mustIdent("injected"), py.Dict(injected...)))
	}
	return &toolView{
		Doc:      py.Doc(0, "", fmt.Sprintf("Tool `%s`: rpc `%s`.", t.ID.Value, t.FullMethod())),
		Local:    local.code(),
		Exports:  py.Assign(0, mustIdent("__all__"), py.List(py.Str("SPEC"), py.Str(t.class.String()))),
		Spec:     py.Assign(0, mustIdent("SPEC"), py.Call(py.Ref("ToolSpec"), spec...)),
		Class:    py.Class(0, t.class, py.Pos(py.Index(py.Ref("ToolAdapter"), in, out))),
		ClassDoc: py.Doc(1, t.Text(), "Tool `"+t.ID.Value+"`."),
		Input:    py.Assign(1, mustIdent("input_type"), in),
		Output:   py.Assign(1, mustIdent("output_type"), out),
	}, nil
}

func (t tool) displayName() string {
	if t.DisplayName.Value != "" {
		return t.DisplayName.Value
	}
	return t.ID.Value
}

// injected are the parameters that the state fills, with the state's fields.
func (t tool) injected(input *model) ([]py.Arg, error) {
	var entries []py.Arg
	if input == nil {
		return nil, nil
	}
	for _, f := range input.fields {
		if f.Tool == nil || f.Tool.InjectFromState.Value == "" {
			continue
		}
		from, err := fieldName(f.Tool.InjectFromState.Value)
		if err != nil {
			return nil, fmt.Errorf("name the state field of parameter %s: %w", f.Name, err)
		}
		entries = append(entries, py.Entry(py.Str(f.name.String()), py.Str(from.String())))
	}
	return entries, nil
}

// registryView is what registry.py shows.
type registryView struct {
	Doc      py.Code
	Local    []py.Code
	Adapters py.Code
	Tools    []registryTool
}

type registryTool struct {
	Def    py.Code
	Doc    py.Code
	Return py.Code
}

func newRegistryView(a *contract.Agent, tools []tool) *registryView {
	var local imports
	local.add("...support.tools", "ToolHost", "Toolset")
	v := &registryView{
		Doc: py.Doc(0, "", fmt.Sprintf("The tools of agent `%s`.", a.ID.Value)),
	}
	var adapters []py.Arg
	for _, t := range tools {
		local.addFrom(1, mustModule(t.module.String()), t.class)
		adapters = append(adapters, py.Entry(py.Str(t.ID.Value), py.Name(t.class)))
		v.Tools = append(v.Tools, registryTool{
			Def:    py.Property(1, t.module, py.Name(t.class)),
			Doc:    py.Doc(2, "", "The tool `"+t.ID.Value+"`."),
			Return: py.Return(2, py.Call(py.Ref("self._tool"), py.Pos(py.Name(t.class)))),
		})
	}
	v.Adapters = py.Assign(1, mustIdent("adapters"), py.Dict(adapters...))
	v.Local = local.code()
	return v
}
