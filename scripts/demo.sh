#!/usr/bin/env bash
# Generates the research agent, runs its tests, starts its tools and asks it a
# question. Called by `make demo`, which has built the plugin.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export PATH="$root/bin:$root/.venv/bin:$PATH"
example=examples/research
generated=$example/build/generated/agent/research-agent

section() { printf '\n=== %s ===\n' "$1"; }

section "buf generate"
(cd "$example" && buf generate)
find "$generated" -type f | sort | sed "s|^$example/||"

section "The generated tests, with the agent that people wrote"
PYTHONPATH="$root/$example/research-agent" python -m pytest -q "$generated/tests/generated"

section "The tool server"
(cd "$example/toolserver" && go build -o "$root/bin/toolserver" .)
address=$(mktemp)
"$root/bin/toolserver" -addr 127.0.0.1:0 >"$address" 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$address"' EXIT
for _ in $(seq 100); do
  [ -s "$address" ] && break
  kill -0 "$server" 2>/dev/null || { echo "the tool server did not start" >&2; exit 1; }
  sleep 0.1
done
[ -s "$address" ] || { echo "the tool server says no address" >&2; exit 1; }
echo "serving at $(cat "$address")"

PYTHONPATH="$root/$generated:$root/$example/research-agent" \
  python "$example/demo.py" --tools "$(cat "$address")" "$@"
