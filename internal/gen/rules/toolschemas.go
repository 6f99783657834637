package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/toolschema"
)

// checkToolSchemas measures what models will see of tools against what their
// providers take: one bad schema makes some of them refuse a whole request.
func (c *checker) checkToolSchemas() {
	if len(c.diagnostics) > 0 {
		return // Of a contract that is wrong in itself, schemas say little.
	}
	providers := c.parameters.Providers
	strict := len(providers) > 0
	if !strict {
		providers = params.Providers()
	}
	reported := make(map[string]bool)
	for _, agent := range c.contract.Agents {
		schemas, err := toolschema.New(agent)
		if err != nil {
			c.report(diag.New(diag.ToolLimit, agent.Pos, "%s", err.Error()))
			return
		}
		for _, provider := range providers {
			for _, breach := range schemas.Check(agent.Tools, toolschema.Profile(provider), strict) {
				// A tool that several agents use is wrong once.
				if key := breachKey(breach); breach.Tool == nil || !reported[key] {
					reported[key] = true
					c.report(c.limitExceeded(agent, breach))
				}
			}
		}
	}
}

func breachKey(b toolschema.Breach) string {
	if b.Tool == nil {
		return ""
	}
	return strings.Join([]string{b.Tool.FullMethod(), string(b.Profile), b.Limit.Name, b.Name}, " ")
}

func (c *checker) limitExceeded(agent *contract.Agent, b toolschema.Breach) diag.Diagnostic {
	kind, pos, who := diag.AgentLimit, at(agent.Pos, agent.ID.Pos), "agent "+agentName(agent)
	if b.Tool != nil {
		kind, pos, who = diag.ToolLimit, at(b.Tool.Pos, b.Tool.ID.Pos), "tool "+diag.Code(b.Tool.ID.Value)
	}
	what := fmt.Sprintf("has %d %s, and at most %d are taken", b.Found, b.Limit.What(), b.Limit.Max)
	if b.Name != "" {
		what = fmt.Sprintf("has the name %s, which does not match %s", diag.Code(b.Name), diag.Code(b.Limit.Pattern))
	}
	others := slices.DeleteFunc(params.Providers(), func(p string) bool {
		return p == string(b.Profile) || len(c.parameters.Providers) > 0 && !slices.Contains(c.parameters.Providers, p)
	})
	help := b.Advice()
	if len(others) > 0 {
		help += fmt.Sprintf("; or say with the parameter %s that the agents do not use this provider",
			diag.Code("providers="+strings.Join(others, "+")))
	}
	return diag.New(kind, pos, "%s does not fit the profile %s: it %s", who, diag.Code(string(b.Profile)), what).
		WithNote(contract.Pos{}, "the limit is from %s", b.Limit.Source).
		WithHelp("%s", help)
}
