#!/bin/sh
# `strata tokenize` as a person meets it.
#
#   strata/cli/tokenize_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
data=$(cd "$(dirname "$0")/../tokenizer/testdata" && pwd)
. "$(dirname "$0")/../../tests/facts.sh"

printf 'Hello, world!\n\nx  y\n' > lines
strata tokenize --model "$data/huggingface/smollm.json" < lines
fact "a list for each line" prints 0 "[376,12,301,1]"
fact "an empty one for an empty line" prints 0 "[]"
cp out lists
strata tokenize --model "$data/huggingface/smollm.json" --decode < lists
fact "and back" cmp -s out lines
mkdir model
cp "$data/huggingface/bert.json" model/tokenizer.json
printf '%s\n' 'Hello' > given
strata tokenize --model model --special < given
fact "a folder will do" is 0
fact "special tokens are put around" grep -q '^\[2,.*,3\]$' out
printf '%s\n' '"a\nb"' > given
strata tokenize --model "$data/bpe.model" --json < given
cp out lists
strata tokenize --model "$data/bpe.model" --json --decode < lists
fact "a JSON text holds line ends" prints 0 '"a\nb"'

printf '%s\n' '[1, 999999]' > given
strata tokenize --model model --decode < given
fact "no token" says 2 "line 1: 999999 is no token"
printf '%s\n' 'a' > given
strata tokenize --model model --decode < given
fact "no list" says 2 "line 1 is no JSON list"
printf '%s\n' 'a' > given
strata tokenize --model model --json < given
fact "no JSON text" says 2 "line 1 is no JSON string"
strata tokenize --model nowhere < lines
fact "no model" grep -q "nowhere" err
head -c 1000 model/tokenizer.json > cut.json
strata tokenize --model cut.json < lines
fact "a damaged model" says 2 "cut.json: no JSON"
strata tokenize < lines
fact "no option" says 2 "--model"

told
