package rules

import (
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
)

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
