#!/bin/bash
# Installs the build into a fresh prefix, builds tests/installed (in C++ and in C) against nothing but that, runs it, compares its words;
# builds it by the lines of the README too; looks for warnings of g++ and clang in what users include.
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

# By hand, as the README says.
mkdir "$place/by_hand" && cp tests/installed/first.cc "$place/by_hand"
sed -n '/^```console$/,/^```$/s/^\$ //p' README.md | sed "s#DIR#$place/prefix#g" > "$place/by_hand/lines"
grep -q pkg-config "$place/by_hand/lines" || { echo "the README has no line for g++"; exit 1; }
(cd "$place/by_hand" && bash -e lines && ./first) > "$place/out_by_hand"
diff tests/installed/expected.txt "$place/out_by_hand"

# No warnings, with plain -I: of a program, and of every header that programs include.
mkdir "$place/headers"
(cd "$place/prefix/include" && for room in api nn optim checkpoint tree embed; do find "strata/$room" -name '*.h' -printf '#include <%p>\n'; done | sort) > "$place/headers/all.cc"
grep -q 'strata/api/array.h' "$place/headers/all.cc"
for compiler in g++ clang++-19; do
  command -v $compiler > /dev/null || continue
  for source in tests/installed/every.cc "$place/headers/all.cc"; do
    $compiler -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Wpedantic -Werror -I "$place/prefix/include" "$source" 2> "$place/warnings" \
      || { head -20 "$place/warnings"; echo "$compiler warns of $(basename "$source")"; exit 1; }
  done
done

share=$place/prefix/share/doc/strata
for file in LICENSE NOTICE index.html environment.md; do cmp "$share/$file" "$(ls $file docs/$file docs/reference/$file 2> /dev/null | head -1)"; done
pkg_config() { PKG_CONFIG_PATH="$place/prefix/lib/pkgconfig" pkg-config "$@"; }
[ "$(pkg_config --modversion strata)" = "$("$place/prefix/bin/strata" info --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')" ]
pkg_config --libs strata_rt | grep -q -- '-lstrata_rt' || { echo "strata_rt.pc names no library"; exit 1; }
for program in strata strata-run strata-opt strata-ops; do
  "$place/prefix/bin/$program" --help > /dev/null || { echo "$program --help fails in the installed tree"; exit 1; }
done
echo "installed $(du -sh "$place/prefix" | cut -f1), the program of the README prints $(cat "$place/out")"
