#!/bin/sh
# `strata embed`: vectors of texts, and what is refused.
#
#   strata/cli/embed_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"

model=$root/strata/engine/testdata/sentences

strata embed --help
fact "help has an example" prints 0 "Example:"
strata embed --model $model --text one --text 'A cat sat on the mat.' --json
fact "an object" prints 0 '"width":16,"vectors":[['
fact "numbers of tokens" prints 0 '"tokens":[3,'
strata embed --model $model --text one --text one --text 'Stocks fell.' --similarity
fact "equal texts are alike" prints 0 "1.0000  1.0000"
printf 'one\r\nA cat sat on the mat.\n' > lines.txt
strata embed --model $model lines.txt --out a.safetensors
fact "a file's lines" prints 0 '['
strata embed --model $model --text one --text 'A cat sat on the mat.' --threads 3 --out b.safetensors
fact "the same bytes as of --text, on any number of threads" cmp -s a.safetensors b.safetensors
strata embed --model $model
fact "no text" says 2 "there are no texts: give --text, or a FILE"
strata embed --model $model nothing.txt
fact "a file that is not there" says 2 "nothing.txt"
strata embed --model $model --text one --normalize maybe
fact "a word that is none" says 2 "maybe"
strata embed --model $root/strata/model/testdata/published/llama --text one
fact "a model that is no encoder" says 2 "llama is no encoder"
strata embed --model $root/strata/model/testdata/published/bert --text one
fact "a model without tokenizer" says 2 "there is neither tokenizer.json nor vocab.json with merges.txt"
told
