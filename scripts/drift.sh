#!/usr/bin/env bash
# Generates the committed generated code again, elsewhere, and compares.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh="$(mktemp -d)"
trap 'rm -rf "$fresh"' EXIT

status=0
# compare <what> <committed directory> <fresh directory> <file name pattern>
compare() {
  local committed="$fresh/committed"
  rm -rf "$committed"
  mkdir "$committed"
  (cd "$2" && find . -name "$4" -type f -print0 | tar --null -T - -cf -) | tar -C "$committed" -xf -
  if diff -ru "$committed" "$3"; then
    echo "ok: $1"
  else
    echo "error: $1 is not what the generator writes (- committed, + fresh). Run make generate." >&2
    status=1
  fi
}

buf generate --template buf.gen.annotations.yaml --output "$fresh"
compare "Go code of the annotations" annotations "$fresh/annotations" '*.pb.go'

(cd examples/research/toolserver && buf generate --output "$fresh/toolserver")
compare "Go code of the tool server" examples/research/toolserver/gen "$fresh/toolserver/gen" '*.go'

exit "$status"
