package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

// maxToolID is the longest name of a tool that every model provider accepts.
const maxToolID = 63

var toolID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

func (c *checker) checkTools() {
	for _, tool := range c.contract.Tools {
		c.checkToolID(tool)
		c.checkIdempotency(tool)
		if c.used[tool] {
			c.checkReservedToolID(tool)
			c.checkDescription(tool)
			c.checkToolStreaming(tool)
			c.checkTimeout(tool)
		}
	}
	c.checkToolRoles()
	c.checkDuplicateTools()
	for _, agent := range c.contract.Agents {
		c.checkToolNames(agent)
		c.checkInjections(agent)
	}
	for _, message := range c.annotated {
		c.checkStrayToolFields(message)
	}
}

func validToolID(id string) bool {
	return len(id) <= maxToolID && toolID.MatchString(id)
}

// suggestedToolID is the id that a tool with a malformed one, or with none, is
// probably meant to have.
func suggestedToolID(tool *contract.Tool) string {
	return cmp.Or(suggest(tool.ID.Value, "_", maxToolID), suggest(tool.Method, "_", maxToolID), "tool")
}

func (c *checker) checkToolID(tool *contract.Tool) {
	id, place := tool.ID.Value, at(tool.ID.Pos, tool.Pos)
	switch {
	case id == "":
		c.report(diag.New(diag.BadToolID, place, "the tool option of method %s has no tool_id", diag.Code(tool.FullMethod())).
			WithHelp("add `tool_id: \"%s\"` to the option", suggestedToolID(tool)))
	case len(id) > maxToolID:
		c.report(diag.New(diag.BadToolID, place,
			"tool_id %s has %d characters, and model providers accept at most %d", diag.Code(id), len(id), maxToolID).
			WithHelp("write a shorter `tool_id`"))
	case !validToolID(id):
		c.report(diag.New(diag.BadToolID, place,
			"tool_id %s is malformed: it takes letters, digits, `_`, `.` and `-`, and starts with a letter", diag.Code(id)).
			WithHelp("write `tool_id: \"%s\"`", suggestedToolID(tool)))
	}
}

// moduleName is the name of the module that holds the tool, and of its attribute
// in the registry. Case is folded because some file systems do.
func moduleName(id string) string { return strings.ToLower(separators.Replace(id)) }

var separators = strings.NewReplacer(".", "_", "-", "_")

func (c *checker) checkReservedToolID(tool *contract.Tool) {
	module := moduleName(tool.ID.Value)
	var reason string
	switch {
	case toolModules[module]:
		reason = "a module of the generated package itself"
	case pythonKeywords[module]:
		reason = "a keyword of Python"
	case windowsDevices[module]:
		reason = "a device on Windows, and no file there can have its name"
	default:
		return
	}
	c.report(diag.New(diag.ReservedToolID, at(tool.ID.Pos, tool.Pos),
		"tool_id %s cannot be used: %s is %s", diag.Code(tool.ID.Value), diag.Code(module), reason).
		WithHelp("choose another id, for instance `tool_id: \"%s_tool\"`", tool.ID.Value))
}

func (c *checker) checkDescription(tool *contract.Tool) {
	if strings.TrimSpace(tool.Text()) != "" {
		return
	}
	c.report(diag.New(diag.NoToolDescription, tool.Pos,
		"tool %s has neither a description nor a comment, and a model chooses tools by what they say they do", toolName(tool)).
		WithHelp("write a comment above `rpc %s`, or add `description: \"...\"` to the tool option", tool.Method))
}

func (c *checker) checkToolStreaming(tool *contract.Tool) {
	var what, edit string
	switch {
	case tool.ClientStreaming && tool.ServerStreaming:
		what, edit = "its requests and its responses", "both types"
	case tool.ClientStreaming:
		what, edit = "its requests", "the request type"
	case tool.ServerStreaming:
		what, edit = "its responses", "the response type"
	default:
		return
	}
	c.report(diag.New(diag.ToolStreaming, tool.Pos,
		"tool %s streams %s, and a tool call is one request and one response", toolName(tool), what).
		WithHelp("remove `stream` before %s of `rpc %s`", edit, tool.Method))
}

