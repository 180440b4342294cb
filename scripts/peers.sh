#!/bin/bash
# Puts the peers that are named into build/peers, a Python environment of their own; only those that are missing.
#
#   scripts/peers.sh numpy safetensors tensorboard
#
# STRATA_PEERS_OPTIONAL=1   where they cannot be had, says so and goes on
# STRATA_PEERS=FOLDER       another environment, of STRATA_PEERS_PYTHON (another version of Python)
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${STRATA_PEERS:-build/peers}

have() { [ -x "$peers/bin/pip" ] && "$peers/bin/pip" install --quiet --dry-run --no-index "$@" > /dev/null 2>&1; }
get() {
  scripts/install-deps.sh python3-venv
  [ -x "$peers/bin/pip" ] || "${STRATA_PEERS_PYTHON:-python3}" -m venv "$peers"
  "$peers/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 "$@"
}

have "$@" && exit 0
echo "installing from PyPI into $peers: $*"
if ! (get "$@"); then
  echo "peers: $* cannot be installed" >&2
  [ "${STRATA_PEERS_OPTIONAL:-}" = 1 ] || exit 1
fi
