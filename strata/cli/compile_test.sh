#!/bin/sh
# `strata compile` as a person meets it: what it refuses and how, and a program that is linked and run.
#
#   strata/cli/compile_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
exports=$(cd "$(dirname "$0")/../ir/export/testdata" && pwd)
. "$(dirname "$0")/../../tests/facts.sh"

compile() { strata compile "$@"; }

cat > add.mlir << 'EOF'
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %z = stablehlo.add %x, %y : tensor<3xf32>
  return %z : tensor<3xf32>
}
EOF
cat > main.c << 'EOF'
#include <stdio.h>
#include "add.h"
int main(void) {
  const float x[] = {1, 2, 3}, y[] = {10, 20, 30};
  add_out0_array z;
  const add_inputs in = {x, y};
  const add_outputs out = {z};
  const char* error = add_run(&in, &out);
  printf("%s %g %g %g\n", error ? error : add_signature, z[0], z[1], z[2]);
  return error != NULL;
}
EOF

compile add.mlir
fact "object and header by the file's name" prints 0 "add.o: "
fact "a C program links with them" cc -std=c99 -Wall -Wextra -pedantic -Werror main.c add.o -L"$bin/../lib" -lstrata_rt -lstdc++ -lm -o main
./main > out 2> err
status=$?
fact "and runs" prints 0 "main(0: f32[3], 1: f32[3]) -> (0: f32[3]) 11 22 33"
"$bin/strata-opt" add.mlir > again.mlir
compile again.mlir --name sum -o other.o --header header.h --cpu native
fact "names of one's own" prints 0 "other.o: "
fact "are the header's" grep -q "sum_run(const sum_inputs" header.h
compile add.mlir -o a.o
cp a.o b.o
compile add.mlir -o a.o
fact "the same bytes each time" cmp a.o b.o
compile "$exports/open.jax" --dim b=5 --name five
fact "an open dimension with its size" prints 0 "doubled([0]: f32[b,2]"
fact "is fixed in the header" grep -q "five_in0_array\[5\]\[2\]" five.h

compile --help
fact "help has an example" prints 0 "strata compile digits.jax -o digits.o"
compile
fact "no program" says 2 "program"
cat > huge.mlir << 'EOF'
func.func @main() -> tensor<4194304x4194304xf32> {
  %x = stablehlo.iota dim = 0 : tensor<4194304x4194304xf32>
  return %x : tensor<4194304x4194304xf32>
}
EOF
"$bin/strata-run" huge.mlir > out 2> err
status=$?
fact "memory that is not there, with its numbers" says 4 "strata-run: out of memory: 70368744177664 bytes (64 TiB) requested, "
compile absent.mlir
fact "a program that is not there" says 2 "absent.mlir"
echo nonsense > nonsense.mlir
compile nonsense.mlir
fact "no program in the file" says 2 "nonsense.mlir:1:1"
head -c 500 "$exports/layer.jax" > cut.jax
compile cut.jax
fact "a truncated export" says 2 "cut.jax: an export of JAX that is cut short: it says that it has "
printf 'PK\003\004rest' > weights.npz
compile weights.npz
fact "arrays are no program" says 2 "weights.npz: no program, but a NumPy archive (.npz); a program is StableHLO as text (func.func @main ...) or bytecode, or what jax.export serialises"
printf 'import jax\n' > train.py
compile train.py
fact "a Python program is none" says 2 "train.py:1:1: expected a function; this is a Python program; a program is "
printf '#!/bin/sh\nexit 0\n' > run.sh
compile run.sh
fact "a script is none" says 2 "run.sh: no program, but a script (#!/bin/sh)"
mkdir -p run/checkpoints/4
touch run/checkpoints/4/manifest.json
compile run/checkpoints/4
fact "a checkpoint is none" says 2 "run/checkpoints/4: no program, but a checkpoint's folder"
"$bin/strata-run" weights.npz > out 2> err
status=$?
fact "so says strata-run" says 2 "weights.npz: no program, but a NumPy archive (.npz)"
"$bin/strata-opt" cut.jax > out 2> err
status=$?
fact "and strata-opt" says 2 "cut.jax: an export of JAX that is cut short"
"$bin/strata-run" add.mlir --args=weights.npz > out 2> err
fact "and arguments in another format" grep -q "weights.npz: no whole safetensors file: .*; this is a NumPy archive (.npz)" err
compile "$exports/open.jax"
fact "an open dimension says what to do" says 2 "has an open dimension in [0]: f32[b,2]: an object file is for fixed shapes; say its size, as in --dim 'b=8'"
compile "$exports/open.jax" --dim b=five
fact "a size that is no number" says 2 "--dim b=five: say a dimension and its size"
compile "$exports/open.jax" --dim b=5 --dim c=4
fact "a size of nothing" says 2 "--dim c: no input of doubled("
echo 'func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }' > dynamic.mlir
compile dynamic.mlir
fact "an open dimension without a name" says 2 "write the program with that dimension's size"
compile "$exports/tpu.jax"
fact "an export for others" says 2 'exported for tpu, not for cpu: export it with platforms=["cpu", "tpu"] (jax.export.export), or load the program of another platform by its name'
compile "$exports/tpu.jax" --platform tpu
fact "an export for others by its name" is 0
compile add.mlir --name 2nd
fact "a name that C does not take" says 2 "--name 2nd: C takes letters, digits and underscores"
compile add.mlir --cpu m68k
fact "an unknown processor" says 2 "m68k"
compile add.mlir -o add.mlir
fact "not over the program" says 2 "must be different files"
compile add.mlir -o no/such/folder/add.o
fact "a folder that is not there" says 2 "no/such/folder/add.o"
mkdir taken.o
compile add.mlir -o taken.o
fact "a folder in the way" says 1 "taken.o"
cat > feed.mlir << 'EOF'
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.custom_call @no_such_target(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
EOF
compile feed.mlir
fact "what has no machine code" says 2 "target @no_such_target is not supported [at feed.mlir:2:8]"

cat > sharded.mlir << 'EOF'
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<6x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
EOF
compile sharded.mlir --explain-sharding
fact "what a program over devices costs" prints 0 "all_reduce over x 32  for stablehlo.dot_general at sharded.mlir:3:8"
sed 's/@m, /@q, /' sharded.mlir > unknown.mlir
compile unknown.mlir --explain-sharding
fact "a mesh that is not there" says 2 "names no mesh of the module"

told
