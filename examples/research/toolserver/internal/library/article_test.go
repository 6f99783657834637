package library

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/corpus"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	got, err := Load(fstest.MapFS{
		"b-two.md":   {Data: []byte("---\ntitle: Two: the second\ntopics: x\n---\nOnly line.\n")},
		"a-one.md":   {Data: []byte("---\r\ntitle: One\r\ntopics: x, y z ,\r\n---\r\n\r\nFirst\r\n  line.\r\n \r\n\r\nSecond.\r\n")},
		"ignored.go": {Data: []byte("package x")},
	})
	require.NoError(t, err)
	want := []Article{
		{URL: "https://library.example/articles/a-one", Title: "One", Topics: []string{"x", "y z"}, Text: "First line.\n\nSecond."},
		{URL: "https://library.example/articles/b-two", Title: "Two: the second", Topics: []string{"x"}, Text: "Only line."},
	}
	require.Empty(t, cmp.Diff(want, got))
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, data, want string
	}{
		"name":          {"Bad Name.md", "---\ntitle: T\ntopics: x\n---\nText", "want a name of lower-case words"},
		"no front":      {"a.md", "Text", "begins with ---"},
		"open front":    {"a.md", "---\ntitle: T\nText", "ends with ---"},
		"unknown key":   {"a.md", "---\nauthor: me\n---\nText", `unknown front matter key "author"`},
		"no title":      {"a.md", "---\ntopics: x\n---\nText", "want a title"},
		"no topics":     {"a.md", "---\ntitle: T\ntopics: ,\n---\nText", "want at least one topic"},
		"no text":       {"a.md", "---\ntitle: T\ntopics: x\n---\n \n", "want a text"},
		"nothing there": {"a.txt", "", "no articles"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(fstest.MapFS{test.name: {Data: []byte(test.data)}})
			require.ErrorContains(t, err, test.want)
		})
	}
	t.Run("all at once", func(t *testing.T) {
		t.Parallel()
		_, err := Load(fstest.MapFS{"a.md": {Data: []byte("x")}, "b.md": {Data: []byte("y")}})
		require.ErrorContains(t, err, "a.md: ")
		require.ErrorContains(t, err, "b.md: ")
	})
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	articles, err := Load(corpus.Files)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(articles), 30)
	titles := map[string]string{}
	for _, article := range articles {
		require.NotContains(t, titles, article.Title, "title of %s", article.URL)
		titles[article.Title] = article.URL
	}
}
