package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"

	toolsv1 "github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/gen/ameide_core_proto/tools/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/library"
)

// The limits of a search, as tools.proto states them.
const (
	maxQueryLength = 512
	maxResults     = 20
	defaultResults = 5
)

// service implements the tools on a library.
type service struct {
	library *library.Library
	logger  *slog.Logger
}

// WebSearch searches the library.
func (s *service) WebSearch(
	ctx context.Context, request *connect.Request[toolsv1.WebSearchRequest],
) (*connect.Response[toolsv1.WebSearchResponse], error) {
	query := strings.TrimSpace(request.Msg.GetQuery())
	switch {
	case query == "":
		return nil, invalid("query", "must not be empty")
	case utf8.RuneCountInString(query) > maxQueryLength:
		return nil, invalid("query", "must have at most %d characters", maxQueryLength)
	case request.Msg.GetMaxResults() > maxResults:
		return nil, invalid("max_results", "must be at most %d, is %d", maxResults, request.Msg.GetMaxResults())
	}
	limit := int(request.Msg.GetMaxResults())
	if limit == 0 {
		limit = defaultResults
	}

	hits, err := s.library.Search(ctx, query, limit)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	response := &toolsv1.WebSearchResponse{}
	for _, hit := range hits {
		response.Results = append(response.Results, &toolsv1.SearchResult{
			Title:   hit.Article.Title,
			Url:     hit.Article.URL,
			Snippet: hit.Snippet,
			Score:   hit.Score,
		})
	}
	return connect.NewResponse(response), nil
}

// FetchDocument reads an article of the library.
func (s *service) FetchDocument(
	_ context.Context, request *connect.Request[toolsv1.FetchDocumentRequest],
) (*connect.Response[toolsv1.FetchDocumentResponse], error) {
	if request.Msg.GetUrl() == "" {
		return nil, invalid("url", "must not be empty")
	}
	article, ok := s.library.Get(request.Msg.GetUrl())
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("url: no such document"))
	}
	return connect.NewResponse(&toolsv1.FetchDocumentResponse{
		Url:    article.URL,
		Title:  article.Title,
		Text:   article.Text,
		Topics: article.Topics,
	}), nil
}

// failure is the answer to a caller whose call failed for no fault of its own.
// The cause is for the log only.
func (s *service) failure(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	}
	s.logger.ErrorContext(ctx, "call failed", "error", err)
	return connect.NewError(connect.CodeInternal, errors.New("internal error"))
}

// invalid is the answer to a request with a bad field.
func invalid(field, format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%s: "+format, append([]any{field}, args...)...))
}
