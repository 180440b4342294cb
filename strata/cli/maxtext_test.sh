#!/bin/sh
# MaxText's command lines as a person meets them.
#
#   strata/cli/maxtext_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"

tiny="base_output_directory=runs dataset_type=synthetic per_device_batch_size=2 max_target_length=32
  base_emb_dim=32 base_num_decoder_layers=2 base_mlp_dim=64 base_num_query_heads=4
  base_num_kv_heads=2 head_dim=8 vocab_size=256 dtype=float32 log_config=false"

strata train src/maxtext/configs/base.yml run_name=a steps=3 sa_block_q=128 $tiny
fact "it trains" is 0
fact "a line in MaxText's words" grep -q "^completed step: 3, seconds: [0-9.]*, TFLOP/s/device: [0-9.]*, Tokens/s/device: [0-9.]*, total_weights: 64, loss: [0-9.]*, lm_loss: [0-9.]*, perplexity: [0-9.]*$" err
fact "goodput stands on a line of its own" grep -q "^goodput: [0-9.]*$" err
fact "what has no effect is said" grep -q "^sa_block_q=128 accepted, no effect here, because kernels choose their own tiles$" err
fact "there is a checkpoint" test -d runs/a/checkpoints/3
strata train src/maxtext/configs/base.yml run_name=a steps=3 $tiny
fact "the same line goes on where it stopped" grep -q "going on from runs/a/checkpoints/3" err
STRATA_DEVICE_TFLOPS=1 strata train configs/base.yml run_name=b steps=2 $tiny
fact "MFU where the device is known" grep -q "^goodput: [0-9.]*, mfu: [0-9.]*$" err
strata decode configs/base.yml run_name=a base_output_directory=runs prompt=abc max_target_length=68
fact "decode answers in MaxText's words" grep -q '^Input `abc` -> `' out

strata train model_name=llama2-7b mtp_num_layers=1 dataset_type=synthetic run_name=c
fact "what is not built is refused" says 2 "mtp_num_layers=1 is not supported yet"
fact "between lines" grep -q "^================================================================================$" err
strata train configs/base.yml nonsense=1
fact "an unknown key" says 2 "MAXTEXT CONFIG ERROR: 'nonsense' not in"
strata train configs/base.yml steps=abc run_name=d
fact "a value of another type" says 2 "Input should be a valid integer"
M_STEPS=4 strata train configs/base.yml steps=3 run_name=d
fact "a key twice" says 2 "overridden by both CLI/kwargs and environment variable 'M_STEPS'"
strata train model_name=llama3.1-8b base_emb_dim=64 run_name=d
fact "against the model's file" says 2 "overridden by both model config and CLI/kwargs"

strata config explain base_emb_dim model_name=llama3.1-8b
fact "a key and its source" grep -q "^value: 4096 (models/llama3.1-8b.yml)$" out
strata config explain base_emb_dm
fact "the nearest key" says 2 "did you mean 'base_emb_dim'"
strata train-compile model_name=llama3.1-70b compile_topology=v5e-256 compile_topology_num_slices=1 \
  per_device_batch_size=1 run_name=e --json
fact "a step for chips that are not here" grep -q '"devices":256,"parameters":70553706496,"mesh":"fsdp=256"' out
fact "what it moves" grep -q '"collectives_by_strata":{"all_gather":{"times":[0-9]*,"bytes":[0-9]*}' out
strata train-compile model_name=llama3.1-70b run_name=e
fact "a slice is needed" says 2 "compile_topology"

strata train-compile base_emb_dim=64 base_num_query_heads=4 base_num_kv_heads=2 head_dim=16 --target=tpu:v5e
fact "so is a topology" says 2 "compile_topology=v5e-16"
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=m steps=1 $tiny ici_tensor_parallelism=2 \
  per_device_batch_size=1
fact "a mesh" grep -q "^mesh: 4 devices (fsdp=2, tensor=2)$" err
fact "what each device holds" grep -q "^each device holds .* of state, 100.0 % of what was predicted$" err
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=m2 steps=1 $tiny ici_fsdp_parallelism=3
fact "devices that do not add up" says 2 "ici_fsdp_parallelism=3: that is 3 devices, and there are 4"

told
