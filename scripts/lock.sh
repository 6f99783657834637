#!/usr/bin/env bash
# Writes requirements/dev.txt from requirements/dev.in. Pins that still fit stay;
# UPGRADE=1 moves all of them to the newest releases.
set -euo pipefail
cd "$(dirname "$0")/.."

uv=.cache/uv/bin/uv
if [[ ! -x "$uv" ]]; then
  .venv/bin/python -m venv .cache/uv
  .cache/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
fi
"$uv" pip compile requirements/dev.in --quiet --universal --python-version 3.11 \
  --generate-hashes --custom-compile-command 'make lock' ${UPGRADE:+--upgrade} \
  --output-file requirements/dev.txt
