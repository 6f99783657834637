#!/usr/bin/env bash
# Compiles the protos of the test cases into the descriptor sets that the golden
# tests read. Arguments are the directories of cases; all without any. Needs buf on
# the PATH, as `make` puts it there.
#
# A case is a directory with a case.json. Its protos are one module, the
# annotations of this repository a second one beside it. `build_flags` of case.json,
# a list, goes to buf. Cases with `"protovalidate": true` see buf/validate/validate.proto,
# which comes from its Go module.
set -euo pipefail
cd "$(dirname "$0")/.."

workspace="$(mktemp -d)"
trap 'rm -rf "$workspace"' EXIT
cat >"$workspace/buf.yaml" <<'YAML'
version: v2
modules:
  - path: case
  - path: annotations
  - path: protovalidate
YAML
mkdir "$workspace/annotations" "$workspace/protovalidate"
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
  rm -rf "$workspace/protovalidate"/*
  if grep -q '"protovalidate": true' "$case/case.json"; then
    protos="$(python -c 'import sys; sys.path.insert(0, "conformance/validate"); import run; print(run.protovalidate())')"
    cp -R "$protos/proto/protovalidate/." "$workspace/protovalidate"
    chmod -R u+w "$workspace/protovalidate"
  fi
  flags=()
  while IFS= read -r flag; do
    flags+=("$flag")
  done < <(python -c '
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    print(*json.load(file).get("build_flags", []), sep="\n", end="")
print()' "$case/case.json" | sed '/^$/d')
  (cd "$workspace" && buf build case ${flags[@]+"${flags[@]}"} -o image.binpb)
  python scripts/strip_comments.py "$workspace/image.binpb" buf/validate/validate.proto
  if ! cmp -s "$workspace/image.binpb" "$case/image.binpb"; then
    cp "$workspace/image.binpb" "$case/image.binpb"
    echo "written: $case/image.binpb"
  fi
done