// checkTimeout refuses a deadline that no call can meet.
func (c *checker) checkTimeout(tool *contract.Tool) {
	if tool.DefaultTimeoutMS.Set && tool.DefaultTimeoutMS.Value == 0 {
		c.report(diag.New(diag.BadOptionValue, at(tool.DefaultTimeoutMS.Pos, tool.Pos),
			"default_timeout_ms of tool %s is 0, so every call would fail", toolName(tool)).
			WithHelp("write a number of milliseconds, or remove `default_timeout_ms`"))
	}
}

func (c *checker) checkIdempotency(tool *contract.Tool) {
	if !tool.Idempotent.Set || tool.Idempotent.Value || tool.IdempotencyLevel == contract.IdempotencyUnknown {
		return
	}
	c.report(diag.New(diag.IdempotencyConflict, at(tool.Idempotent.Pos, tool.Pos),
		"tool %s says `idempotent: false`, and its method says `idempotency_level = %s`", toolName(tool), tool.IdempotencyLevel).
		WithHelp("write `idempotent: true`, or remove `option idempotency_level = %s;`", tool.IdempotencyLevel))
}

// use is a message as the request or the response of a tool.
type use struct {
	tool *contract.Tool
	role contract.Role
}

// what says it: "the request of tool `web_search`".
func (u use) what() string {
	if u.role == contract.RoleToolInput {
		return "the request of tool " + toolName(u.tool)
	}
	return "the response of tool " + toolName(u.tool)
}

// checkToolRoles looks at messages, not at tools, so that a message that several
// tools share is reported once.
func (c *checker) checkToolRoles() {
	messages := make(map[string]*contract.Message)
	uses := make(map[string][]use)
	add := func(message *contract.Message, u use) {
		if message != nil {
			messages[message.FullName] = message
			uses[message.FullName] = append(uses[message.FullName], u)
		}
	}
	for _, tool := range c.contract.Tools {
		add(tool.Input, use{tool, contract.RoleToolInput})
		add(tool.Output, use{tool, contract.RoleToolOutput})
	}
	for _, message := range sortedByName(messages) {
		c.checkToolRole(message, uses[message.FullName])
	}
}

func (c *checker) checkToolRole(message *contract.Message, uses []use) {
	first := uses[0]
	// A tool that an agent uses tells best why the role matters.
	if i := slices.IndexFunc(uses, func(u use) bool { return c.used[u.tool] }); i >= 0 {
		first = uses[i]
	}
	other := slices.IndexFunc(uses, func(u use) bool { return u.role != first.role })
	isWrong := message.Role.Set && message.Role.Value != contract.RoleNone && message.Role.Value != first.role
	switch {
	case !c.used[first.tool] && !isWrong:
		// Nothing says what the message is, and nobody needs to know.
	case contract.IsBuiltIn(message.FullName):
		c.report(diag.New(diag.ToolRole, first.tool.Pos,
			"%s is %s, which has no role", first.what(), diag.Code(message.FullName)).
			WithHelp("declare a message for it, for instance `message %s {}`, with `%s`",
				wantedMessage(first), c.roleOption(first.role)))
	case other >= 0:
		c.report(sharedMessage(message, first, uses[other]))
	case isWrong:
		c.report(diag.New(diag.ToolRole, at(message.Role.Pos, message.Pos),
			"message %s is %s and has role %s", diag.Code(message.FullName), first.what(), message.Role.Value).
			WithNote(first.tool.Pos, "it is %s", first.what()).
			WithHelp("%s", wrongRoleHelp(message, first)))
	case message.Role.Value == contract.RoleNone:
		c.report(diag.New(diag.ToolRole, at(message.Role.Pos, message.Pos),
			"message %s is %s and has no role", diag.Code(message.FullName), first.what()).
			WithNote(first.tool.Pos, "it is %s", first.what()).
			WithHelp("add `%s` to the message", c.roleOption(first.role)))
	}
}

