package gen

import (
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/emit"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
)

// Targets are the emitters of the plugin, by the value of the `target` parameter
// that chooses them. A target that the parameter knows and this map does not is
// reported as not available.
type Targets map[string]emit.Emitter

// ContractTarget emits the canonical JSON of each agent's contract.
type ContractTarget struct{}

var _ emit.Emitter = ContractTarget{}

// Emit gives `<agent-id>/contract.json` for every agent.
func (ContractTarget) Emit(c *contract.Contract, _ params.Parameters) ([]emit.File, error) {
	files := make([]emit.File, 0, len(c.Agents))
	for _, agent := range c.Agents {
		content, err := agent.JSON()
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Name: agent.ID.Value + "/contract.json", Content: string(content)})
	}
	return files, nil
}
