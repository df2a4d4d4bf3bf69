#!/usr/bin/env bash
# Take the README's picture of the demo's report again. Needs chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${VORONYM:-.venv/bin/voronym}" demo --folder "$folder/demo"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$folder/profile" --hide-scrollbars \
    --window-size=1200,1400 --screenshot="$PWD/docs/_static/report.png" "file://$folder/demo/report.html"
