package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram makes the test binary behave as the program.
const asProgram = "TOOLSERVER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	return command
}

// serve starts the program and returns its base URL and what it prints after it.
func serve(t *testing.T, args ...string) (*exec.Cmd, string, *bufio.Reader) {
	t.Helper()
	command := program(t, append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		if command.ProcessState == nil {
			require.NoError(t, command.Process.Kill())
			_ = command.Wait()
		}
	})
	reader := bufio.NewReader(stdout)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*\n$`, line)
	return command, strings.TrimSpace(line), reader
}

const searchPath = "/ameide_core_proto.tools.v1.ToolsService/WebSearch"

func call(t *testing.T, url, authorization string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+searchPath, strings.NewReader(`{"query":"agent"}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", authorization)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestServeAndStop(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			command, url, stdout := serve(t)
			require.Equal(t, http.StatusOK, call(t, url, ""))

			require.NoError(t, command.Process.Signal(signal))
			rest, err := io.ReadAll(stdout)
			require.NoError(t, err)
			require.Empty(t, rest, "more than one line on standard output")
			require.NoError(t, command.Wait())
		})
	}
}

// A call that is under way when the signal comes is answered.
func TestStopFinishesCalls(t *testing.T) {
	t.Parallel()
	command, url, _ := serve(t)
	address := strings.TrimPrefix(url, "http://")
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer connection.Close()
	body := `{"query":"agent"}`
	_, err = io.WriteString(connection, "POST "+searchPath+" HTTP/1.1\r\nHost: "+address+
		"\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n")
	require.NoError(t, err)
	reader := bufio.NewReader(connection)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	// The handler reads the body now: the call is under way.
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = reader.ReadString('\n')
	require.NoError(t, err)

	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	// The server is stopping as soon as it takes no connection any more.
	for {
		other, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			break
		}
		require.NoError(t, other.Close())
	}
	_, err = io.WriteString(connection, body)
	require.NoError(t, err)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(answer), `"results"`)
	require.NoError(t, command.Wait())
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte("s3cret\n"), 0o600))
	_, url, _ := serve(t, "-token-file", path)
	require.Equal(t, http.StatusUnauthorized, call(t, url, ""))
	require.Equal(t, http.StatusOK, call(t, url, "Bearer s3cret"))
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	directory := t.TempDir()
	empty := filepath.Join(directory, "empty")
	require.NoError(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	several := filepath.Join(directory, "several")
	require.NoError(t, os.WriteFile(several, []byte("s3cret one\n"), 0o600))

	tests := map[string]struct {
		args []string
		exit int
		want string
	}{
		"unknown flag":      {[]string{"-port", "1"}, 2, "flag provided but not defined: -port"},
		"argument":          {[]string{"serve"}, 2, `unexpected argument "serve"`},
		"port in use":       {[]string{"-addr", listener.Addr().String()}, 1, "address already in use"},
		"bad address":       {[]string{"-addr", "nowhere"}, 1, "toolserver: listen: "},
		"no token file":     {[]string{"-token-file", filepath.Join(directory, "none")}, 1, "no such file"},
		"empty token file":  {[]string{"-token-file", empty}, 1, empty + " is empty"},
		"several tokens":    {[]string{"-token-file", several}, 1, several + " holds more than one word"},
		"help":              {[]string{"-h"}, 0, "-token-file path"},
		"directory as file": {[]string{"-token-file", directory}, 1, "is a directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			command := program(t, test.args...)
			command.Stdout, command.Stderr = &stdout, &stderr
			err := command.Run()
			var exit *exec.ExitError
			if err != nil {
				require.True(t, errors.As(err, &exit), err)
			}
			require.Equal(t, test.exit, command.ProcessState.ExitCode(), stderr.String())
			require.Contains(t, stderr.String(), test.want)
			require.NotContains(t, stderr.String(), "s3cret")
			require.Empty(t, stdout.String())
		})
	}
}

// brokenWriter is a standard output that is closed.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRunReportsBrokenOutput(t *testing.T) {
	t.Parallel()
	err := run(context.Background(), []string{"-addr", "127.0.0.1:0"}, brokenWriter{}, io.Discard)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
