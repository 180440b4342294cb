#!/bin/sh
# STRATA_PROFILE=NAME: the program of that name tells at its end what its launches took.
#
#   strata/runtime/report_test.sh BIN      BIN: the folder of the programs
set -u
programs=$(dirname "$0")/../../conformance/jax/control/control_cond
told=$(STRATA_PROFILE=main "$1/strata-run" $programs.mlir --check=$programs.safetensors 2>&1)
case $told in
  *"main: "*" s in launches"*" runs  "*) echo "ok a program that was kept tells its launches at the end" ;;
  *) echo "FAILED a program that was kept tells its launches at the end: $told" ;;
esac
