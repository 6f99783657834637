package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func (c *checker) checkStateFields() {
	checked := make(map[*contract.Message]bool)
	for _, agent := range c.contract.Agents {
		if agent.State != nil && !checked[agent.State] {
			checked[agent.State] = true
			c.checkState(agent.State)
		}
	}
	for _, message := range c.annotated {
		c.checkStrayStateFields(message)
	}
}

func (c *checker) checkState(state *contract.Message) {
	unmarked, inputs := 0, 0
	for _, field := range state.Fields {
		c.checkStateFieldName(state, field)
		c.checkRequiredField(state, field)
		if field.State == nil {
			unmarked++
			c.report(diag.New(diag.NoStateField, field.Pos,
				"field %s has no state_field option", fieldName(state, field)).
				WithHelp("add `[%s = { %scheckpoint: true }]` to the field, or `checkpoint: false` for a value of one run only",
					c.option("state_field"), reducerHint(field)))
			continue
		}
		if field.State.PublicInput.Value {
			inputs++
		}
		c.checkReducer(state, field)
		c.checkCheckpoint(state, field)
	}
	// Fields without the option are reported already: one of them may be the input.
	if inputs == 0 && unmarked == 0 {
		c.report(noPublicInput(state))
	}
}

func noPublicInput(state *contract.Message) diag.Diagnostic {
	if len(state.Fields) == 0 {
		return diag.New(diag.NoPublicInput, state.Pos, "state %s has no fields", diag.Code(state.FullName)).
			WithHelp("declare the fields of the state, at least one of them with `public_input: true`")
	}
	return diag.New(diag.NoPublicInput, state.Pos,
		"no field of state %s is a public input, so no caller could tell the agent anything", diag.Code(state.FullName)).
		WithHelp("add `public_input: true` to the state_field option of each field that callers may set")
}

func (c *checker) checkStateFieldName(state *contract.Message, field *contract.Field) {
	if !langGraphChannels[field.Name] && !strings.HasPrefix(field.Name, "__") {
		return
	}
	suggestion := "state_" + strings.Trim(field.Name, "_")
	c.report(diag.New(diag.ReservedStateField, field.Pos,
		"state field %s has a name that LangGraph reserves", fieldName(state, field)).
		WithHelp("rename the field, for instance to `%s`", strings.TrimRight(suggestion, "_")))
}

// checkRequiredField refuses a field without a default: a checkpoint of before
// the field was added, or the very first one, could not be read.
func (c *checker) checkRequiredField(state *contract.Message, field *contract.Field) {
	if field.Presence != contract.Required {
		return
	}
	c.report(diag.New(diag.RequiredStateField, field.Pos,
		"state field %s is required, and a state starts with every field unset", fieldName(state, field)).
		WithHelp("write `optional` instead of `required`; in an edition remove `features.field_presence = LEGACY_REQUIRED`"))
}

func (c *checker) checkReducer(state *contract.Message, field *contract.Field) {
	var wants string
	switch reducer := field.State.Reducer.Value; reducer {
	case contract.AppendList:
		if field.Cardinality != contract.Repeated {
			wants = "a repeated field"
		}
	case contract.MergeMap:
		if field.Cardinality != contract.Map {
			wants = "a map"
		}
	case contract.AddMessages:
		if field.Cardinality != contract.Repeated || field.Type != contract.ChatMessage {
			wants = "`repeated " + contract.ChatMessage + "`"
		}
	}
	if wants == "" {
		return
	}
	c.report(diag.New(diag.ReducerMismatch, at(field.State.Reducer.Pos, field.State.Pos, field.Pos),
		"reducer %s of field %s wants %s, and the field is `%s`",
		field.State.Reducer.Value, fieldName(state, field), wants, typeName(field)).
		WithHelp("%s", reducerHelp(field)))
}

// fittingReducer is the reducer that a field of the type most probably wants.
func fittingReducer(field *contract.Field) contract.Reducer {
	switch {
	case field.Cardinality == contract.Map:
		return contract.MergeMap
	case field.Cardinality == contract.Repeated && field.Type == contract.ChatMessage:
		return contract.AddMessages
	case field.Cardinality == contract.Repeated:
		return contract.AppendList
	default:
		return contract.Replace
	}
}

// reducerHint is the reducer as a part of an option that is to be added.
func reducerHint(field *contract.Field) string {
	if fits := fittingReducer(field); fits != contract.Replace {
		return fmt.Sprintf("reducer: %s ", fits)
	}
	return ""
}

func reducerHelp(field *contract.Field) string {
	var declare string
	switch field.State.Reducer.Value {
	case contract.AppendList:
		declare = "repeated " + valueName(field)
	case contract.MergeMap:
		declare = "map<string, " + valueName(field) + ">"
	default:
		declare = "repeated " + contract.ChatMessage
	}
	return fmt.Sprintf("write `reducer: %s`, or declare the field as `%s`", fittingReducer(field), declare)
}

func (c *checker) checkCheckpoint(state *contract.Message, field *contract.Field) {
	option := field.State
	switch {
	case !option.Checkpoint.Set:
		c.report(diag.New(diag.NoCheckpoint, at(option.Pos, field.Pos),
			"state field %s does not say whether it is written to checkpoints", fieldName(state, field)).
			WithHelp("add `checkpoint: true` to its state_field option, or `checkpoint: false` for a value of one run only"))
	case !option.Checkpoint.Value && option.PublicInput.Value:
		c.report(diag.New(diag.TransientInput, at(option.Checkpoint.Pos, option.Pos, field.Pos),
			"state field %s is a public input with `checkpoint: false`, and LangGraph stores the input of a run in the first checkpoint",
			fieldName(state, field)).
			WithNote(at(option.PublicInput.Pos, option.Pos, field.Pos), "declared as a public input here").
			WithHelp("write `checkpoint: true`, or `public_input: false`"))
	case option.Checkpoint.Value:
		c.checkBytes(state, field)
	}
}

