#!/bin/bash
# As scripts/peers.sh, into build/peers-newest, of the newest Python of this machine: JAX's newest release asks for a newer one than
# Debian's. Prints that Python once JAX runs in it; nothing where there is no newer one or JAX cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
newest=$(scripts/newest-python.sh)
[ -n "$newest" ] && [ "$newest" != "$(command -v python3)" ] || exit 0
STRATA_PEERS=build/peers-newest STRATA_PEERS_PYTHON=$newest STRATA_PEERS_OPTIONAL=1 scripts/peers.sh "$@" >&2
if build/peers-newest/bin/python -c 'import jax' 2> /dev/null; then echo build/peers-newest/bin/python; fi
