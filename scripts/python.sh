#!/usr/bin/env bash
# Prints the path of a Python that can make the virtual environment: 3.11 or newer,
# with venv and pip. PYTHON, if set, is the only candidate.
set -euo pipefail

usable() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

if [[ -n "${PYTHON:-}" ]]; then
  candidates=("$PYTHON")
else
  candidates=(python3 python3.13 python3.12 python3.11 python3.14 python)
fi

found=""
without_venv=""
for candidate in "${candidates[@]}"; do
  # A version manager may put a name on the PATH behind which there is nothing.
  if command -v "$candidate" >/dev/null && usable "$candidate"; then
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
      found="$candidate"
      break
    fi
    without_venv="$candidate"
  fi
done

if [[ -n "$found" ]]; then
  "$found" -c 'import sys; print(sys.executable)'
elif [[ -n "$without_venv" ]]; then
  echo "error: $without_venv has no venv module with pip." >&2
  echo "help: install it (Debian and Ubuntu: apt install python3-venv), or name another Python: make PYTHON=/path/to/python3" >&2
  exit 1
else
  echo "error: no Python 3.11 or newer found; tried: ${candidates[*]}" >&2
  echo "help: install one from https://www.python.org/downloads/, or name it: make PYTHON=/path/to/python3" >&2
  exit 1
fi
