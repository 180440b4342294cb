#!/bin/sh
# MaxText's command lines as a person meets them.
#
#   strata/cli/maxtext_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
saved=$(cd "$(dirname "$0")/../train/maxtext/testdata/checkpoints" && pwd)
. "$(dirname "$0")/../../tests/facts.sh"

nothing_of() { ! grep -q "$1" "$2"; }
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
fact "what it takes of memory stands in one line" grep -q "^memory: [0-9.]* [kM]B (weights [0-9.]* kB, optimizer [0-9.]* kB, gradients and activations [0-9.]* [kM]B, batch 512 B) of " err
STRATA_MEMORY_LIMIT=200000 strata train configs/base.yml run_name=large steps=2 $tiny
fact "a run that does not fit does not begin" says 1 " of memory, and 200 kB are available: weights "
fact "and what would mend it is said" grep -q "what would mend it: weight_dtype=bfloat16; or " err
seq 3000 > numbers.txt
STRATA_MEMORY_LIMIT=200000 strata train train_files=numbers.txt run_name=large steps=2
fact "nor one of this trainer's own keys" says 1 "STRATA_MEMORY_LIMIT=none goes on anyway"
STRATA_MEMORY_LIMIT=none strata train configs/base.yml run_name=large steps=1 $tiny
fact "but where it is told to" is 0
STRATA_DEVICE_TFLOPS=1 strata train configs/base.yml run_name=b steps=2 $tiny
fact "MFU where the device is known" grep -q "^goodput: [0-9.]*, mfu: [0-9.]*$" err
strata decode configs/base.yml run_name=a base_output_directory=runs prompt=abc max_target_length=68
fact "decode answers in MaxText's words" grep -q '^Input `abc` -> `' out

strata train configs/base.yml run_name=further steps=2 $tiny mtp_num_layers=1
fact "further tokens in MaxText's words" grep -q ", perplexity: [0-9.]*, main_model_loss: [0-9.]*, mtp_loss: [0-9.]*$" err
strata decode configs/base.yml run_name=further base_output_directory=runs prompt=abc max_target_length=68
fact "decode does not read them" grep -q '^Input `abc` -> `' out
strata train train_files=numbers.txt decoder_block=published mtp_num_layers=1 mtp_eval_target_module=1 run_name=accepted \
  steps=2 eval_interval=2 eval_steps=2 max_target_length=32 per_device_batch_size=2
fact "evaluations tell how many are accepted" grep -q "^Completed eval after train step 2, .*, avg_mtp_loss=[0-9.]*, avg_mtp_acceptance_rate=[0-9.]*%$" err
fact "and so do metrics" grep -q "eval/avg_mtp_acceptance_rate_percent" runs/accepted/metrics/metrics.jsonl
files="base_output_directory=runs dataset_type=hf hf_path=text hf_train_files=numbers.txt per_device_batch_size=2 max_target_length=32
  base_emb_dim=16 base_num_decoder_layers=1 base_mlp_dim=24 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8
  vocab_size=1000 dtype=float32 log_config=false"
seq 3000 3200 > others.txt
strata train configs/base.yml run_name=files steps=4 $files model_name=llama3.1-8b override_model_config=true
fact "a tokenizer of the hub by the model's name" says 2 "model_name=llama3.1-8b: the tokenizer meta-llama/Llama-3.1-8B is not on this machine"
strata train configs/base.yml run_name=files steps=4 $files tokenizer_type=huggingface \
  tokenizer_path="$root/strata/tokenizer/testdata/huggingface/smollm.json" hf_eval_files=others.txt eval_interval=2 eval_steps=3
fact "files to evaluate, a tokenizer of this machine" is 0
fact "behind the first step, as MaxText does" grep -q "^Starting eval after train step 1$" err
fact "a line for each batch" grep -q "^Completed eval step: 2, seconds: [0-9.]*, running loss=[0-9.]*, running perplexity=[0-9.]*, running total_weights=192.0$" err
fact "and one for all" grep -q "^Completed eval after train step 3, loss=[0-9.]*, perplexity=[0-9.]*, total_weights=192.0, avg_z_loss=0.000$" err
strata train configs/base.yml run_name=target steps=4 $files tokenizer_type=huggingface \
  tokenizer_path="$root/strata/tokenizer/testdata/huggingface/smollm.json" hf_eval_files=others.txt eval_interval=1 target_eval_loss=50
