package library

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/corpus"
)

func open(t *testing.T) *Library {
	t.Helper()
	articles, err := Load(corpus.Files)
	require.NoError(t, err)
	library, err := New(articles)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, library.Close()) })
	return library
}

func slugs(hits []Hit) []string {
	names := make([]string, 0, len(hits))
	for _, hit := range hits {
		names = append(names, strings.TrimPrefix(hit.Article.URL, baseURL))
	}
	return names
}

func TestSearchRanking(t *testing.T) {
	t.Parallel()
	library := open(t)
	tests := []struct {
		query   string
		first   string
		among   []string // also among the first five
		snippet string   // part of the first hit's snippet
	}{
		{
			query: "idempotency key", first: "idempotency",
			among: []string{"agent-tool-calling"}, snippet: "makes any operation safe to retry",
		},
		{
			query: "retrying with exponential backoff", first: "retries-backoff",
			snippet: "exponential backoff doubles the wait",
		},
		{
			query: "Why can't browsers speak gRPC?", first: "grpc-web",
			among: []string{"grpc-overview"},
		},
		{query: "which fields have presence in proto3", first: "protobuf-field-presence"},
		{
			query: "leader election by majority vote", first: "raft-consensus",
		},
		{query: "parallel branches write the same state field", first: "agent-reducers", snippet: "two branches write the same field"},
		{query: "popular cache entries expiring", first: "cache-stampede", snippet: "When a popular cache entry expires"},
		{query: "BM25", first: "bm25-ranking"},
		{query: "how does an agent resume from a checkpoint", first: "agent-checkpoints"},
		// A word that no title has.
		{query: "traceparent", first: "distributed-tracing", snippet: "traceparent"},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			t.Parallel()
			hits, err := library.Search(t.Context(), test.query, 5)
			require.NoError(t, err)
			require.NotEmpty(t, hits)
			names := slugs(hits)
			require.Equal(t, test.first, names[0], "all: %v", names)
			require.Subset(t, names, test.among)
			require.Contains(t, hits[0].Snippet, test.snippet)
			for i, hit := range hits {
				require.Positive(t, hit.Score)
				require.NotEmpty(t, hit.Snippet)
				require.Contains(t, hit.Article.Text, hit.Snippet)
				require.NotContains(t, hit.Snippet, "\n")
				if i > 0 {
					require.LessOrEqual(t, hit.Score, hits[i-1].Score)
				}
			}
		})
	}
}

// Every article must be within reach: its own title finds it first.
func TestSearchFindsEachByTitle(t *testing.T) {
	t.Parallel()
	library := open(t)
	for url, article := range library.articles {
		hits, err := library.Search(t.Context(), article.Title, 1)
		require.NoError(t, err)
		require.Len(t, hits, 1)
		require.Equal(t, url, hits[0].Article.URL)
	}
}

func TestSearchLimit(t *testing.T) {
	t.Parallel()
	library := open(t)
	all, err := library.Search(t.Context(), "agent state", library.Len())
	require.NoError(t, err)
	require.Greater(t, len(all), 3)
	some, err := library.Search(t.Context(), "agent state", 3)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(all[:3], some))
}

func TestSearchNothing(t *testing.T) {
	t.Parallel()
	library := open(t)
	for _, query := range []string{"xylophone", "the of and", "?!"} {
		hits, err := library.Search(t.Context(), query, 5)
		require.NoError(t, err, query)
		require.Empty(t, hits, query)
	}
}

func TestSearchHasNoQueryLanguage(t *testing.T) {
	t.Parallel()
	library := open(t)
	want, err := library.Search(t.Context(), "title cache", 5)
	require.NoError(t, err)
	require.NotEmpty(t, want)
	got, err := library.Search(t.Context(), `+title:("cache`, 5)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
}

// A second index gives the same hits and scores: nothing depends on the order in
// which the first was written.
func TestSearchRepeats(t *testing.T) {
	t.Parallel()
	const query = "how can an agent retry a tool call safely"
	want, err := open(t).Search(t.Context(), query, 20)
	require.NoError(t, err)
	for range 5 {
		library := open(t)
		for range 5 {
			got, err := library.Search(t.Context(), query, 20)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(want, got))
		}
	}
}

func TestSearchTies(t *testing.T) {
	t.Parallel()
	var articles []Article
	for _, slug := range []string{"c", "a", "b"} {
		articles = append(articles, Article{URL: baseURL + slug, Title: "Twin", Topics: []string{"x"}, Text: "Twin text."})
	}
	library, err := New(articles)
	require.NoError(t, err)
	defer func() { require.NoError(t, library.Close()) }()
	hits, err := library.Search(t.Context(), "twin", 3)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, slugs(hits))
}

// Under BM25 no repetition makes a word count for more than k1 + 1 times as much.
func TestSearchSaturates(t *testing.T) {
	t.Parallel()
	article := func(slug string, count int) Article {
		words := slices.Repeat([]string{"needle"}, count)
		for i := count; i < 100; i++ {
			words = append(words, fmt.Sprintf("%s%d", slug, i))
		}
		return Article{URL: baseURL + slug, Title: slug, Topics: []string{"x"}, Text: strings.Join(words, " ")}
	}
	library, err := New([]Article{article("many", 50), article("one", 1), article("none", 0)})
	require.NoError(t, err)
	defer func() { require.NoError(t, library.Close()) }()
	hits, err := library.Search(t.Context(), "needle", 3)
	require.NoError(t, err)
	require.Equal(t, []string{"many", "one"}, slugs(hits))
	require.Less(t, hits[0].Score, 2.3*hits[1].Score)
}

func TestSearchCanceled(t *testing.T) {
	t.Parallel()
	library := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := library.Search(ctx, "agent", 5)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNewRefusesDuplicates(t *testing.T) {
	t.Parallel()
	article := Article{URL: baseURL + "a", Title: "A", Topics: []string{"x"}, Text: "A."}
	_, err := New([]Article{article, article})
	require.ErrorContains(t, err, "two articles with the URL "+article.URL)
}

func TestSentences(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"":                               nil,
		"One.":                           {"One."},
		"One. Two? Three":                {"One.", "Two?", "Three"},
		"About 1.2 and e.g. this. Next.": {"About 1.2 and e.g. this.", "Next."},
		"No stop\n\nNew paragraph.":      {"No stop", "New paragraph."},
		"End.\n\nAfter. Édition two.":    {"End.", "After.", "Édition two."},
	}
	for text, want := range tests {
		var got []string
		for start, end := range sentences(text) {
			got = append(got, text[start:end])
		}
		require.Equal(t, want, got, text)
	}
}
