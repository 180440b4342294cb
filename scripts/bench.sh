#!/bin/bash
# make bench: builds the speed programs, puts the peers from PyPI into build/peers, runs each bench/*.py beside its peer.
#
#   scripts/bench.sh [NAME...]      only bench/NAME.py
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}
STRATA_BUILD=$build scripts/build.sh

peers=build/peers
if [ ! -x "$peers/bin/python" ]; then
  echo "installing from PyPI into $peers: jax[cpu]==0.10.2 numpy"
  scripts/install-deps.sh python3-venv
  python3 -m venv "$peers"
  "$peers/bin/pip" install --quiet "jax[cpu]==0.10.2" numpy
fi

shopt -s nullglob
names=("$@")
[ ${#names[@]} -gt 0 ] || for file in bench/*.py; do names+=("$(basename "$file" .py)"); done
for name in "${names[@]}"; do
  echo "== bench/$name.py"
  STRATA_BUILD=$build "$peers/bin/python" "bench/$name.py"
done