fact "a loss that is low enough" prints 0 "target_eval_loss is reached: step 1 of 4"
strata train configs/base.yml run_name=still steps=2 $tiny eval_interval=1 reuse_example_batch=1
fact "the synthetic batch is evaluated" grep -q "^Completed eval after train step 2, loss=[0-9.]*, perplexity=[0-9.]*, total_weights=64.0," err
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=half steps=1 $tiny per_device_batch_size=0.5 ici_tensor_parallelism=2
fact "half a sequence for each device" grep -q "^completed step: 1, .*total_weights: 64, " err
strata train train_files=numbers.txt mtp_num_layers=1 run_name=c
fact "a family that has none" says 2 "mtp_num_layers=1: decoder_block=llama2 has none"

small="base_output_directory=runs dataset_type=synthetic per_device_batch_size=2 max_target_length=8
  base_emb_dim=16 base_num_decoder_layers=2 base_mlp_dim=24 base_num_query_heads=4
  base_num_kv_heads=2 head_dim=8 vocab_size=256 dtype=float32 log_config=false"
strata train configs/base.yml run_name=whole steps=4 load_full_state_path=$saved/state/2 $small
fact "a run goes on from MaxText's state" grep -q "^going on from runs/whole/checkpoints/3$" err
strata train configs/base.yml run_name=weights steps=1 load_parameters_path=$saved/llama/0/items $small
fact "and from its parameters" grep -q "^going on from runs/weights/checkpoints/0$" err
strata train configs/base.yml run_name=lacks steps=1 load_parameters_path=$saved/llama/0/items $small mtp_num_layers=1
fact "further tokens are not made up" says 2 "mtp_num_layers=1: the arrays have 0 layers"
strata train configs/base.yml run_name=other steps=1 load_parameters_path=$saved/qwen3 $small
fact "of another model it is told what differs" says 2 "key_norm/scale [8, 2] is of no weight"
echo '{"model_type":"llama","vocab_size":256,"hidden_size":16,"intermediate_size":24,
  "num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":8,
  "rms_norm_eps":1e-5,"rope_theta":10000,"tie_word_embeddings":false}' > llama.json
strata convert "$saved/llama" hf --config llama.json
fact "MaxText's checkpoint becomes a directory" test -s hf/model.safetensors
strata convert runs/weights/checkpoints/0 unfolded
fact "a run's queries, as MaxText stores them, get the usual scale" prints 0 "are divided by 0.353553"
fact "to the same weights" cmp unfolded/model.safetensors hf/model.safetensors
fact "in a configuration that others read" nothing_of query_pre_attn_scalar unfolded/config.json
strata convert runs/weights trained
fact "so do those that have learned" test -s trained/model.safetensors
strata convert hf mt/0 --format maxtext --no-scan-layers
fact "and a directory MaxText's" test -s mt/0/items/_METADATA
strata convert mt/0 again --config hf
fact "with the same bytes" cmp hf/model.safetensors again/model.safetensors

strata train configs/base.yml run_name=small steps=2 $small model_name=gemma4-e2b override_model_config=true \
  scan_layers=false base_num_decoder_layers=10 num_kv_shared_layers=5 hidden_size_per_layer_input=6 \
  vocab_size_per_layer_input=256 global_head_dim=12 sliding_window_size=4
fact "Gemma 4 E2B trains" is 0
strata convert runs/small/checkpoints/2 e2b
fact "a run from first weights becomes a directory" grep -q '"Gemma4ForCausalLM"' e2b/config.json
strata convert e2b e2b-mt/0 --format maxtext
fact "MaxText has each layer of it apart" says 2 "strata convert --no-scan-layers"
strata convert e2b e2b-mt/0 --format maxtext --no-scan-layers
strata convert e2b-mt/0 e2b-back --config e2b
fact "and back it has the same bytes" cmp e2b/model.safetensors e2b-back/model.safetensors
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=staged steps=1 $small model_name=gemma4-e2b \
  override_model_config=true scan_layers=false base_num_decoder_layers=10 num_kv_shared_layers=5 \
  hidden_size_per_layer_input=6 vocab_size_per_layer_input=256 ici_pipeline_parallelism=2
