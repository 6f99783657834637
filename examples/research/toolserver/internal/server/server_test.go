package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/corpus"
	toolsv1 "github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/gen/ameide_core_proto/tools/v1"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/gen/ameide_core_proto/tools/v1/toolsv1connect"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/library"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/server"
)

const (
	articleURL = "https://library.example/articles/idempotency"
	token      = "s3cret-token"
)

// start serves the corpus on a port of its own, as the program does, and
// returns the base URL and the log.
func start(t *testing.T, token string) (string, *syncBuffer) {
	t.Helper()
	articles, err := library.Load(corpus.Files)
	require.NoError(t, err)
	lib, err := library.New(articles)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lib.Close()) })

	log := &syncBuffer{}
	httpServer := server.New(lib, server.Options{Token: token, Logger: slog.New(slog.NewTextHandler(log, nil))})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- httpServer.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, httpServer.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return "http://" + listener.Addr().String(), log
}

type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// way is a combination of protocols in which a client can call.
type way struct {
	protocol string // as the server names it
	http2    bool
	options  []connect.ClientOption
}

var ways = map[string]way{
	"connect":             {protocol: "connect"},
	"connect json":        {protocol: "connect", options: []connect.ClientOption{connect.WithProtoJSON()}},
	"connect get":         {protocol: "connect", options: []connect.ClientOption{connect.WithHTTPGet()}},
	"connect over http/2": {protocol: "connect", http2: true},
	"connect gzip":        {protocol: "connect", options: []connect.ClientOption{connect.WithSendGzip()}},
	"grpc":                {protocol: "grpc", http2: true, options: []connect.ClientOption{connect.WithGRPC()}},
	"grpc gzip":           {protocol: "grpc", http2: true, options: []connect.ClientOption{connect.WithGRPC(), connect.WithSendGzip()}},
	"grpc-web":            {protocol: "grpcweb", options: []connect.ClientOption{connect.WithGRPCWeb()}},
	"grpc-web over h2":    {protocol: "grpcweb", http2: true, options: []connect.ClientOption{connect.WithGRPCWeb()}},
}

func (w way) client(t *testing.T, baseURL, token string) toolsv1connect.ToolsServiceClient {
	t.Helper()
	protocols := &http.Protocols{}
	protocols.SetHTTP1(!w.http2)
	protocols.SetUnencryptedHTTP2(w.http2)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	authorize := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			if token != "" {
				request.Header().Set("Authorization", "Bearer "+token)
			}
			return next(ctx, request)
		}
	})
	options := append([]connect.ClientOption{connect.WithInterceptors(authorize)}, w.options...)
	return toolsv1connect.NewToolsServiceClient(&http.Client{Transport: transport}, baseURL, options...)
}

func search(query string, limit uint32) *connect.Request[toolsv1.WebSearchRequest] {
	return connect.NewRequest(&toolsv1.WebSearchRequest{Query: query, MaxResults: limit})
}

func TestEveryProtocol(t *testing.T) {
	t.Parallel()
	baseURL, log := start(t, "")
	reference, err := way{}.client(t, baseURL, "").WebSearch(t.Context(), search("idempotency key", 3))
	require.NoError(t, err)

	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := way.client(t, baseURL, "")

			found, err := client.WebSearch(t.Context(), search("  idempotency key ", 3))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(reference.Msg, found.Msg, protocmp.Transform()))
			require.Len(t, found.Msg.GetResults(), 3)
			first := found.Msg.GetResults()[0]
			require.Equal(t, articleURL, first.GetUrl())
			require.Equal(t, "Idempotency and idempotency keys", first.GetTitle())
			require.NotEmpty(t, first.GetSnippet())
			require.Positive(t, first.GetScore())

			read, err := client.FetchDocument(t.Context(), connect.NewRequest(&toolsv1.FetchDocumentRequest{Url: first.GetUrl()}))
			require.NoError(t, err)
			require.Equal(t, first.GetUrl(), read.Msg.GetUrl())
			require.Equal(t, first.GetTitle(), read.Msg.GetTitle())
			require.Contains(t, read.Msg.GetText(), first.GetSnippet())
			require.Contains(t, read.Msg.GetText(), "\n\n")
			require.Equal(t, []string{"reliability", "retries", "api design"}, read.Msg.GetTopics())

			require.Contains(t, log.String(), "FetchDocument protocol="+way.protocol+" code=ok")
		})
	}
	t.Cleanup(func() { require.NotContains(t, log.String(), "idempotency key", "the log shows a query") })
}

