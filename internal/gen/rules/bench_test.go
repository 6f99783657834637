package rules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/params"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/rules"
)

// many is a contract of n agents with 20 tools each, of which the agents require
// others than exist when the contract is to be wrong.
func many(n int, wrong bool) *contract.Contract {
	b := newBase()
	b.agent.RequiredToolIDs, b.agent.Tools = nil, nil
	b.contract.Tools, b.contract.Agents = nil, nil
	for i := range n {
		agent := *b.agent
		agent.ID = says(fmt.Sprintf("agent-%d", i), agentFile, 1000+i)
		agent.Service = fmt.Sprintf("acme.agent.v1.Agent%d", i)
		for j := range 20 {
			id := fmt.Sprintf("tool_%d_%d", i, j)
			tool := newTool(id, fmt.Sprintf("Tool%dx%d", i, j), 1000+20*i+j, b.toolInput, b.toolOutput)
			b.contract.Tools = append(b.contract.Tools, tool)
			if wrong {
				id += "_unknown"
			} else {
				agent.Tools = append(agent.Tools, tool)
			}
			agent.RequiredToolIDs = append(agent.RequiredToolIDs, says(id, agentFile, 1000+20*i+j))
		}
		b.contract.Agents = append(b.contract.Agents, &agent)
	}
	return b.contract
}

// BenchmarkCheck shows that the time grows with the contract, right or wrong.
func BenchmarkCheck(b *testing.B) {
	for _, wrong := range []bool{false, true} {
		for _, n := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("agents=%d/wrong=%t", n, wrong), func(b *testing.B) {
				c := many(n, wrong)
				for b.Loop() {
					require.Equal(b, wrong, len(rules.Check(c, params.Default())) > 0)
				}
			})
		}
	}
}
