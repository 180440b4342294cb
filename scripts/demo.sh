#!/bin/bash
# make demo: builds the `strata` command, takes the King James Bible from its Debian package, trains a small Llama on it
# for about three minutes and lets it write. A second run goes on where the first ended.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}
folder=build/demo
config=configs/demo_kjv.yml
mkdir -p "$folder"

STRATA_BUILD=$build scripts/build.sh strata_program
scripts/prepare_corpora.sh "$folder/text"

"$build/bin/strata" train "$config"

run=$folder/demo_kjv
for prompt in "In the beginning" "And the LORD said unto"; do
  echo
  "$build/bin/strata" generate --checkpoint "$run" --prompt "$prompt" --max_tokens 400 --temperature 0.7
done
cat <<END

text        $folder/text/kjv/kjv.txt
run         $run (checkpoints, metrics, configuration)
settings    $config: train otherwise with \`$build/bin/strata train $config steps=2000\`
write more  $build/bin/strata generate --checkpoint $run --prompt "And it came to pass"
END
