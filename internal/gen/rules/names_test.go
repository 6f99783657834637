package rules_test

import (
	"testing"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/diag"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

func TestNames(t *testing.T) {
	t.Parallel()
	addMessage := func(pkg, name string) func(*base) {
		return func(b *base) { b.add(message(pkg, name, toolsFile, 90)) }
	}
	addEnum := func(name string) func(*base) {
		return func(b *base) { b.addEnum("acme.tools.v1", name, toolsFile, 90) }
	}
	packages := []string{diag.PackageCollision.Code}
	runRules(t, "names.txt", []rule{
		{name: "messages of one name in two packages", spoil: addMessage("acme.tools.v1", "ResearchState")},
		{
			name: "nested message and message with an underscore",
			spoil: func(b *base) {
				addMessage("acme.tools.v1", "Page.Section")(b)
				b.add(message("acme.tools.v1", "Page_Section", toolsFile, 95))
			},
		},
		{name: "message and enum", spoil: addEnum("WebSearchRequestModel")},
		{
			name: "enums of one name in two packages",
			spoil: func(b *base) {
				addEnum("Depth")(b)
				b.addEnum("acme.agent.v1", "Depth", agentFile, 95)
			},
		},
		{
			name: "two agents see one collision",
			spoil: func(b *base) {
				addMessage("acme.tools.v1", "ResearchState")(b)
				b.addAgent("other-agent", "OtherAgent", 70)
			},
		},
		{name: "message with the name of an enum", spoil: func(b *base) {
			addMessage("acme.tools.v1", "Depth")(b)
			addEnum("Depth")(b)
		}},

		{name: "enum and what is generated for the state", spoil: addEnum("ResearchStateUpdate")},
		{
			name: "enum and what is generated for the state, the enum first",
			spoil: func(b *base) {
				addEnum("ResearchStateInput")(b)
				b.agent.Enums[0].Pos = place(agentFile, 5, b.agent.Enums[0].FullName)
			},
		},
		{name: "names that targets rename", spoil: func(b *base) {
			addMessage("acme.tools.v1", "None")(b)
			for _, name := range []string{"None", "TypedDict", "list", "class", "class_"} {
				addEnum(name)(b)
			}
		}},

		{
			name:  "generated package of one agent and human package of another",
			spoil: func(b *base) { b.addAgent("research-agent-generated", "OtherAgent", 70) },
			want:  packages,
		},
		{
			name:       "one generated package for two agents",
			spoil:      func(b *base) { b.addAgent("other-agent", "OtherAgent", 70) },
			parameters: func(p *params.Parameters) { p.GeneratedPackage = "acme.generated" },
			want:       packages,
		},
		{
			name:       "one package for generated and human code",
			parameters: func(p *params.Parameters) { p.GeneratedPackage = "{agent}" },
			want:       packages,
		},
	})
}