func TestErrors(t *testing.T) {
	t.Parallel()
	baseURL, _ := start(t, "")
	tests := map[string]struct {
		call func(context.Context, toolsv1connect.ToolsServiceClient) error
		code connect.Code
		want string
	}{
		"empty query": {searching(search("", 0)), connect.CodeInvalidArgument, "query: must not be empty"},
		"blank query": {searching(search(" \t\n", 0)), connect.CodeInvalidArgument, "query: must not be empty"},
		"long query": {
			searching(search(strings.Repeat("ä", 513), 0)), connect.CodeInvalidArgument, "query: must have at most 512 characters",
		},
		"too many results": {
			searching(search("agent", 21)), connect.CodeInvalidArgument, "max_results: must be at most 20, is 21",
		},
		"huge request": {
			searching(search(strings.Repeat("a", 1<<20), 0)), connect.CodeResourceExhausted, "larger than configured max",
		},
		"empty url":   {fetching(""), connect.CodeInvalidArgument, "url: must not be empty"},
		"unknown url": {fetching("file:///etc/passwd"), connect.CodeNotFound, "url: no such document"},
	}
	for wayName, way := range ways {
		for name, test := range tests {
			t.Run(wayName+"/"+name, func(t *testing.T) {
				t.Parallel()
				if wayName == "connect get" && name == "huge request" {
					t.Skip("a URL of this size is refused by net/http")
				}
				err := test.call(t.Context(), way.client(t, baseURL, ""))
				require.Error(t, err)
				require.Equal(t, test.code, connect.CodeOf(err), err)
				require.ErrorContains(t, err, test.want)
			})
		}
	}
}

func searching(request *connect.Request[toolsv1.WebSearchRequest]) func(context.Context, toolsv1connect.ToolsServiceClient) error {
	message := request.Msg
	return func(ctx context.Context, client toolsv1connect.ToolsServiceClient) error {
		_, err := client.WebSearch(ctx, connect.NewRequest(proto.CloneOf(message)))
		return err
	}
}

func fetching(url string) func(context.Context, toolsv1connect.ToolsServiceClient) error {
	return func(ctx context.Context, client toolsv1connect.ToolsServiceClient) error {
		_, err := client.FetchDocument(ctx, connect.NewRequest(&toolsv1.FetchDocumentRequest{Url: url}))
		return err
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	baseURL, _ := start(t, "")
	client := way{}.client(t, baseURL, "")
	for limit, want := range map[uint32]int{0: 5, 1: 1, 20: 20} {
		found, err := client.WebSearch(t.Context(), search("a distributed system keeps state in a database", limit))
		require.NoError(t, err)
		require.Len(t, found.Msg.GetResults(), want)
	}
	// The longest query that is allowed, in characters rather than bytes.
	found, err := client.WebSearch(t.Context(), search(strings.Repeat("ä", 512), 0))
	require.NoError(t, err)
	require.Empty(t, found.Msg.GetResults())
}

func TestToken(t *testing.T) {
	t.Parallel()
	baseURL, log := start(t, token)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := way.client(t, baseURL, token).WebSearch(t.Context(), search("agent", 1))
			require.NoError(t, err)
			for _, wrong := range []string{"", "wrong", token + "x", token[1:]} {
				_, err := way.client(t, baseURL, wrong).WebSearch(t.Context(), search("agent", 1))
				require.Equal(t, connect.CodeUnauthenticated, connect.CodeOf(err), "token %q: %v", wrong, err)
			}
		})
	}
	t.Run("other schemes", func(t *testing.T) {
		t.Parallel()
		for _, header := range []string{token, "Basic " + token, "Bearer" + token} {
			response := post(t, baseURL+toolsv1connect.ToolsServiceWebSearchProcedure, header, `{"query":"agent"}`)
			require.Equal(t, http.StatusUnauthorized, response.status, header)
			require.JSONEq(t, `{"code":"unauthenticated","message":"missing or wrong bearer token"}`, response.body)
		}
		response := post(t, baseURL+toolsv1connect.ToolsServiceWebSearchProcedure, "bearer  "+token, `{"query":"agent"}`)
		require.Equal(t, http.StatusOK, response.status)
	})
	t.Run("not a call", func(t *testing.T) {
		t.Parallel()
		response := get(t, baseURL+toolsv1connect.ToolsServiceWebSearchProcedure)
		require.Equal(t, http.StatusUnauthorized, response.status)
	})
	t.Run("health needs none", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, http.StatusOK, get(t, baseURL+server.HealthPath).status)
	})
	t.Cleanup(func() { require.NotContains(t, log.String(), token) })
}