fact "its layers are no pipeline" says 2 "layers of several kinds (gemma4_text) as a pipeline is not supported yet"
strata convert "$saved/llama_mtp" further --config llama.json
fact "vocabularies differ" says 2 "token_embedder/embedding is [4, 16] and should be [256, 16]"
sed 's/"vocab_size":256/"vocab_size":4/' llama.json > four.json
strata convert "$saved/llama_mtp" further --config four.json
fact "further tokens are of no published Llama" prints 0 "(mtp_block) are left out"
strata convert further back --format maxtext
fact "what is left reads again" test -s back/items/_METADATA
strata train configs/base.yml run_name=first_dense steps=1 $small decoder_block=deepseek attention_type=mla \
  q_lora_rank=0 kv_lora_rank=8 qk_nope_head_dim=8 qk_rope_head_dim=4 v_head_dim=8 num_experts=4 num_experts_per_tok=2 \
  base_moe_mlp_dim=8 shared_experts=1 first_num_dense_layers=1 routed_score_func=softmax mscale=0
strata convert runs/first_dense first_dense
strata model routes first_dense --files numbers.txt --rows 2 --length 16
fact "layers without experts are said to be dense" prints 0 "     0   dense"
fact "those with some list them" grep -q "^     1       3  *[0-9.]* %$" out
strata model routes first_dense --files numbers.txt --rows 2 --length 16 --json
fact "in JSON they are null" prints 0 '"layers":[null,['
strata convert "$saved/llama" nothing
fact "the model must be said" says 2 "name a config.json"

strata train model_name=llama2-7b quantization=int8 dataset_type=synthetic run_name=c
fact "what is not built is refused" says 2 "quantization=int8 is not supported yet"
fact "between lines" grep -q "^================================================================================$" err
strata train configs/base.yml nonsense=1
fact "an unknown key" says 2 "MAXTEXT CONFIG ERROR: 'nonsense' not in"
strata train configs/base.yml steps=abc run_name=d
fact "a value of another type" says 2 "Input should be a valid integer"
strata train missing.yml model_name=llama2-7b run_name=d
fact "a file that is not there" says 2 "No such file or directory: 'src/missing.yml'"
strata train src/maxtext/configs/missing.yml run_name=d
fact "nor in MaxText's folder" says 2 "MAXTEXT CONFIG ERROR: [Errno 2] No such file or directory: "
strata train missing.yml
fact "nor of anybody's" says 2 "missing.yml: cannot open"
printf 'base_config: nowhere.yml\n' > builds.yml
strata train builds.yml model_name=llama2-7b run_name=d
fact "nor one that it builds on" says 2 "No such file or directory: 'nowhere.yml'"
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
fact "how long it would take" grep -q '"predicted_step_s":{"overlapped":[0-9.]*,"apart":[0-9.]*,"arithmetic"' out
while read -r file weights mesh; do
  strata train-compile "$root/configs/$file" --json
  fact "$file" grep -q "\"devices\":256,\"parameters\":$weights,\"mesh\":\"$mesh\"" out
done << END
kakao/dense-2.1b.yml 2086979328 fsdp=256
kakao/experts-13.4b.yml 13386958592 fsdp=256
kakao/deeper-9.8b.yml 9775157248 fsdp=256
cohere/tensor-data-7b.yml 6895702016 data=16, tensor=16
END
fact "FAX's collectives" grep -q '"collectives_by_strata":{"all_gather":{"times":1,"bytes":[0-9]*},"all_reduce"' out
strata train-compile model_name=llama3.1-70b run_name=e
fact "a slice is needed" says 2 "compile_topology"

strata train-compile base_emb_dim=64 base_num_query_heads=4 base_num_kv_heads=2 head_dim=16 --target=tpu:v5e
fact "so is a topology" says 2 "compile_topology=v5e-16"
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=m steps=1 $tiny ici_tensor_parallelism=2 \
  per_device_batch_size=1
fact "a mesh" grep -q "^mesh: 4 devices (fsdp=2, tensor=2)$" err
fact "what each device holds" grep -q "^each device holds .* of state, 100.0 % of what was predicted$" err
STRATA_PLUGIN_OPTIONS=cpu_device_count=4 strata train --device="plugin:$(dirname "$bin")/lib/libstrata_pjrt.so" \
  configs/base.yml run_name=mp steps=1 $tiny ici_tensor_parallelism=2 per_device_batch_size=1
fact "a mesh of a plugin's devices" grep -q "^mesh: 4 devices (fsdp=2, tensor=2)$" err
STRATA_NUM_CPU_DEVICES=4 strata train configs/base.yml run_name=m2 steps=1 $tiny ici_fsdp_parallelism=3
fact "devices that do not add up" says 2 "ici_fsdp_parallelism=3: that is 3 devices, and there are 4"

told
