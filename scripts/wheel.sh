#!/bin/bash
# Builds the PJRT plugin and the wheel that holds it, build/wheel/strata_jax-*.whl; says its size.
#
#   scripts/wheel.sh        # then: pip install build/wheel/strata_jax-*.whl
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh strata_pjrt_plugin
rm -f build/wheel/*.whl
python3 python/make_wheel.py build/wheel
