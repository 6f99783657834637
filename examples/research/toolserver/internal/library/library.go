// Package library keeps articles and finds them by their words.
package library

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	indexapi "github.com/blevesearch/bleve_index_api"
)

// The indexed fields of an article.
const (
	fieldTitle  = "title"
	fieldTopics = "topics"
	fieldText   = "text"
)

// boosts says how much a match counts in each field: a word of the title says
// more about an article than a word of its text.
var boosts = []struct {
	field string
	boost float64
}{
	{fieldTitle, 2},
	{fieldTopics, 1.5},
	{fieldText, 1},
}

// Library is a searchable set of articles. It is safe for concurrent use.
type Library struct {
	articles map[string]Article // by URL
	index    bleve.Index
}

// Hit is an article that fits a query.
type Hit struct {
	Article Article
	// Snippet is the sentence of the text that fits best.
	Snippet string
	// Score is larger for a better fit, and comparable within one search only.
	Score float64
}

// New indexes articles in memory.
func New(articles []Article) (_ *Library, err error) {
	// Without a path the index stays in memory. Scorch is the index type that
	// ranks by BM25; it has no use for the store, which must be named all the same.
	index, err := bleve.NewUsing("", newMapping(), scorch.Name, bleve.Config.DefaultMemKVStore, nil)
	if err != nil {
		return nil, fmt.Errorf("create index: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, index.Close())
		}
	}()

	library := &Library{articles: make(map[string]Article, len(articles)), index: index}
	batch := index.NewBatch()
	for _, article := range articles {
		if _, ok := library.articles[article.URL]; ok {
			return nil, fmt.Errorf("two articles with the URL %s", article.URL)
		}
		library.articles[article.URL] = article
		document := map[string]any{
			fieldTitle:  article.Title,
			fieldTopics: article.Topics,
			fieldText:   article.Text,
		}
		if err := batch.Index(article.URL, document); err != nil {
			return nil, fmt.Errorf("index %s: %w", article.URL, err)
		}
	}
	if err := index.Batch(batch); err != nil {
		return nil, fmt.Errorf("write index: %w", err)
	}
	return library, nil
}

// newMapping says how articles are indexed: as English prose, ranked by BM25.
// The articles themselves are not stored in the index.
func newMapping() mapping.IndexMapping {
	document := bleve.NewDocumentStaticMapping()
	for _, b := range boosts {
		field := bleve.NewTextFieldMapping()
		field.Analyzer = en.AnalyzerName
		field.Store = false
		field.IncludeInAll = false
		field.DocValues = false
		field.IncludeTermVectors = b.field == fieldText
		document.AddFieldMappingsAt(b.field, field)
	}
	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	m.DefaultAnalyzer = en.AnalyzerName
	m.ScoringModel = indexapi.BM25Scoring
	return m
}

// Search finds at most limit articles that hold a word of text, best fit first.
func (l *Library) Search(ctx context.Context, text string, limit int) ([]Hit, error) {
	var fields []query.Query
	for _, b := range boosts {
		match := bleve.NewMatchQuery(text)
		match.SetField(b.field)
		match.SetBoost(b.boost)
		fields = append(fields, match)
	}
	request := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(fields...), limit, 0, false)
	request.IncludeLocations = true
	// Articles of one score keep the order of their addresses, so that equal
	// searches give equal answers.
	request.SortBy([]string{"-_score", "_id"})

	result, err := l.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	hits := make([]Hit, 0, len(result.Hits))
	for _, match := range result.Hits {
		article := l.articles[match.ID]
		hits = append(hits, Hit{
			Article: article,
			Snippet: snippet(article.Text, match.Locations[fieldText]),
			Score:   match.Score,
		})
	}
	return hits, nil
}

// Get finds the article of an address.
func (l *Library) Get(url string) (Article, bool) {
	article, ok := l.articles[url]
	return article, ok
}

// Len is the number of articles.
func (l *Library) Len() int { return len(l.articles) }

// Close frees the index. The library cannot be used after it.
func (l *Library) Close() error {
	if err := l.index.Close(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return nil
}
