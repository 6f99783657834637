// Package server offers a library as the tools of tools.proto.
package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/gen/ameide_core_proto/tools/v1/toolsv1connect"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/library"
)

// HealthPath answers 200 to anyone, without a token.
const HealthPath = "/healthz"

// maxMessageBytes bounds a request, also after decompression.
const maxMessageBytes = 64 << 10

// The limits that keep a slow or silent caller from holding the server.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
)

// Options are the settings of a server.
type Options struct {
	// Token is the bearer token that callers must send. Empty admits everyone.
	Token string
	// Logger receives a line for each call.
	Logger *slog.Logger
}

// New makes a server that speaks HTTP/1.1 and HTTP/2 on one port, without TLS.
func New(lib *library.Library, options Options) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           newHandler(lib, options),
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(options.Logger.Handler(), slog.LevelWarn),
	}
}

// newHandler serves the tools in the Connect, gRPC and gRPC-Web protocols.
func newHandler(lib *library.Library, options Options) http.Handler {
	path, tools := toolsv1connect.NewToolsServiceHandler(
		&service{library: lib, logger: options.Logger},
		connect.WithReadMaxBytes(maxMessageBytes),
		connect.WithInterceptors(logCalls(options.Logger)),
	)
	if options.Token != "" {
		tools = requireToken(options.Token, tools)
	}
	mux := http.NewServeMux()
	mux.Handle(path, tools)
	mux.HandleFunc("GET "+HealthPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// A caller that is gone needs no answer.
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}

// logCalls logs the outcome of every call, and nothing of its content.
func logCalls(logger *slog.Logger) connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			response, err := next(ctx, request)
			code := "ok"
			if err != nil {
				code = connect.CodeOf(err).String()
			}
			logger.InfoContext(ctx, "call",
				"procedure", request.Spec().Procedure, "protocol", request.Peer().Protocol, "code", code)
			return response, err
		}
	})
}

// requireToken refuses calls without the token before their body is read, with
// an error in the protocol of the call.
func requireToken(token string, next http.Handler) http.Handler {
	errorWriter := connect.NewErrorWriter()
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(got)))
		// Hashes have one length, so that the comparison tells nothing of the
		// token's.
		if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], want[:]) == 1 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		if !errorWriter.IsSupported(r) {
			http.Error(w, "missing or wrong bearer token", http.StatusUnauthorized)
			return
		}
		err := connect.NewError(connect.CodeUnauthenticated, errors.New("missing or wrong bearer token"))
		// The only possible failure is that the caller is gone.
		_ = errorWriter.Write(w, r, err)
	})
}
