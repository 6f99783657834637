#!/usr/bin/env bash
# Compiles the protos of the test cases into the descriptor sets that the golden
# tests read. Arguments are the directories of cases; all without any. Needs buf on
# the PATH, as `make` puts it there.
#
# A case is a directory with a case.json. Its protos are one module, the
# annotations of this repository a second one beside it. `build_flags` of case.json,
# a list, goes to buf.
set -euo pipefail
cd "$(dirname "$0")/.."

workspace="$(mktemp -d)"
trap 'rm -rf "$workspace"' EXIT
cat >"$workspace/buf.yaml" <<'YAML'
version: v2
modules:
  - path: case
  - path: annotations
YAML
mkdir "$workspace/annotations"
cp -R annotations/. "$workspace/annotations"

cases=("$@")
if [[ ${#cases[@]} -eq 0 ]]; then
  while IFS= read -r file; do
    cases+=("$(dirname "$file")")
  done < <(find testdata -name case.json | LC_ALL=C sort)
fi

for case in "${cases[@]}"; do
  rm -rf "$workspace/case"
  cp -R "$case" "$workspace/case"
  flags=()
  while IFS= read -r flag; do
    flags+=("$flag")
  done < <(python -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    print(*json.load(file).get("build_flags", []), sep="\n", end="")
print()' "$case/case.json" | sed '/^$/d')
  (cd "$workspace" && buf build case ${flags[@]+"${flags[@]}"} -o image.binpb)
  if ! cmp -s "$workspace/image.binpb" "$case/image.binpb"; then
    cp "$workspace/image.binpb" "$case/image.binpb"
    echo "written: $case/image.binpb"
  fi
done
