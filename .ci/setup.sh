#!/usr/bin/env bash
# Makes .venv and installs the locked dependencies into it: `setup.sh run` to run the program,
# `setup.sh check` to check it as well. Does nothing, and needs no network, if that is already done
# for the same lock file and the same Python. PYTHON=... picks the interpreter.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

case "${1:-run}" in
    run) lock=requirements.lock ;;
    check) lock=requirements-dev.lock ;;
    *) die "unknown purpose '$1'; use run or check" ;;
esac
venv_python=.venv/bin/python

# Prints "3.12" for an interpreter that will do, nothing for any other.
release_of() {
    "$1" -c 'import sys
v = sys.version_info
print("%d.%d" % v[:2]) if (3, 10) <= v[:2] <= (3, 13) else None' 2>/dev/null || true
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON" >/dev/null || die "no such interpreter: PYTHON=$PYTHON"
        [ -n "$(release_of "$PYTHON")" ] || die "PYTHON=$PYTHON is not Python 3.10, 3.11, 3.12 or 3.13"
        python=$PYTHON
        return
    fi
    for python in python3 python3.13 python3.12 python3.11 python3.10; do
        if [ -n "$(release_of "$python")" ]; then return; fi
    done
    python=
}

# Installs Debian packages as root; without root or apt-get says what is needed and gives up.
need_packages() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing $*"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq >&2 || true
        apt-get install -y -qq --no-install-recommends "$@" >&2 || die "could not install $*"
    else
        die "missing: $*; install it first (Debian, Ubuntu: sudo apt-get install $*)"
    fi
}

# An existing environment stays unless it is broken or PYTHON asks for another release.
release=$([ -x "$venv_python" ] && release_of "$venv_python" || true)
if [ -n "${PYTHON:-}" ] || [ -z "$release" ]; then
    find_python
    if [ -z "$python" ]; then
        need_packages python3 python3-venv
        find_python
        [ -n "$python" ] || die "Python 3.10 to 3.13 is needed; set PYTHON to such an interpreter"
    fi
    if [ "$release" != "$(release_of "$python")" ]; then
        release=$(release_of "$python")
        "$python" -c 'import ensurepip, venv' 2>/dev/null || need_packages "python$release-venv"
        say "making .venv with $("$python" --version)"
        rm -rf .venv
        "$python" -m venv .venv
    fi
fi

# The stamp holds what was installed; the dev lock is a superset, so it serves both purposes.
stamp=.venv/.installed
state_of() { "$venv_python" -c '
import hashlib, os, sys
digest = hashlib.sha256()
for name in (sys.argv[1], "pyproject.toml"):
    with open(name, "rb") as file:
        digest.update(file.read())
print(sys.argv[1], sys.version.split()[0], os.getcwd(), digest.hexdigest())' "$1"; }
if [ -e "$stamp" ]; then
    installed=$(cat "$stamp")
    [ "$installed" = "$(state_of "$lock")" ] && exit 0
    [ "$installed" = "$(state_of requirements-dev.lock)" ] && exit 0
fi
say "installing $lock into .venv; the first time this takes minutes"
rm -f "$stamp"
# an environment that was interrupted while it was made has no pip
"$venv_python" -m pip --version >/dev/null 2>&1 || "$venv_python" -m ensurepip >/dev/null
"$venv_python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
"$venv_python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --no-index -e .
state_of "$lock" >"$stamp"
