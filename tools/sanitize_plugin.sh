#!/bin/sh
# Runs the tests that drive the PJRT plugin with its sources under ASan and UBSan; the rooms above it come from the build as they are.
#
#   tools/sanitize_plugin.sh [BUILD]      BUILD: a built folder (default build); objects go to BUILD/sanitized
#
# The pool's threads are never joined (they sleep at exit), so what they hold is no leak.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}") out=$(realpath "${1:-build}")/sanitized
flags="-std=c++20 -O1 -g1 -DFMT_SHARED -I. -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=undefined"
mkdir -p "$out"
find strata/pjrt -name '*.cc' ! -name '*_fuzz.cc' ! -name '*_main.cc' ! -name '*_inside.cc' | sort > "$out/sources"
xargs -P2 -I{} sh -c "object=$out/\$(basename {}).o; [ \"\$object\" -nt {} ] || g++ $flags -c {} -o \"\$object\"" < "$out/sources"
rooms=$(sed -n 's/^strata_room(\([a-z]*\).*/\1/p' CMakeLists.txt | sed '/^pjrt$/,$d')
libraries=""
for room in $rooms; do
  [ ! -f "$build/lib/libstrata_$room.a" ] || libraries="$build/lib/libstrata_$room.a $libraries"
done
g++ -fsanitize=address,undefined "$out"/*.o -Wl,--start-group $libraries -Wl,--end-group -L/usr/lib/llvm-19/lib -lLLVM-19 -lopenblas -lz -lfmt -lgtest -lgtest_main -lgmock -lpthread -o "$out/pjrt_test"
printf 'leak:strata::set_num_threads\nleak:strata::(anonymous namespace)::pool\n' > "$out/leaks"
cd "$build"
LSAN_OPTIONS="suppressions=$out/leaks:print_suppressions=0" exec "$out/pjrt_test"
