#!/usr/bin/env bash
# Builds the static release binaries and their checksums into dist/.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf dist
mkdir -p dist
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os="${platform%/*}"
  arch="${platform#*/}"
  suffix=""
  [[ "$os" == windows ]] && suffix=.exe
  echo "building $platform"
  CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" \
    go build -trimpath -ldflags="-s -w" \
    -o "dist/protoc-gen-ameide-agent-$os-$arch$suffix" ./cmd/protoc-gen-ameide-agent
done
cd dist
if command -v sha256sum >/dev/null; then
  sha256sum protoc-gen-* >checksums.txt
else
  shasum -a 256 protoc-gen-* >checksums.txt
fi
ls -l
