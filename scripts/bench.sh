#!/bin/bash
# make bench: builds the speed programs, puts the peers from PyPI into build/peers, runs each bench/*.py beside its peer.
#
#   scripts/bench.sh [NAME...]      only bench/NAME.py; more_programs: those by bench/perf.py; random_programs: those that STRATA_SEED and STRATA_COUNT draw,
#                                   which no run without names does
#
# STRATA_BENCH_TORCH=0              without PyTorch (a download of 3 GB)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}
STRATA_BUILD=$build scripts/build.sh all bench_programs

scripts/peers.sh "jax[cpu]==0.10.2" numpy optax==0.2.8
# PyTorch's package brings GPU libraries of some gigabytes; its row stays out where they cannot be had, or are not wanted.
[ "${STRATA_BENCH_TORCH:-1}" = 0 ] || STRATA_PEERS_OPTIONAL=1 scripts/peers.sh torch
peers=build/peers

# bench/perf.py, beside the newest JAX, too, that a Python of this machine can have.
perf() {
  [ -n "${other_python+looked}" ] || other_python=$(scripts/peers-newest.sh "jax[cpu]" numpy)
  STRATA_BUILD=$build "$peers/bin/python" bench/perf.py ${other_python:+--beside "$other_python"} "$@"
}

shopt -s nullglob
names=("$@")
[ ${#names[@]} -gt 0 ] || for file in bench/*.py; do names+=("$(basename "$file" .py)"); done
for name in "${names[@]}"; do
  if [ "$name" = more_programs ] || { [ "$name" = random_programs ] && [ $# -gt 0 ]; }; then
    echo "== bench/perf.py --programs bench/$name.py"
    perf --programs "bench/$name.py" --seconds 0.3
  elif [ "$name" = perf ]; then
    echo "== bench/perf.py"
    perf
  elif [ -x "bench/$name.py" ]; then  # others are what several of them share
    echo "== bench/$name.py"
    STRATA_BUILD=$build "$peers/bin/python" "bench/$name.py"
  fi
done