func sharedMessage(message *contract.Message, a, b use) diag.Diagnostic {
	both := a.what() + " and " + b.what()
	if a.tool == b.tool {
		both = "the request and the response of tool " + toolName(a.tool)
	}
	d := diag.New(diag.ToolRole, at(message.Role.Pos, message.Pos),
		"message %s is %s, and a message has one role", diag.Code(message.FullName), both).
		WithNote(a.tool.Pos, "method %s", diag.Code(a.tool.FullMethod()))
	if a.tool != b.tool {
		d = d.WithNote(b.tool.Pos, "method %s", diag.Code(b.tool.FullMethod()))
	}
	return d.WithHelp("declare two messages, one with `role: TOOL_INPUT` and one with `role: TOOL_OUTPUT`")
}

// wrongRoleHelp leaves a message its role where that says what it is for, and
// corrects a tool role that is the wrong one of the two.
func wrongRoleHelp(message *contract.Message, u use) string {
	switch message.Role.Value {
	case contract.RoleToolInput, contract.RoleToolOutput:
		return fmt.Sprintf("write `role: %s`", u.role)
	default:
		return fmt.Sprintf("declare a message for the tool alone, for instance `%s`, with `role: %s`", wantedMessage(u), u.role)
	}
}

// wantedMessage is the name of a message of its own for the use.
func wantedMessage(u use) string {
	if u.role == contract.RoleToolInput {
		return u.tool.Method + "Request"
	}
	return u.tool.Method + "Response"
}

// inOrder returns the tools as a reader meets them.
func inOrder(tools []*contract.Tool) []*contract.Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *contract.Tool) int {
		return cmp.Or(byPlace(at(a.ID.Pos, a.Pos), at(b.ID.Pos, b.Pos)), cmp.Compare(a.FullMethod(), b.FullMethod()))
	})
	return sorted
}

func (c *checker) checkDuplicateTools() {
	first := make(map[string]*contract.Tool)
	for _, tool := range inOrder(c.contract.Tools) {
		id := tool.ID.Value
		if id == "" {
			continue
		}
		earlier := first[id]
		if earlier == nil {
			first[id] = tool
			continue
		}
		c.report(duplicateTool(tool, earlier, fmt.Sprintf("tool_id %s of method %s is already the id of method %s",
			diag.Code(id), diag.Code(tool.FullMethod()), diag.Code(earlier.FullMethod()))))
	}
}

// checkToolNames refuses tools of one agent whose ids differ and whose derived
// names do not.
func (c *checker) checkToolNames(agent *contract.Agent) {
	byName := make(map[string]*contract.Tool)
	byModule := make(map[string]*contract.Tool)
	for _, tool := range c.tools[agent] {
		id := tool.ID.Value
		if !validToolID(id) {
			continue
		}
		name, module := "name "+tool.Name, "module "+moduleName(id)
		for _, derived := range []struct {
			what, name string
			seen       map[string]*contract.Tool
		}{
			{"shown to models as", name, byName},
			{"generated as the module", module, byModule},
		} {
			earlier := derived.seen[derived.name]
			if earlier == nil {
				derived.seen[derived.name] = tool
				continue
			}
			if earlier.ID.Value == id {
				continue
			}
			_, shown, _ := strings.Cut(derived.name, " ")
			c.report(duplicateTool(tool, earlier, fmt.Sprintf("tool_id %s of method %s and tool_id %s of method %s are both %s %s",
				diag.Code(id), diag.Code(tool.FullMethod()), diag.Code(earlier.ID.Value), diag.Code(earlier.FullMethod()),
				derived.what, diag.Code(shown))))
			break
		}
	}
}

func duplicateTool(tool, earlier *contract.Tool, message string) diag.Diagnostic {
	return diag.New(diag.DuplicateTool, at(tool.ID.Pos, tool.Pos), "%s", message).
		WithNote(at(earlier.ID.Pos, earlier.Pos), "tool_id %s of method %s", diag.Code(earlier.ID.Value), diag.Code(earlier.FullMethod())).
		WithHelp("give one of the two tools another `tool_id`, and change it in `required_tool_ids` too")
}

// checkInjections wants, for each parameter that the state fills, a state field
// of the same type in every agent that uses the tool.
func (c *checker) checkInjections(agent *contract.Agent) {
	for _, tool := range c.tools[agent] {
		if tool.Input == nil {
			continue
		}
		for _, parameter := range tool.Input.Fields {
			if parameter.Tool != nil {
				c.checkInjection(agent, tool, parameter)
			}
		}
	}
}

