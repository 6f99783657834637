package langgraph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/contract"
)

func TestFactConstants(t *testing.T) {
	for in, want := range map[string]string{
		"AnswerFound": "ANSWER_FOUND", "Facts": "Facts_fact", "HTTPError": "HTTPError_fact", "HttpError": "HTTP_ERROR",
		"Outer.Inner": "Outer_Inner_fact", "done": "Pbdone_fact", "V2Found": "V2_FOUND", "HTTP": "HTTP_fact",
	} {
		require.Equal(t, want, factConstant(&contract.Message{Name: in}), in)
	}
}
