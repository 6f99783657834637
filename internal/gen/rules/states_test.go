package rules_test

import (
	"testing"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func TestStates(t *testing.T) {
	t.Parallel()
	without := func(b *base) {
		b.agent.State, b.agent.StateCandidates = nil, nil
		b.contract.States, b.contract.Annotated = nil, nil
		delete(b.contract.Messages, b.state.FullName)
	}
	runRules(t, "states.txt", []rule{
		{name: "no state", spoil: without, want: []string{diag.NoState.Code}},
		{
			name: "a state that nothing uses",
			spoil: func(b *base) {
				without(b)
				other := message("acme.other.v1", "OtherState", "acme/other/v1/other.proto", 5, stateField("x", 1, contract.Replace))
				other.Role = says(contract.RoleState, "acme/other/v1/other.proto", 6)
				b.contract.States = []*contract.Message{other}
			},
			want: []string{diag.NoState.Code},
		},
		{
			name: "two states",
			spoil: func(b *base) {
				other := message("acme.agent.v1", "OtherState", agentFile, 90)
				other.Role = says(contract.RoleState, agentFile, 91)
				b.contract.States = append(b.contract.States, other)
				b.agent.State, b.agent.StateCandidates = nil, []*contract.Message{other, b.state}
			},
			want: []string{diag.AmbiguousState.Code},
		},
		{
			name: "a state without its role is one mistake",
			spoil: func(b *base) {
				b.agent.State, b.agent.StateCandidates = nil, nil
				b.contract.States = nil
				b.state.Role = contract.Opt[contract.Role]{}
			},
			want: []string{diag.StrayStateField.Code},
		},
	})
}

func TestStateFields(t *testing.T) {
	t.Parallel()
	reducer := func(field func(b *base) *contract.Field, value contract.Reducer) func(*base) {
		return func(b *base) { field(b).State.Reducer.Value = value }
	}
	notes := func(b *base) *contract.Field { return b.notes }
	facts := func(b *base) *contract.Field { return b.facts }
	query := func(b *base) *contract.Field { return b.query }
	rename := func(name string) func(*base) {
		return func(b *base) { b.notes.Name = name }
	}
	mismatch := []string{diag.ReducerMismatch.Code}
	bytes := []string{diag.CheckpointedBytes.Code}
	reserved := []string{diag.ReservedStateField.Code}
	runRules(t, "statefields.txt", []rule{
		{name: "no option", spoil: func(b *base) { b.notes.State = nil }, want: []string{diag.NoStateField.Code}},
		{
			name: "no option on the only input is one mistake",
			spoil: func(b *base) {
				b.query.State = nil
			},
			want: []string{diag.NoStateField.Code},
		},
		{
			name:  "checkpoint not said",
			spoil: func(b *base) { b.notes.State.Checkpoint = contract.Opt[bool]{} },
			want:  []string{diag.NoCheckpoint.Code},
		},
		{name: "not checkpointed", spoil: func(b *base) { b.notes.State.Checkpoint.Value = false }},

		{name: "APPEND_LIST on a singular field", spoil: reducer(query, contract.AppendList), want: mismatch},
		{name: "APPEND_LIST on a map", spoil: reducer(facts, contract.AppendList), want: mismatch},
		{name: "MERGE_MAP on a list", spoil: reducer(notes, contract.MergeMap), want: mismatch},
		{name: "MERGE_MAP on a singular message", spoil: func(b *base) {
			*b.query = *typed("user_query", agentFile, 30, b.toolOutput)
			b.query.State = stateField("user_query", 3, contract.MergeMap).State
			b.query.State.PublicInput = says(true, agentFile, 34)
			b.query.Pos.Element = b.state.FullName + ".user_query"
			b.agent.Tools = nil
			b.agent.RequiredToolIDs = nil
		}, want: mismatch},
		{name: "ADD_MESSAGES on strings", spoil: reducer(notes, contract.AddMessages), want: mismatch},
		{
			name: "ADD_MESSAGES on one message",
			spoil: func(b *base) {
				b.notes.Cardinality, b.notes.Kind, b.notes.Type = contract.Singular, contract.KindMessage, contract.ChatMessage
				b.notes.State.Reducer.Value = contract.AddMessages
			},
			want: mismatch,
		},
		{
			name: "another reducer on messages",
			spoil: func(b *base) {
				b.notes.Kind, b.notes.Type = contract.KindMessage, contract.ChatMessage
				b.notes.State.Reducer.Value = contract.MergeMap
			},
			want: mismatch,
		},
		{
			name: "ADD_MESSAGES on messages",
			spoil: func(b *base) {
				b.notes.Kind, b.notes.Type = contract.KindMessage, contract.ChatMessage
				b.notes.State.Reducer.Value = contract.AddMessages
			},
		},
		{name: "REPLACE on a list", spoil: reducer(notes, contract.Replace)},
		{name: "no reducer on a map", spoil: func(b *base) { b.facts.State.Reducer = contract.Opt[contract.Reducer]{} }},

		{
			name:  "no public input",
			spoil: func(b *base) { b.query.State.PublicInput.Value = false },
			want:  []string{diag.NoPublicInput.Code},
		},
		{name: "no fields", spoil: func(b *base) {
			b.state.Fields = nil
			b.parameter.Tool = nil
		}, want: []string{diag.NoPublicInput.Code}},
		{
			name:  "input that is not checkpointed",
			spoil: func(b *base) { b.query.State.Checkpoint.Value = false },
			want:  []string{diag.TransientInput.Code},
		},

		{name: "bytes", spoil: func(b *base) { b.notes.Kind = contract.KindBytes }, want: bytes},
		{
			name: "bytes as an input",
			spoil: func(b *base) {
				b.notes.Kind = contract.KindBytes
				b.notes.State.PublicInput = says(true, agentFile, 24)
			},
			want: bytes,
		},
		{name: "bytes in a map", spoil: func(b *base) { b.facts.Kind = contract.KindBytes }, want: bytes},
		{
			name: "bytes in a wrapper",
			spoil: func(b *base) {
				b.notes.Kind, b.notes.Type = contract.KindMessage, "google.protobuf.BytesValue"
			},
			want: bytes,
		},
		{
			name: "bytes in nested types that contain themselves",
			spoil: func(b *base) {
				data := scalar("data", agentFile, 94)
				data.Kind = contract.KindBytes
				leaf := message("acme.agent.v1", "Leaf", agentFile, 93, data)
				tree := message("acme.agent.v1", "Tree", agentFile, 90, scalar("name", agentFile, 91))
				children := typed("children", agentFile, 91, tree)
				children.Cardinality = contract.Repeated
				tree.Fields = append(tree.Fields, children, typed("leaf", agentFile, 92, leaf))
				b.add(leaf, tree)
				b.notes.Kind, b.notes.Type = contract.KindMessage, tree.FullName
			},
			want: bytes,
		},
		{
			name: "bytes that are not checkpointed",
			spoil: func(b *base) {
				b.notes.Kind = contract.KindBytes
				b.notes.State.Checkpoint.Value = false
			},
		},
		{
			name: "a type that contains itself, without bytes",
			spoil: func(b *base) {
				tree := message("acme.agent.v1", "Tree", agentFile, 90)
				tree.Fields = []*contract.Field{typed("child", agentFile, 91, tree)}
				b.add(tree)
				b.notes.Kind, b.notes.Type = contract.KindMessage, tree.FullName
			},
		},

		{
			name: "option outside a state",
			spoil: func(b *base) {
				stray := message("acme.agent.v1", "Source", agentFile, 90, stateField("url", 16, contract.Replace), stateField("title", 17, contract.Replace))
				b.contract.Annotated = append(b.contract.Annotated, stray)
			},
			want: []string{diag.StrayStateField.Code},
		},
		{
			name:  "option in a message of another role",
			spoil: func(b *base) { b.toolOutput.Fields[0].State = b.notes.State },
			want:  []string{diag.StrayStateField.Code},
		},

		{name: "name of a LangGraph channel", spoil: rename("checkpoint_ns"), want: reserved},
		{name: "name configurable", spoil: rename("configurable"), want: reserved},
		{name: "name with two underscores", spoil: rename("__pregel_tasks"), want: reserved},
		{name: "names of node parameters", spoil: rename("runtime")},
		{name: "thread_id", spoil: rename("thread_id")},

		{
			name: "oneof",
			spoil: func(b *base) {
				b.notes.Cardinality, b.notes.Oneof, b.query.Oneof = contract.Singular, "source", "source"
				b.notes.State.Reducer.Value = contract.Replace
				b.state.Oneofs = []*contract.Oneof{{
					Name: "source", Fields: []string{"notes", "user_query"},
					Pos: place(agentFile, 18, "acme.agent.v1.ResearchState.source"),
				}}
			},
		},
		{
			name:  "required",
			spoil: func(b *base) { b.query.Presence = contract.Required },
			want:  []string{diag.RequiredStateField.Code},
		},
	})
}
