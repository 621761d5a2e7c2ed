#!/usr/bin/env bash
# Captures the wave frame, replays the saved graph with three pushes in the middle, and makes a picture of
# the rings. Needs neither a display nor a GPU.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
picture=out/rings.png
capture=$("$python" -c 'from app.cache import cache_folder; print(cache_folder())')/demo.wrp

"$python" -m app capture --width 256 --height 256 --device cpu --output "$capture"
mkdir -p out
"$python" -m app --headless --graph "$capture" --device cpu --frames 70 \
    --click 128,128 --click 128,128@22 --click 128,128@44 \
    --top-view --size 960x960 --screenshot "$picture"

cat <<END

The picture:       $PWD/$picture
What was replayed: $capture
Explain it:        .venv/bin/ripplescope inspect "$capture"
END
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname)" = Darwin ]; then
    echo "Push the water:    .venv/bin/ripplescope"
else
    echo "Push the water:    .venv/bin/ripplescope   (where there is a display; here there is none)"
fi
