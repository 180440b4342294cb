#!/bin/sh
# STRATA_EXACT_SUMS=1: runs over meshes of eight devices have the losses of one device to the bit.
#
#   strata/cli/train_exact_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"
unset STRATA_NUM_PROCESSES STRATA_PROCESS_ID STRATA_COORDINATOR_ADDRESS STRATA_NUM_CPU_DEVICES STRATA_EXACT_SUMS

verses > text.txt
keys="train_files=text.txt base_output_directory=. base_emb_dim=16 base_num_query_heads=8 base_num_kv_heads=8 head_dim=2
base_mlp_dim=32 base_num_decoder_layers=4 max_target_length=8 learning_rate=1e-2 steps=20 enable_checkpointing=false"
losses() { sed 's/.*"step":\([0-9]*\).*"learning\/loss":\([^,]*\),.*/\1 \2/' "$1/metrics/metrics.jsonl" > "$1.txt"; }

strata train $keys run_name=one per_device_batch_size=8
fact "one device" is 0
losses one
run() { # NAME KEYS...: a run over eight devices, one sequence each
  name=$1
  shift
  STRATA_EXACT_SUMS=1 STRATA_NUM_CPU_DEVICES=8 "$bin/strata" train $keys run_name="$name" per_device_batch_size=1 "$@" > out 2> err
  status=$?
  losses "$name"
}
STRATA_NUM_CPU_DEVICES=8 STRATA_EXACT_SUMS=yes "$bin/strata" train $keys run_name=asked per_device_batch_size=1 \
  ici_data_parallelism=8 > out 2> err
status=$?
fact "another word than 1 is refused" says 2 'STRATA_EXACT_SUMS: is "yes", not 0 or 1'
STRATA_NUM_CPU_DEVICES=8 "$bin/strata" train $keys run_name=cut per_device_batch_size=1 ici_data_parallelism=8 \
  > out 2> err
grep -h "collectives of a step" out err > cut_sums.txt
run data ici_data_parallelism=8
grep -h "collectives of a step" out err > exact_sums.txt
fact "the collectives are told before a run" [ -s cut_sums.txt ]
fact "those of this run" sh -c '! cmp -s cut_sums.txt exact_sums.txt && [ -s exact_sums.txt ]'
fact "data: the bits of one device" cmp one.txt data.txt
run fsdp ici_fsdp_parallelism=8
fact "fsdp: the bits of one device" cmp one.txt fsdp.txt
run tensor ici_tensor_parallelism=8
fact "tensor: the bits of one device" cmp one.txt tensor.txt
run three ici_data_parallelism=2 ici_fsdp_parallelism=2 ici_tensor_parallelism=2
fact "data x fsdp x tensor: the bits of one device" cmp one.txt three.txt
run context ici_context_parallelism=4 ici_data_parallelism=2
fact "context x data: the bits of one device" cmp one.txt context.txt
# Stages add the gradients of their microbatches (docs/exceptions.md).
run stages ici_pipeline_parallelism=4 ici_data_parallelism=2
fact "stages x data: within 1e-5" sh -c \
  'paste one.txt stages.txt | awk "{ d = \$2 / \$4 - 1; if (d > 1e-5 || d < -1e-5) bad = 1 } END { exit bad || NR != 20 }"'
told
