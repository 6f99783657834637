#!/usr/bin/env bash
# Checks that there is a Go that can build this module.
set -euo pipefail

if ! command -v go >/dev/null; then
  echo "error: the go command was not found." >&2
  echo "help: install Go 1.26 or newer from https://go.dev/dl/" >&2
  exit 1
fi
# Go 1.21 and newer fetch the toolchain that go.mod asks for by themselves.
if ! version="$(go env GOVERSION 2>&1)"; then
  echo "error: the go command does not work: $version" >&2
  exit 1
fi
minor="${version#go1.}"
minor="${minor%%[!0-9]*}"
if [[ "$version" == go1.* && "${minor:-0}" -lt 26 ]]; then
  echo "error: $(command -v go) is $version; this module needs Go 1.26 or newer." >&2
  echo "help: install it from https://go.dev/dl/" >&2
  exit 1
fi
