#!/bin/bash
# Installs the build into a fresh prefix, builds tests/installed (in C++ and in C) against nothing but that, runs it, compares its words.
#
#   scripts/test_install.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
cmake -S tests/installed -B "$place/build" -G Ninja -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_BUILD_TYPE=Release > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
# The tree may not reach back into the checkout.
if grep -rqF "$PWD" "$place/prefix/lib" --include='*.cmake'; then echo "the package names the checkout"; exit 1; fi
cmake --build "$place/build" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
"$place/build/first" > "$place/out"
diff tests/installed/expected.txt "$place/out"
"$place/build/model" strata/ir/export/testdata/layer.jax strata/ir/export/testdata/open.jax > "$place/model" || { cat "$place/model"; exit 1; }
diff tests/installed/expected_model.txt "$place/model"
for program in strata strata-run strata-opt strata-ops; do
  "$place/prefix/bin/$program" --help > /dev/null || { echo "$program --help fails in the installed tree"; exit 1; }
done
echo "installed $(du -sh "$place/prefix" | cut -f1), the program of the README prints $(cat "$place/out")"