func (c *checker) checkInjection(agent *contract.Agent, tool *contract.Tool, parameter *contract.Field) {
	inject := parameter.Tool.InjectFromState
	place := at(inject.Pos, parameter.Tool.Pos, parameter.Pos)
	if inject.Value == "" {
		c.report(diag.New(diag.BadOptionValue, place,
			"the tool_field option of %s says nothing: it has no inject_from_state", fieldName(tool.Input, parameter)).
			WithHelp("add `inject_from_state: \"<state field>\"`, or remove the option"))
		return
	}
	if agent.State == nil {
		return
	}
	source := agent.State.Field(inject.Value)
	if source == nil {
		names := make([]string, 0, len(agent.State.Fields))
		for _, field := range agent.State.Fields {
			names = append(names, field.Name)
		}
		d := diag.New(diag.InjectUnknownField, place,
			"parameter %s of tool %s is filled from state field %s, which the state %s of agent %s does not have",
			diag.Code(parameter.Name), toolName(tool), diag.Code(inject.Value), diag.Code(agent.State.FullName), agentName(agent)).
			WithNote(agent.State.Pos, "the state has the fields %s", list(names))
		if near, ok := c.nearest(inject.Value, names); ok {
			d = d.WithHelp("write `inject_from_state: \"%s\"`", near)
		} else {
			d = d.WithHelp("add the field `%s %s` to the state, or name one of its fields", typeName(parameter), inject.Value)
		}
		c.report(d)
		return
	}
	if !haveSameType(parameter, source) {
		c.report(diag.New(diag.InjectTypeMismatch, place,
			"parameter %s of tool %s is `%s`, and the state field %s that fills it is `%s`",
			diag.Code(parameter.Name), toolName(tool), typeName(parameter), fieldName(agent.State, source), typeName(source)).
			WithNote(source.Pos, "the state field of agent %s", agentName(agent)).
			WithHelp("declare both fields with the same type, for instance the parameter as `%s %s`", typeName(source), parameter.Name))
	}
}

// plainKinds are the kinds of numbers without their encodings: `sint32` and
// `fixed32` say how a number travels, not which numbers there are.
var plainKinds = map[contract.Kind]contract.Kind{
	contract.KindSint32:   contract.KindInt32,
	contract.KindSfixed32: contract.KindInt32,
	contract.KindSint64:   contract.KindInt64,
	contract.KindSfixed64: contract.KindInt64,
	contract.KindFixed32:  contract.KindUint32,
	contract.KindFixed64:  contract.KindUint64,
}

// haveSameType reports whether the fields hold the same values.
func haveSameType(a, b *contract.Field) bool {
	plain := func(kind contract.Kind) contract.Kind { return cmp.Or(plainKinds[kind], kind) }
	return a.Cardinality == b.Cardinality && plain(a.Key) == plain(b.Key) &&
		plain(a.Kind) == plain(b.Kind) && a.Type == b.Type
}

// checkStrayToolFields reports a message once, as checkStrayStateFields does. Of
// the request of a tool in use checkToolRoles says that its role is missing.
func (c *checker) checkStrayToolFields(message *contract.Message) {
	if message.Role.Value == contract.RoleToolInput || c.usedInputs[message.FullName] {
		return
	}
	fields := slices.DeleteFunc(slices.Clone(message.Fields), func(field *contract.Field) bool { return field.Tool == nil })
	if len(fields) == 0 {
		return
	}
	d := diag.New(diag.StrayToolField, at(fields[0].Tool.Pos, fields[0].Pos),
		"message %s carries tool_field on %s, but has %s", diag.Code(message.FullName), fieldList(fields), roleOf(message))
	if message.Role.Set {
		c.report(d.WithNote(at(message.Role.Pos, message.Pos), "its role is declared here").
			WithHelp("remove tool_field from the fields: only the parameters of a tool are filled from the state"))
		return
	}
	c.report(d.WithHelp("remove tool_field from the fields, or add `%s` when the message is the request of a tool", c.roleOption(contract.RoleToolInput)))
}

// toolName names the tool in messages about its other options.
func toolName(tool *contract.Tool) string {
	if tool.ID.Value == "" {
		return diag.Code(tool.FullMethod())
	}
	return diag.Code(tool.ID.Value)
}
