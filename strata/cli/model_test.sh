#!/bin/sh
# `strata model` as a person meets it: what each verb writes, says and refuses.
#
#   strata/cli/model_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"
model=$root/strata/model/testdata/published/llama

nothing() { [ ! -e "$1" ]; }
is_json() { is 0 && python3 -m json.tool out > /dev/null; }

strata model --help
fact "help has an example" prints 0 "strata model upcycle llama experts"
strata model upcycle "$model" e --experts 4 --active 2 --dry-run
fact "a dry run says what is made of what" prints 0 "experts.3.w2.weight  <-  model.layers.0.mlp.down_proj.weight"
fact "a dry run writes nothing" nothing e
strata model upcycle "$model" e --experts 8 --active 4 --granularity 2 --check
fact "upcycling keeps the function" prints 0 "preserves the function"
fact "and proves it" prints 0 "same first choice 100.0 %"
strata logits --model e --tokens 1,2,3 --out logits.safetensors
fact "the model is one that others read" is 0
strata model upcycle "$model" e
fact "what is there stays" says 2 "e: is there"
strata model upcycle "$model" x --granularity 7
fact "a width that does not divide" says 2 "granularity=7"
strata model upscale "$model" up.gguf --to_layers 4 --json
fact "one JSON object" is_json
fact "with the layers" prints 0 '"layers_before":3,"layers_after":4'
strata model upscale "$model" zero --layers 0-2,2 --zero_repeats --check
fact "repeats that add zero" prints 0 "preserves the function"
echo "some words to learn, again and again: some words to learn, again and again" > text.txt
strata train train_files=text.txt base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=2 max_target_length=16 per_device_batch_size=2 steps=2 run_name=run base_output_directory=. eval_fraction=0.3
fact "a run of one's own" is 0
strata model upcycle run own --experts 4 --active 2 --granularity 2 --check
fact "is a model like others" prints 0 "preserves the function"
strata train --init own train_files=text.txt max_target_length=16 per_device_batch_size=2 steps=2 run_name=on base_output_directory=. eval_fraction=0.3
fact "that training goes on from" is 0
strata train --init own train_files=text.txt steps=2 num_experts=32
fact "experts come with the model" says 2 "num_experts=32: a key of MaxText's own command lines, in which there is no --init; experts come with the model"
strata train train_files=text.txt steps=2 num_experts=32
fact "also without one" says 2 "in which there is no train_files; experts come with"
strata convert run dense
strata train --init dense train_files=text.txt max_target_length=16 steps=2 load_balance_loss_weight=0.1
fact "nothing to balance" says 2 "load_balance_loss_weight=0.1: the model has no experts; \`strata model upcycle\` makes one that has"
strata model routes own --files text.txt --rows 2 --length 16
fact "which experts serve which text" prints 0 "layer  expert"
strata model routes on --files text.txt --rows 2 --length 16
fact "of a run too" prints 0 "layer  expert"
strata train train_files=text.txt tokenizer_type=sentencepiece tokenizer_path="$root/strata/tokenizer/testdata/bpe.model" \
  vocab_size=1000 base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=2 \
  max_target_length=16 per_device_batch_size=1 steps=1 run_name=pieces base_output_directory=. eval_fraction=0
fact "a run with a SentencePiece tokenizer" is 0
strata convert pieces/checkpoints/1 words
fact "becomes a directory with the tokenizer" test -s words/tokenizer.json -a -s words/tokenizer.model -a -s words/tokenizer_config.json
strata model upcycle words many --experts 4 --active 2
strata model routes many --files text.txt --rows 2 --length 16
fact "of which routes are told" prints 0 "layer  expert"
strata evaluate --model words --perplexity text.txt --context 16
fact "which evaluates texts" is 0
strata decode configs/base.yml load_parameters_path=words prompt=words max_target_length=68 run_name=w base_output_directory=.
fact "and decodes" prints 0 "words"
strata checkpoint convert run orbax/2 --to orbax
strata model upcycle orbax/2 from_orbax --experts 4 --active 2 --check --shard-bytes 4096
fact "Orbax's checkpoint of a run" prints 0 "preserves the function"
fact "in several files" test -f from_orbax/model.safetensors.index.json
strata model slice "$model" maxtext/0 --layers 0-2 --format maxtext
strata model upcycle maxtext/0 from_maxtext --experts 4 --active 2 --config "$model" --check
fact "MaxText's checkpoint" prints 0 "preserves the function"
strata model upcycle maxtext/0 nothing --experts 4 --active 2
fact "which does not say what model it is" says 2 "--config"
strata model routes "$model" --files text.txt
fact "models without a tokenizer say so" is 2
strata model prune "$model" p --drop_layers 1 --mlp_width 16
fact "pruning" prints 0 "layers 3 -> 2"
strata model slice "$model" s --layers 0,9
fact "layers that there are not" says 2 "there is no layer 9 of 3"
strata model slice "$model" s --layers 0,2
fact "slicing" prints 0 "layers 3 -> 2"
strata model upscale "$model" b --layers 2,1,0
strata model merge m --models "$model" b --weights 0.75 0.25
fact "merging" prints 0 "wrote m/model.safetensors"
strata model merge n --models "$model" b --method ties
fact "ties need a base" says 2 "need a base"
strata model merge n --models "$model" b --method mean
fact "methods that there are not" says 2 "linear or slerp or task_arithmetic or ties"
told
