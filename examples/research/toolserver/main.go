// Command toolserver serves the tools of the research agent: full-text search
// over a library of articles that is part of the program.
//
//	toolserver [-addr host:port] [-token-file path]
//
// One port speaks Connect, gRPC and gRPC-Web, in HTTP/1.1 and in HTTP/2 without
// TLS. The first and only line on standard output is the base URL of the server,
// written when it accepts connections: with port 0 the system chooses the port.
// Logs go to standard error. GET /healthz answers 200. SIGTERM and SIGINT stop
// the server after the calls that are under way.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/corpus"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/library"
	"github.com/ameideio/protoc-gen-ameide-agent/examples/research/toolserver/internal/server"
)

// shutdownTimeout bounds the calls that are under way when the server stops.
const shutdownTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, &usage):
		// The flag package has printed it.
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "toolserver:", err)
		os.Exit(1)
	}
}

// usageError is a bad command line.
type usageError struct{ error }

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("toolserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8081", "`host:port` to listen on; port 0 lets the system choose")
	tokenFile := flags.String("token-file", "", "`path` of a file that holds the bearer token of callers; without it everyone is admitted")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	if flags.NArg() > 0 {
		err := usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
		fmt.Fprintln(stderr, err)
		flags.Usage()
		return err
	}
	token, err := readToken(*tokenFile)
	if err != nil {
		return err
	}

	articles, err := library.Load(corpus.Files)
	if err != nil {
		return fmt.Errorf("load corpus: %w", err)
	}
	lib, err := library.New(articles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lib.Close()) }()

	logger := slog.New(slog.NewTextHandler(stderr, nil))
	httpServer := server.New(lib, server.Options{Token: token, Logger: logger})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(fmt.Errorf("print address: %w", err), listener.Close())
	}
	logger.Info("serving", "articles", lib.Len(), "token", token != "")

	served := make(chan error, 1)
	go func() { served <- httpServer.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	logger.Info("stopping")
	// The context that has ended would end the calls under way with it.
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := httpServer.Shutdown(shutdown); err != nil {
		return errors.Join(fmt.Errorf("shut down: %w", err), httpServer.Close())
	}
	return nil
}

// readToken reads the token of a file; no path, no token. The error never
// shows the token.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	switch {
	case token == "":
		return "", fmt.Errorf("read token: %s is empty", path)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("read token: %s holds more than one word of printable ASCII", path)
	}
	return token, nil
}
