#!/bin/bash
# Configures the release preset into build/ and builds what is named (default: everything), telling how long it took.
#
#   scripts/build.sh [TARGET...]
#
# STRATA_BUILD   another build folder
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}

start=$(date +%s)
# CMake looks again by itself when its files change, so it is run only the first time.
[ -f "$build/build.ninja" ] || cmake --preset release -B "$build" > "/tmp/strata-configure.$$" || { cat "/tmp/strata-configure.$$"; exit 1; }
rm -f "/tmp/strata-configure.$$"
# As many at a time as there are cores: what a file took is then the price of it (scripts/testing/price.py).
ninja -C "$build" -j "$(nproc)" "$@"
echo $(($(date +%s) - start)) > "$build/build_seconds"
