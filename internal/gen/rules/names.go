package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

func (c *checker) checkNames() {
	for _, agent := range c.contract.Agents {
		c.checkTypeNames(agent)
	}
	c.checkPackages()
}

// generatedType is a class of the generated package.
type generatedType struct {
	name  string
	what  string
	of    string // the full name of the type that it is generated for
	place contract.Pos
}

func (t generatedType) String() string { return t.what + " " + diag.Code(t.of) }

// className is the name of a class without what every target adds to it: nested
// types are flattened. What targets rename, they rename by rules that keep
// different names different.
func className(name string) string { return strings.ReplaceAll(name, ".", "_") }

// typesOf are the classes of an agent as a reader meets what they stand for.
func typesOf(agent *contract.Agent) []generatedType {
	var types []generatedType
	for _, message := range agent.Messages {
		types = append(types, generatedType{className(message.Name) + "Model", "message", message.FullName, message.Pos})
	}
	for _, enum := range agent.Enums {
		types = append(types, generatedType{className(enum.Name), "enum", enum.FullName, enum.Pos})
	}
	if state := agent.State; state != nil {
		for suffix, what := range map[string]string{
			"Update": "the update type of state",
			"Input":  "the input type of state",
			"Output": "the output type of state",
		} {
			types = append(types, generatedType{className(state.Name) + suffix, what, state.FullName, state.Pos})
		}
	}
	slices.SortFunc(types, func(a, b generatedType) int {
		return cmp.Or(byPlace(a.place, b.place), cmp.Compare(a.of, b.of), cmp.Compare(a.name, b.name))
	})
	return types
}

func (c *checker) checkTypeNames(agent *contract.Agent) {
	first := make(map[string]generatedType)
	for _, class := range typesOf(agent) {
		earlier, taken := first[class.name]
		if !taken {
			first[class.name] = class
			continue
		}
		c.report(diag.New(diag.TypeNameCollision, class.place, "%s and %s both become the class %s", class, earlier, diag.Code(class.name)).
			WithNote(earlier.place, "%s", earlier).
			WithHelp("rename one of the two: agent %s uses both, and its classes stand in one module", agentName(agent)))
	}
}

// checkPackages refuses two import packages of one name, whoever owns them.
func (c *checker) checkPackages() {
	type owned struct {
		agent *contract.Agent
		what  string
	}
	agents := slices.Clone(c.contract.Agents)
	slices.SortStableFunc(agents, func(a, b *contract.Agent) int {
		return byPlace(at(a.ID.Pos, a.Pos), at(b.ID.Pos, b.Pos))
	})
	first := make(map[string]owned)
	keys := make(map[string]bool)
	for _, agent := range agents {
		id := agent.ID.Value
		// An id that is wrong or not unique is reported; its packages follow from it.
		if !dnsLabel.MatchString(id) || keys[agentKey(id)] {
			continue
		}
		keys[agentKey(id)] = true
		for _, candidate := range []struct{ name, what string }{
			{c.parameters.GeneratedPackageFor(id), "generated"},
			{c.parameters.ImplPackageFor(id), "human-owned"},
		} {
			key := strings.ToLower(candidate.name)
			earlier, taken := first[key]
			if !taken {
				first[key] = owned{agent, candidate.what}
				continue
			}
			d := diag.New(diag.PackageCollision, at(agent.ID.Pos, agent.Pos),
				"the %s package of agent %s and the %s package of agent %s are both %s",
				candidate.what, agentName(agent), earlier.what, agentName(earlier.agent), diag.Code(candidate.name))
			if earlier.agent != agent {
				d = d.WithNote(at(earlier.agent.ID.Pos, earlier.agent.Pos), "agent %s", agentName(earlier.agent))
			}
			c.report(d.WithHelp("%s", packageHelp(c.parameters.GeneratedPackage, c.parameters.ImplPackage)))
		}
	}
}

func packageHelp(generated, impl string) string {
	for _, parameter := range []struct{ key, value, example string }{
		{"generated_package", generated, "{agent}_generated"},
		{"impl_package", impl, "{agent}"},
	} {
		if !strings.Contains(parameter.value, "{agent}") {
			return "write `{agent}` into the parameter, for instance `" + parameter.key + "=" + parameter.example + "`"
		}
	}
	return "rename one of the agents, or set the parameter `generated_package` or `impl_package`"
}
