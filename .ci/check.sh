#!/usr/bin/env bash
# Everything that must hold: format, lint, types, tests. Arguments go to pytest.
#
# The tests that open a window need OpenGL, an X server, a window manager and xdotool. As root on Debian or
# Ubuntu they are installed here; else it is said what to install, and those tests skip with the reason. They
# run in a virtual display, so that they neither need nor disturb the one in use.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python

say() { printf 'check: %s\n' "$*" >&2; }

missing_packages() {
    for package in xvfb xauth xdotool x11-utils openbox libgl1 libegl1 libopengl0 libgl1-mesa-dri libglx-mesa0 \
        libxcursor1 libxi6 libxrandr2; do
        dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    missing=$(missing_packages | tr '\n' ' ')
    if [ -n "$missing" ] && [ "$(id -u)" = 0 ]; then
        say "installing $missing"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq >&2 || true
        # shellcheck disable=SC2086  # one word a package
        apt-get install -y -qq --no-install-recommends $missing >&2 ||
            say "could not install $missing: the tests that need a window will be skipped"
    elif [ -n "$missing" ]; then
        say "the tests that need a window will be skipped; for these: sudo apt-get install $missing"
    fi
fi

"$python" -m ruff format --check --quiet . || {
    say "some files are not in the house format: run 'make format'"
    exit 1
}
"$python" -m ruff check --quiet .
"$python" -m mypy --no-error-summary
if command -v xvfb-run >/dev/null && command -v xauth >/dev/null; then
    exec env -u WAYLAND_DISPLAY xvfb-run --auto-servernum --server-args='-screen 0 1600x1000x24' \
        "$python" -m pytest "$@"
fi
exec "$python" -m pytest "$@"
