#!/bin/sh
# `strata logits`: published models in both packagings, and what is refused.
#
#   strata/cli/logits_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"

models=$root/strata/model/testdata/published
files=$root/strata/model/testdata/published_gguf

strata logits --help
fact "help has an example" prints 0 "Example:"
strata logits --model $models/llama --tokens 5,6,7 --out a.safetensors --json
fact "a directory's logits" prints 0 '"shapes":{"logits":[3,48]}'
strata logits --model $files/llama.gguf --tokens 5,6,7 --out b.safetensors --json
fact "a GGUF file's" prints 0 '"logsumexp"'
fact "both are the same bytes" cmp -s a.safetensors b.safetensors
strata logits --model $models/llama --tokens 5,6,7 --threads 3 --out b.safetensors
fact "on any number of threads" cmp -s a.safetensors b.safetensors
strata logits --model $models/bert --tokens 5,6,7 --json
fact "an encoder's vectors" prints 0 '"hidden":[3,16],"vector":[16]'
strata logits --model $models/llama --tokens 5,x
fact "tokens are numbers" says 2 "allowed are numbers from 0 to 47"
strata logits --model $models/llama --tokens 48
fact "tokens of the vocabulary" says 2 "allowed are numbers from 0 to 47"
strata logits --model nothing --tokens 1
fact "a folder that is not there" says 2 "nothing: there is no such file or folder"
mkdir empty
strata logits --model empty --tokens 1
fact "a folder that is no model" says 2 "empty: no model: a Hugging Face directory has a config.json"
cp -r $models/llama changed && chmod -R u+w changed
sed -i 's/"model_type": "llama"/"model_type": "lama"/' changed/config.json
strata logits --model changed --tokens 1
fact "a family that is not there" says 2 "did you mean 'llama'"
told
