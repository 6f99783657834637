package rules

import (
	"slices"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func (c *checker) checkStates() {
	for _, agent := range c.contract.Agents {
		switch {
		case agent.State != nil:
		case len(agent.StateCandidates) > 1:
			c.report(c.ambiguousState(agent))
		case !c.hasUndeclaredState(agent):
			c.report(c.noState(agent))
		}
	}
}

func (c *checker) noState(agent *contract.Agent) diag.Diagnostic {
	d := diag.New(diag.NoState, at(agent.Pos, agent.ID.Pos),
		"agent %s has no state: no method of service %s takes or returns a message of role STATE, or one with a field of such a message, and package %s has none",
		agentName(agent), diag.Code(agent.Service), diag.Code(agent.Package))
	for i, state := range c.contract.States {
		if i == maxListed {
			break
		}
		d = d.WithNote(at(state.Role.Pos, state.Pos), "%s has role STATE, but no method uses it", diag.Code(state.FullName))
	}
	return d.WithHelp("add `%s` to the message that is the agent's state and use it in a method of the service", c.roleOption(contract.RoleState))
}

func (c *checker) ambiguousState(agent *contract.Agent) diag.Diagnostic {
	names := make([]string, 0, len(agent.StateCandidates))
	for _, candidate := range agent.StateCandidates {
		names = append(names, candidate.FullName)
	}
	d := diag.New(diag.AmbiguousState, at(agent.Pos, agent.ID.Pos),
		"agent %s has %d messages that could be its state: %s", agentName(agent), len(names), list(names))
	for i, candidate := range agent.StateCandidates {
		if i == maxListed {
			break
		}
		d = d.WithNote(at(candidate.Role.Pos, candidate.Pos), "%s has role STATE", diag.Code(candidate.FullName))
	}
	return d.WithHelp("let the methods of %s take and return one of them, and remove `role: STATE` from what is not a state",
		diag.Code(agent.Service))
}

// hasUndeclaredState reports whether the agent's state is a message that has
// state_field options and lacks the role, which checkStateFields reports.
func (c *checker) hasUndeclaredState(agent *contract.Agent) bool {
	for _, message := range c.annotated {
		if len(strayStateFields(message)) == 0 {
			continue
		}
		if message.Package == agent.Package {
			return true
		}
		for _, method := range agent.Methods {
			for _, envelope := range []string{method.Input, method.Output} {
				if envelope == message.FullName || c.hasFieldOf(envelope, message) {
					return true
				}
			}
		}
	}
	return false
}

func (c *checker) hasFieldOf(envelope string, message *contract.Message) bool {
	outer := c.contract.Messages[envelope]
	return outer != nil && slices.ContainsFunc(outer.Fields, func(field *contract.Field) bool {
		return field.Type == message.FullName
	})
}