// A caller without a library of its own: plain HTTP and JSON.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	baseURL, _ := start(t, "")
	endpoint := baseURL + "/ameide_core_proto.tools.v1.ToolsService/"

	response := post(t, endpoint+"WebSearch", "", `{"query": "idempotency key", "maxResults": 1}`)
	require.Equal(t, http.StatusOK, response.status)
	require.Equal(t, "application/json", response.contentType)
	var found struct {
		Results []struct {
			Title, URL, Snippet string
			Score               float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(response.body), &found))
	require.Len(t, found.Results, 1)
	require.Equal(t, articleURL, found.Results[0].URL)

	// The names of the proto are accepted too.
	require.Equal(t, response.body, post(t, endpoint+"WebSearch", "", `{"query": "idempotency key", "max_results": 1}`).body)

	query := url.Values{"encoding": {"json"}, "message": {`{"query":"idempotency key","maxResults":1}`}}
	require.Equal(t, response.body, get(t, endpoint+"WebSearch?"+query.Encode()).body)

	response = post(t, endpoint+"WebSearch", "", `{"query": ""}`)
	require.Equal(t, http.StatusBadRequest, response.status)
	require.JSONEq(t, `{"code":"invalid_argument","message":"query: must not be empty"}`, response.body)

	response = post(t, endpoint+"FetchDocument", "", `{"url": "https://library.example/articles/none"}`)
	require.Equal(t, http.StatusNotFound, response.status)
	require.JSONEq(t, `{"code":"not_found","message":"url: no such document"}`, response.body)

	for _, body := range []string{`{"query"`, `{"nonsense": 1}`, `{"query": 1}`, `{"query": "x", "maxResults": -1}`} {
		response = post(t, endpoint+"WebSearch", "", body)
		require.Equal(t, http.StatusBadRequest, response.status, body)
		require.Contains(t, response.body, `"code":"invalid_argument"`, body)
	}
	require.Equal(t, http.StatusNotFound, post(t, endpoint+"Nothing", "", `{}`).status)
	require.Equal(t, http.StatusNotFound, get(t, baseURL+"/").status)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	baseURL, _ := start(t, "")
	response := get(t, baseURL+server.HealthPath)
	require.Equal(t, http.StatusOK, response.status)
	require.Equal(t, "ok\n", response.body)
	require.Equal(t, http.StatusMethodNotAllowed, post(t, baseURL+server.HealthPath, "", "").status)
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	baseURL, _ := start(t, "")
	client := ways["grpc"].client(t, baseURL, "")
	queries := []string{"idempotency key", "leader election", "cache stampede", "BM25"}
	want := make([]*toolsv1.WebSearchResponse, len(queries))
	for i, query := range queries {
		found, err := client.WebSearch(t.Context(), search(query, 5))
		require.NoError(t, err)
		want[i] = found.Msg
	}
	failures := make(chan string, 200)
	var group sync.WaitGroup
	for i := range cap(failures) {
		group.Go(func() {
			found, err := client.WebSearch(t.Context(), search(queries[i%len(queries)], 5))
			if err != nil {
				failures <- err.Error()
			} else if diff := cmp.Diff(want[i%len(queries)], found.Msg, protocmp.Transform()); diff != "" {
				failures <- fmt.Sprintf("%s: %s", queries[i%len(queries)], diff)
			}
		})
	}
	group.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
}

type answer struct {
	status      int
	contentType string
	body        string
}

func get(t *testing.T, url string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	return do(t, request)
}

func post(t *testing.T, url, authorization, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	return do(t, request)
}

func do(t *testing.T, request *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header.Get("Content-Type"), string(body)}
}
