#!/bin/bash
# make demo: builds the `strata` command, prepares three real texts from Debian packages, trains a tokenizer and a small Llama on
# them for about five minutes, says how well it predicts and writes each kind of text, and where everything is. A second run does
# only what is missing: the same training goes on where it stopped, a finished one is only evaluated again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}
strata=$build/bin/strata
config=configs/demo.yml
folder=build/demo        # the configuration names it
run=$folder/demo
tokenizer=$folder/tokenizer.model
mkdir -p "$folder"

step() { printf '\n== %s\n' "$1"; }

step "building $strata"
STRATA_BUILD=$build scripts/build.sh strata_program

step "texts"
scripts/prepare_corpora.sh "$folder/text"

step "tokenizer of 8192 tokens"
if [ ! -f "$tokenizer" ]; then
  "$strata" data train-tokenizer --files "$folder/text/kjv/*.txt;$folder/text/python/**/*.py;$folder/text/metamath/*.mm" --vocab_size 8192 --output "$tokenizer"
fi
"$strata" data describe "$config"

step "training with $config"
"$strata" train "$config"

step "the losses"
"$strata" plot "$run"

step "on text that was kept from it, and what it writes"
"$strata" evaluate --checkpoint "$run" --samples 20 --show 1

cat <<END

checkpoint     $run/checkpoints (the newest number)
curve          $run/loss.png
metrics        $run/metrics/metrics.jsonl, and for TensorBoard $run/tensorboard
configuration  $run/config.yml
texts          $folder/text, tokenizer $tokenizer

train on       $strata train $config steps=1080
another run    $strata train $config run_name=mine learning_rate=1e-3 train_files='my/*.txt'
write          $strata generate --checkpoint $run --prompt "And the LORD said unto"
END
