package jsontext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	doc, err := Of(map[string]string{"b": "<\u2028", "a": "x"})
	require.NoError(t, err)
	require.Equal(t, "{\n  \"a\": \"x\",\n  \"b\": \"\\u003c\\u2028\"\n}\n", string(doc.Bytes()))
	_, err = Of(func() {})
	require.Error(t, err)
}
