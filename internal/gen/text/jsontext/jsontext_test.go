package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	doc, err := Of(map[string]string{"b": "<\u2028", "a": "x"})
	require.NoError(t, err)
	require.Equal(t, "{\n  \"a\": \"x\",\n  \"b\": \"\\u003c\\u2028\"\n}\n", string(doc.Bytes()))
	_, err = Of(func() {})
	require.Error(t, err)
}

func TestFitted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60)
	value := map[string]any{
		"a": []any{1, "b,:[{\"\\", map[string]any{}, []any{}},
		"b": map[string]any{"c": long, "d": []string{long, "ü"}},
		"e": true,
	}
	compact, err := json.Marshal(value)
	require.NoError(t, err)
	document := Fitted(compact)
	want := `{
  "a": [1, "b,:[{\"\\", {}, []],
  "b": {
    "c": "` + long + `",
    "d": ["` + long + `", "ü"]
  },
  "e": true
}
`
	assert.Equal(t, want, string(document.Bytes()))
}

// FuzzFitted looks for values that come back changed.
func FuzzFitted(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\\\"}{,:"}],"c":null}`)
	f.Add(`"text"`)
	f.Add(`[[[[]]],{"":{"":{}}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		compact, err := json.Marshal(value)
		require.NoError(t, err)
		document := Fitted(compact)
		var again any
		require.NoError(t, json.Unmarshal(document.Bytes(), &again), "%s", document.Bytes())
		assert.Equal(t, value, again)
	})
}
