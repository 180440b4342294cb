#!/bin/sh
# The options of tools/on_gpu.sh, and what it says of a device that is not usable. The whole takes ten minutes, so it is run by hand.
#
#   tools/on_gpu_test.sh BIN      BIN: the folder of the programs (default build/bin)
tools=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/../tests/facts.sh"
lib=$bin/../lib

check() {
  "$tools/on_gpu.sh" --bin="$bin" --out="$folder/on_gpu" "$@" > out 2> err
  status=$?
}
check --slow
fact "an option that is none" says 2 "[--device=cuda] [--bin=build/bin]"
check --device=plugin:/nowhere/x.so --quick
fact "a device that is not there" says 1 "there is no file /nowhere/x.so"
fact "is a row of what failed" grep -q "^| a first program | FAILED: " on_gpu/rows.md
STRATA_ODD_PLUGIN=dies check "--device=plugin:$lib/libstrata_odd_plugin.so"
fact "a plugin that crashes" says 1 "it died by signal 6"
told
