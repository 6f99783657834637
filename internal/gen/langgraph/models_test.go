package langgraph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

func TestDescription(t *testing.T) {
	five := contract.Opt[string]{Value: "5", Set: true}
	for name, test := range map[string]struct {
		field contract.Field
		want  string
	}{
		"comment":             {contract.Field{Comment: " How\n many."}, "How many."},
		"default":             {contract.Field{Kind: contract.KindInt32, Default: five}, "Unset, it stands for 5."},
		"comment and default": {contract.Field{Comment: "How many.", Kind: contract.KindString, Default: five}, "How many.\nUnset, it stands for \"5\"."},
	} {
		require.Equal(t, test.want, (&field{Field: &test.field}).description(), name)
	}
}
