#!/bin/sh
# `strata train --init` as a person meets it: a published model tuned on chats, and what is refused.
#
#   strata/cli/tune_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"
model=$root/strata/train/testdata/tuning

strata train --help
fact "help has an example" prints 0 "strata train --init SmolLM2.gguf train_files=chats.jsonl"
cat > keys.yml <<KEYS
train_files: [$model/chats.jsonl]
train_data_columns: messages
max_target_length: 96
per_device_batch_size: 2
eval_fraction: 0.1
learning_rate: 1e-2
KEYS
strata train --init "$model" keys.yml steps=40 run_name=mine
fact "the loss on what was kept, before and after" prints 0 "held-out loss 6."
fact "and where the model is" prints 0 "model: runs/mine/model"
strata train --init "$model" keys.yml steps=40 run_name=mine --json
fact "as JSON too" prints 0 '"held_out_before":6.'
strata generate --model runs/mine --prompt "The sky is" --temperature 0 --max_tokens 3
fact "the run is a model" prints 0 "The sky is"
strata convert runs/mine mine.gguf
fact "and becomes a GGUF file" prints 0 "wrote mine.gguf"
strata data where runs/mine/config.yml --step 3 --json
fact "the conversations of a step are named, token by token" python3 -c "
import json
rows = json.load(open('out'))['rows']
pieces = [p for r in rows for p in r['pieces']]
lines = sum(1 for line in open('$model/chats.jsonl') if line.strip())
assert len(rows) == 2 and pieces
assert all(p['file'] == '$model/chats.jsonl' and 0 <= p['record'] < lines for p in pieces)
assert all(len(p['bytes']) == p['count'] + 1 and p['bytes'] == sorted(p['bytes']) for p in pieces)
assert all(a['first'] + a['count'] == b['first'] for r in rows for a, b in zip(r['pieces'], r['pieces'][1:]))"
strata train runs/mine/config.yml steps=42
fact "its configuration goes on" prints 0 "done: step 42 of 42"
strata train --init "$model" keys.yml base_emb_dim=64
fact "sizes that contradict are refused" says 2 "has hidden_size = 32"
strata train keys.yml
fact "chats need a model" says 2 "conversations need a model"
echo '{"messages": 1}' > bad.jsonl
strata train --init "$model" keys.yml train_files=bad.jsonl
fact "a damaged line is named" says 2 "bad.jsonl:1: no list of messages"
strata train --init nowhere keys.yml
fact "a model that is not there is named" says 2 "nowhere: there is no such file or folder"

told