const bytesValue = "google.protobuf.BytesValue"

// checkBytes refuses a checkpointed field that holds bytes, itself or in what it
// reaches: a checkpoint is written after every superstep, and big things belong
// elsewhere.
func (c *checker) checkBytes(state *contract.Message, field *contract.Field) {
	path, found, ok := c.bytesOf(state, field)
	if !ok {
		return
	}
	option := field.State
	message := fmt.Sprintf("state field %s holds bytes and is checkpointed", fieldName(state, field))
	if found.field != field {
		message = fmt.Sprintf("state field %s is checkpointed and reaches bytes: %s", fieldName(state, field), diag.Code(path))
	}
	d := diag.New(diag.CheckpointedBytes, at(option.Checkpoint.Pos, option.Pos, field.Pos), "%s", message)
	if found.field != field {
		d = d.WithNote(found.field.Pos, "%s holds bytes", fieldName(found.message, found.field))
	}
	help := "keep the bytes in a blob store and only a reference in the state (URI, checksum, size, content type)"
	if !option.PublicInput.Value {
		help += ", or write `checkpoint: false`"
	}
	c.report(d.WithHelp("%s", help))
}

// holder is a field that holds bytes, and the message that declares it.
type holder struct {
	message *contract.Message
	field   *contract.Field
}

func (h holder) isBytes() bool {
	return h.field.Kind == contract.KindBytes || h.field.Type == bytesValue
}

// bytesOf finds the shortest way from a field to bytes: the names on the way and
// the field that holds them.
func (c *checker) bytesOf(state *contract.Message, field *contract.Field) (path string, found holder, ok bool) {
	current := holder{state, field}
	names := []string{field.Name}
	for !current.isBytes() {
		message := c.contract.Messages[current.field.Type]
		distance, reaches := c.toBytes[current.field.Type]
		if message == nil || !reaches {
			return "", holder{}, false
		}
		next := slices.IndexFunc(message.Fields, func(inner *contract.Field) bool {
			if distance == 0 {
				return holder{message, inner}.isBytes()
			}
			innerDistance, innerReaches := c.toBytes[inner.Type]
			return innerReaches && innerDistance == distance-1
		})
		current = holder{message, message.Fields[next]}
		names = append(names, current.field.Name)
	}
	return strings.Join(names, "."), current, true
}

// distancesToBytes says, for each message that reaches bytes, how many messages
// lie on the shortest way. It walks from the bytes outwards, so that types that
// contain themselves or share parts cost nothing extra.
func distancesToBytes(messages map[string]*contract.Message) map[string]int {
	distances := make(map[string]int)
	containers := make(map[string][]string)
	var queue []string
	for name, message := range messages {
		if contract.IsBuiltIn(name) {
			continue
		}
		for _, field := range message.Fields {
			if (holder{message, field}).isBytes() {
				if _, queued := distances[name]; !queued {
					distances[name] = 0
					queue = append(queue, name)
				}
			} else if field.Kind == contract.KindMessage {
				containers[field.Type] = append(containers[field.Type], name)
			}
		}
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, container := range containers[name] {
			if _, queued := distances[container]; !queued {
				distances[container] = distances[name] + 1
				queue = append(queue, container)
			}
		}
	}
	return distances
}

// strayStateFields are the fields of the message that carry state_field although
// the message is no state.
func strayStateFields(message *contract.Message) []*contract.Field {
	if message.Role.Value == contract.RoleState {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(message.Fields), func(field *contract.Field) bool { return field.State == nil })
}

// checkStrayStateFields reports a message once, not each of its fields: what is
// wrong is its role.
func (c *checker) checkStrayStateFields(message *contract.Message) {
	fields := strayStateFields(message)
	if len(fields) == 0 {
		return
	}
	d := diag.New(diag.StrayStateField, at(fields[0].State.Pos, fields[0].Pos),
		"message %s carries state_field on %s, but has %s", diag.Code(message.FullName), fieldList(fields), roleOf(message))
	if message.Role.Set {
		c.report(d.WithNote(at(message.Role.Pos, message.Pos), "its role is declared here").
			WithHelp("write `role: STATE`, or remove state_field from the fields"))
		return
	}
	c.report(d.WithHelp("add `%s` to the message, or remove state_field from the fields", c.roleOption(contract.RoleState)))
}

// roleOf says which role a message has instead of the one it should have.
func roleOf(message *contract.Message) string {
	if message.Role.Value == contract.RoleNone {
		return "no role"
	}
	return "role " + string(message.Role.Value)
}

func fieldList(fields []*contract.Field) string {
	names := make([]string, 0, len(fields))
	for _, field := range fields {
		names = append(names, field.Name)
	}
	return list(names)
}

// fieldName is the quoted full name of the field.
func fieldName(message *contract.Message, field *contract.Field) string {
	return diag.Code(message.FullName + "." + field.Name)
}

// typeName is the type of the field as a proto file writes it.
func typeName(field *contract.Field) string {
	switch field.Cardinality {
	case contract.Repeated:
		return "repeated " + valueName(field)
	case contract.Map:
		return fmt.Sprintf("map<%s, %s>", field.Key, valueName(field))
	default:
		return valueName(field)
	}
}

// valueName is the type of the field's value or element.
func valueName(field *contract.Field) string {
	if field.Type != "" {
		return field.Type
	}
	return string(field.Kind)
}
