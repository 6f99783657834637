package rules_test

import (
	"testing"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	keys := func(names ...string) func(*base) {
		return func(b *base) {
			b.fact.IdempotencyKeyFields = nil
			for i, name := range names {
				b.fact.IdempotencyKeyFields = append(b.fact.IdempotencyKeyFields, says(name, agentFile, 85+i))
			}
		}
	}
	second := func(b *base) *contract.Fact {
		m := message("acme.agent.v1", "SearchFailed", agentFile, 90, scalar("request_id", agentFile, 92))
		m.Role = says(contract.RoleEvent, agentFile, 91)
		b.add(m)
		fact := newFact(m, "acme.agent.search.failed.v1", 92)
		b.contract.Facts = append(b.contract.Facts, fact)
		b.agent.Facts = append(b.agent.Facts, fact)
		return fact
	}
	unknownKey := []string{diag.UnknownKeyField.Code}
	badKey := []string{diag.BadKeyField.Code}
	runRules(t, "facts.txt", []rule{
		{name: "type missing", spoil: func(b *base) { b.fact.Type = contract.Opt[string]{} }, want: []string{diag.NoFactType.Code}},
		{name: "no option at all", spoil: func(b *base) { *b.fact = contract.Fact{Message: b.fact.Message} }},
		{
			name:  "type twice",
			spoil: func(b *base) { second(b).Type.Value = b.fact.Type.Value },
			want:  []string{diag.DuplicateFactType.Code},
		},
		{name: "two facts", spoil: func(b *base) { second(b) }},
		{name: "key misspelt", spoil: keys("request_ids"), want: unknownKey},
		{name: "key unknown", spoil: keys("tenant"), want: unknownKey},
		{
			name:  "partition key unknown",
			spoil: func(b *base) { b.fact.PartitionKeyFields[0].Value = "nothing" },
			want:  unknownKey,
		},
		{
			name: "key repeated field",
			spoil: func(b *base) {
				keys("answer")(b)
				b.fact.Message.Field("answer").Cardinality = contract.Repeated
			},
			want: badKey,
		},
		{
			name: "key message field",
			spoil: func(b *base) {
				keys("answer")(b)
				*b.fact.Message.Field("answer") = *typed("answer", agentFile, 84, b.toolOutput)
			},
			want: badKey,
		},
		{name: "key named twice", spoil: keys("answer", "answer"), want: badKey},
		{
			name: "option without role",
			spoil: func(b *base) {
				m := message("acme.agent.v1", "Found", agentFile, 90)
				b.contract.StrayFacts = []*contract.Fact{newFact(m, "found.v1", 91)}
			},
			want: []string{diag.StrayEventFact.Code},
		},
		{
			name: "option with another role",
			spoil: func(b *base) {
				b.contract.StrayFacts = []*contract.Fact{newFact(b.state, "state.v1", 12)}
			},
			want: []string{diag.StrayEventFact.Code},
		},
	})
}
