#!/bin/sh
# `strata convert` as a person meets it: what it lists, what it writes, what it refuses.
#
#   strata/cli/convert_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"
model=$root/strata/model/testdata/published/qwen3

nothing() { [ ! -e "$1" ]; }
is_json() { is 0 && python3 -m json.tool out > /dev/null; }

strata convert --help
fact "help has an example" prints 0 "strata convert SmolLM2 SmolLM2.Q8_0.gguf --type Q8_0"
strata convert "$model" m.gguf --dry-run
fact "a dry run lists both sides" prints 0 "model.layers.0.self_attn.q_proj.weight"
fact "with the name there" prints 0 "blk.0.attn_q.weight"
fact "and says what is missing" prints 0 "note: there is no tokenizer.json"
fact "a dry run writes nothing" nothing m.gguf
strata convert "$model" m.gguf --json
fact "one JSON object" is_json
fact "with the formats" prints 0 '"from":"hugging_face","to":"gguf"'
strata convert m.gguf back
fact "back to a directory" prints 0 "wrote model.safetensors"
strata convert back again.gguf
fact "and to the same file" cmp m.gguf again.gguf
strata convert "$model" m.gguf
fact "what is there stays" says 2 "m.gguf: is there"
strata convert "$model" n.gguf --type Q7
fact "types by name" says 2 "does not write tensors of type 'Q7'; types: F32, F16, BF16, Q8_0"
fact "nothing is left of it" nothing n.gguf
strata convert nowhere n.gguf
fact "a source that is not there" says 2 "nowhere: there is no such file or folder"
head -c 3000 m.gguf > cut.gguf
strata convert cut.gguf cut
fact "a file that is cut" says 2 "cut.gguf: "
fact "of which nothing is made" nothing cut

strata convert --help
cat out > options
strata checkpoint convert --help
cat out >> options
for option in $(grep -rhoE --include='*.cc' -e "--[a-z][a-z-]+" "$root/strata/model/convert" \
    "$root/strata/model/maxtext" "$root/strata/cli/convert.cc" | sort -u); do
  fact "$option, which a message names, is there" grep -qF -e "$option" options
done
told
