#!/usr/bin/env bash
# Writes the lock files: every release and hash for Python 3.10 to 3.13 on Linux, Windows and macOS.
# Needs the network. uv does the resolving because pip can lock for one platform only; it lives in a
# scratch environment, since nothing else needs it.
set -eu
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv

compile() {
    "$scratch/venv/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" "$@" pyproject.toml
}
compile --group build --output-file requirements.lock
# The second is a superset of the first, with the same releases.
compile --group build --group dev --constraint requirements.lock --output-file requirements-dev.lock
