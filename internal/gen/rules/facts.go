package rules

import (
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func (c *checker) checkFacts() {
	checked := make(map[*contract.Fact]bool)
	for _, agent := range c.contract.Agents {
		for _, fact := range agent.Facts {
			if checked[fact] || !fact.HasOption {
				continue
			}
			checked[fact] = true
			c.checkFactType(fact)
			c.checkKeyFields(fact, "partition_key_fields", fact.PartitionKeyFields)
			c.checkKeyFields(fact, "idempotency_key_fields", fact.IdempotencyKeyFields)
		}
	}
	c.checkDuplicateFactTypes()
	for _, fact := range c.contract.StrayFacts {
		c.checkStrayFact(fact)
	}
}

func (c *checker) checkFactType(fact *contract.Fact) {
	if strings.TrimSpace(fact.Type.Value) != "" {
		return
	}
	c.report(diag.New(diag.NoFactType, at(fact.Type.Pos, fact.Pos, fact.Message.Pos),
		"the event_fact option of message %s has no type", diag.Code(fact.Message.FullName)).
		WithHelp("add `type: \"%s\"` to the option: a name that never changes", suggestedFactType(fact.Message)))
}

// suggestedFactType is the name of the message in the style of fact types:
// `acme.research.v1.AnswerFound` gives `acme.research.answer.found.v1`.
func suggestedFactType(message *contract.Message) string {
	var parts []string
	version := "v1"
	for part := range strings.SplitSeq(message.Package, ".") {
		if len(part) > 1 && part[0] == 'v' && isDigit(part[1]) {
			version = part
			continue
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(append(parts, words(message.Name)...), version), ".")
}

func (c *checker) checkDuplicateFactTypes() {
	facts := slices.Clone(c.contract.Facts)
	slices.SortStableFunc(facts, func(a, b *contract.Fact) int {
		return byPlace(at(a.Type.Pos, a.Pos), at(b.Type.Pos, b.Pos))
	})
	first := make(map[string]*contract.Fact)
	for _, fact := range facts {
		name := fact.Type.Value
		if name == "" {
			continue
		}
		earlier := first[name]
		if earlier == nil {
			first[name] = fact
			continue
		}
		c.report(diag.New(diag.DuplicateFactType, at(fact.Type.Pos, fact.Pos),
			"type %s of message %s is already the type of message %s",
			diag.Code(name), diag.Code(fact.Message.FullName), diag.Code(earlier.Message.FullName)).
			WithNote(at(earlier.Type.Pos, earlier.Pos), "the type of %s", diag.Code(earlier.Message.FullName)).
			WithHelp("give one of the two messages another `type`"))
	}
}

func (c *checker) checkKeyFields(fact *contract.Fact, option string, keys []contract.Opt[string]) {
	first := make(map[string]contract.Pos, len(keys))
	for _, key := range keys {
		place := at(key.Pos, fact.Pos, fact.Message.Pos)
		if earlier, repeated := first[key.Value]; repeated {
			c.report(diag.New(diag.BadKeyField, place,
				"%s of message %s names %s more than once", option, diag.Code(fact.Message.FullName), diag.Code(key.Value)).
				WithNote(earlier, "named here first").
				WithHelp("remove one of the two"))
			continue
		}
		first[key.Value] = place
		field := fact.Message.Field(key.Value)
		switch {
		case field == nil:
			c.report(c.unknownKeyField(fact, option, key.Value, place))
		case field.Cardinality != contract.Singular || !field.Kind.IsScalar():
			c.report(diag.New(diag.BadKeyField, place,
				"%s of message %s names %s, which is `%s`, and a key is made of single scalar values",
				option, diag.Code(fact.Message.FullName), diag.Code(key.Value), typeName(field)).
				WithNote(field.Pos, "the field").
				WithHelp("name a singular field of a scalar type, or add one to the message"))
		}
	}
}

func (c *checker) unknownKeyField(fact *contract.Fact, option, key string, place contract.Pos) diag.Diagnostic {
	var scalars []string
	for _, field := range fact.Message.Fields {
		if field.Cardinality == contract.Singular && field.Kind.IsScalar() {
			scalars = append(scalars, field.Name)
		}
	}
	d := diag.New(diag.UnknownKeyField, place,
		"%s of message %s names %s, and the message has no such field",
		option, diag.Code(fact.Message.FullName), diag.Code(key))
	if len(scalars) > 0 {
		d = d.WithNote(fact.Message.Pos, "its scalar fields are %s", list(scalars))
	}
	if near, ok := c.nearest(key, scalars); ok {
		return d.WithHelp("write `\"%s\"`", near)
	}
	return d.WithHelp("name a scalar field of the message, or add one")
}

func (c *checker) checkStrayFact(fact *contract.Fact) {
	message := fact.Message
	d := diag.New(diag.StrayEventFact, at(fact.Pos, message.Pos),
		"message %s carries event_fact, but has %s", diag.Code(message.FullName), roleOf(message))
	if message.Role.Set {
		c.report(d.WithNote(at(message.Role.Pos, message.Pos), "its role is declared here").
			WithHelp("remove event_fact, or write `role: FACT` or `role: EVENT`"))
		return
	}
	c.report(d.WithHelp("add `%s`, or `role: EVENT`, or remove event_fact", c.roleOption(contract.RoleFact)))
}
