// Package targets lists the targets that the plugin is built with.
package targets

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/langgraph"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/version"
)

// All are the targets of the plugin.
func All() gen.Targets {
	return gen.Targets{
		params.TargetContract:  gen.ContractTarget{},
		params.TargetLangGraph: langgraph.New(version.Number),
	}
}
