#!/usr/bin/env bash
# Makes the virtual environment .venv, if there is none that works, and installs
# exactly what requirements/dev.txt says.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
if ! "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
  python="$(scripts/python.sh)"
  echo "making $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  --require-hashes --requirement requirements/dev.txt
