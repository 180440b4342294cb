#!/bin/sh
# `strata checkpoint` as a person meets it, and what becomes of runs in bad worlds: damaged and foreign checkpoints, other models,
# newer formats, disks that are full or may not be written. Each ends with a message and 1 or 2, and nothing is overwritten.
#
#   strata/cli/checkpoint_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"
faults=$bin/../lib/libstrata_faults.so
trap 'umount -q "$folder/disk" 2> /dev/null; rm -rf "$folder"' EXIT

i=0
while [ $i -lt 300 ]; do
  echo "Verse $i of a little book, where $((i * i % 97)) follows $((i % 13))."
  i=$((i + 1))
done > text.txt
model="base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 max_target_length=16 per_device_batch_size=2"
tiny="train_files=text.txt base_output_directory=. $model steps=6 checkpoint_period=2"

is_json() { is "$1" && python3 -m json.tool out > /dev/null; }
# A copy of the run to be hurt.
copy() { rm -rf "$1" && cp -r run "$1"; }
flip() { # FILE OFFSET: changes a byte
  printf '\132' | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
}
unchanged() { diff -r -x lock "$1" "$2" > out; }

for command in "" list show verify diff; do
  strata checkpoint $command --help
  fact "help of 'checkpoint $command' has an example" prints 0 "Example:"
done
strata checkpoint
fact "no subcommand" is 2
strata checkpoint diff one
fact "diff of one" is 2
for command in list show verify; do
  strata checkpoint $command absent
  fact "$command of nothing" says 2 "absent: no "
done
strata checkpoint diff absent absent
fact "diff of nothing" says 2 "absent: no checkpoint there"

strata train $tiny run_name=run
fact "a run" is 0
strata checkpoint list run
fact "list shows steps" [ "$(grep -c whole out)" -eq 3 ]
strata checkpoint list run --json
fact "list is JSON" is_json 0
fact "with the loss of each" [ "$(grep -o '"loss":[0-9]' out | wc -l)" -eq 3 ]
strata checkpoint show run
fact "show has tensors with their types" prints 0 "tensor<256x16xf32>"
fact "and the configuration" prints 0 "  base_emb_dim: 16"
fact "and the state of the data" prints 0 "  step: 6"
strata checkpoint show run/checkpoints/4 --json
fact "show is JSON" is_json 0
fact "of the step that was asked for" prints 0 '"step":4'
strata checkpoint verify run
fact "verify reads all of a run" [ "$(grep -c ": whole" out)" -eq 3 ]
strata checkpoint diff run run/checkpoints/6
fact "the same is the same" prints 0 "same: "
strata checkpoint diff run/checkpoints/4 run/checkpoints/6
fact "other steps differ" prints 1 "params:decoder_norm"
fact "and have read other batches" prints 1 "data/step: 4 and 6"
strata checkpoint diff run/checkpoints/4 run/checkpoints/6 --json
fact "diff is JSON" is_json 1
strata train $tiny run_name=again async_checkpointing=false
strata checkpoint diff run again
fact "another run of the same has the same bits" is 0
strata train $tiny run_name=seed init_weights_seed=1
strata checkpoint diff run seed
fact "another seed has not" prints 1 "different: "
strata train $tiny run_name=wide base_mlp_dim=32
strata checkpoint diff run wide
fact "another model has other types" prints 1 "tensor<1x24x16xf32> and tensor<1x32x16xf32>"

# What would be lost is refused.
echo words > letter.txt
cp -r run/checkpoints steps.before
strata checkpoint convert run steps.orbax --to orbax
fact "convert to Orbax" is 0
strata checkpoint convert run steps.orbax --to orbax
fact "over a checkpoint" is 0
for target in run run/checkpoints letter.txt .; do
  strata checkpoint convert again $target --to orbax
  fact "convert over $target is refused" says 2 "which the checkpoint would replace"
  strata checkpoint reshard steps.orbax $target --shards 2
  fact "reshard over $target is refused" says 2 "which the checkpoint would replace"
  strata checkpoint materialize --step 5 run $target --to orbax
  fact "materialize over $target is refused" says 2 "which the checkpoint would replace"
done
fact "and all are as they were" unchanged run/checkpoints steps.before
strata checkpoint convert letter.txt x
fact "a file that is no checkpoint" says 2 "files of tensors end in .safetensors or .gguf"
mkdir nothing && strata checkpoint verify nothing
fact "a folder that is none" says 2 "no run's that has saved one"
strata checkpoint convert run state --to maxtext
fact "no whole state for MaxText, but weights" says 2 "strata convert DIR OUT --format maxtext"
strata data where run --step 1
fact "a run where its configuration belongs" says 2 "run: is the folder of a run; its configuration is run/config.yml"
copy pruned
strata checkpoint prune pruned --newest 2 --dry-run
fact "prune says what it would remove" prints 0 "would remove pruned/checkpoints/2"
strata checkpoint prune pruned --newest 1 --every 4
fact "and removes" [ "$(ls pruned/checkpoints | tr '\n' ' ')" = "4 6 " ]
copy pruned
mkdir pruned/checkpoints/3
echo mine > pruned/checkpoints/3/mine
strata checkpoint prune pruned --newest 1
fact "a folder that is no checkpoint stays" says 0 "pruned/checkpoints/3: is no checkpoint; it stays"
fact "with what is in it" [ "$(cat pruned/checkpoints/3/mine)" = mine ]
copy pruned
flock -n pruned/lock "$bin/strata" checkpoint prune pruned --newest 1 > out 2> err
status=$?
fact "a run that trains is not pruned" says 2 "\`strata train\` is writing this run"
fact "and keeps all" [ "$(ls pruned/checkpoints | tr '\n' ' ')" = "2 4 6 " ]
strata checkpoint prune pruned/checkpoints/6 --newest 1
fact "one checkpoint is no run" says 2 "is one checkpoint; prune takes a run's folder"
strata checkpoint convert run/checkpoints/2 pruned/checkpoints/6 --to orbax
fact "a run's own steps are not replaced" says 2 "a run keeps its own checkpoints there"
strata checkpoint convert run pruned --to strata
fact "nor is a run's folder written into" says 2 "pruned: is the folder of a run"
strata checkpoint convert run ''
fact "an empty target is told" says 2 "TO is empty"
strata checkpoint convert run there --to safetensors
fact "files need their ending" says 2 "there: name a file that ends in .safetensors"
strata checkpoint convert run there.safetensors --shards 2
fact "an option of another format is refused" says 2 "--shards is of Orbax's formats alone"
copy pruned
flip pruned/checkpoints/6/params.safetensors 900
strata checkpoint prune pruned --newest 1
fact "a damaged one does not count" says 0 "damaged, stays and does not count: pruned/checkpoints/6/params.safetensors"
fact "so that a whole one stays" [ "$(ls pruned/checkpoints | tr '\n' ' ')" = "4 6 " ]
strata checkpoint verify pruned
fact "verify says how a step comes back" says 1 "strata checkpoint materialize --step 6 pruned OUT"
strata checkpoint materialize --step 6 pruned again6
fact "and so it does" prints 0 "again6/6: step 6 of pruned, 2 steps taken again, with the figures of the run's metrics"
strata checkpoint diff again6/6 run
fact "with the same bits" is 0
sed -i '/"step":6,/d; /"step":5,/s/"learning.lm_loss":/&1/' pruned/metrics/metrics.jsonl
strata checkpoint materialize --step 6 pruned never
fact "a step that is not that of the metrics is refused" says 2 "pruned: step 5 is not the one that its metrics tell of: learning/lm_loss is"
fact "and nothing is written" [ ! -e never ]
sed -i '/"step":5,/d' pruned/metrics/metrics.jsonl
strata checkpoint materialize --step 6 pruned again6 --json
fact "steps without a line are counted" prints 0 '"replayed":2,"unchecked":2'
for seconds in 0.01 0.02 0.04 0.08; do
  timeout -s KILL $seconds "$bin/strata" checkpoint convert run killed.orbax --to orbax > /dev/null 2>&1
done
strata checkpoint convert run killed.orbax --to orbax
fact "killed conversions leave what the next one replaces" [ "$(ls -d killed*)" = killed.orbax ]
strata checkpoint diff killed.orbax run
fact "whole" is 0

# Damage: what is wrong is named, the checkpoint before is used, the steps are done again.
recovers() { # RUN WORDS: training passes over the newest checkpoint, saying so, and ends with the same bits
  strata train $tiny run_name="$1"
  fact "$1: training says so" says 0 "damaged checkpoint passed over: ./$1/checkpoints/6$2"
  fact "$1: and goes on from the one before" says 0 "going on from ./$1/checkpoints/4"
  strata checkpoint diff run "$1"
  fact "$1: to the same bits" is 0
}
copy truncated
truncate -s 30000 truncated/checkpoints/6/params.safetensors
strata checkpoint verify truncated
fact "truncated: file and tensor are named" prints 1 "/6/params.safetensors: 30000 bytes, the manifest says 41584, cut in tensor 'token_embedder'"
strata checkpoint list truncated
fact "truncated: the list shows it" prints 0 "damaged: truncated/checkpoints/6/params.safetensors"
strata generate --checkpoint truncated --max_tokens 3
fact "truncated: generate falls back and says so" says 0 "damaged checkpoint passed over: truncated/checkpoints/6/params.safetensors: 30000"
recovers truncated "/params.safetensors: 30000 bytes"
copy flipped
flip flipped/checkpoints/6/optimizer.safetensors 50000
strata checkpoint verify flipped/checkpoints/6
fact "flipped: file and tensor are named" prints 1 "/6/optimizer.safetensors: tensor '[0].nu"
recovers flipped "/optimizer.safetensors: tensor '[0].nu"
copy header
flip header/checkpoints/6/params.safetensors 20
recovers header "/params.safetensors: "
copy manifest
flip manifest/checkpoints/6/manifest.json 40
recovers manifest "/manifest.json: the manifest does not match its checksum"
copy missing
rm missing/checkpoints/6/optimizer.safetensors
recovers missing "/optimizer.safetensors: the file is missing"
copy foreign
cp text.txt foreign/checkpoints/6/params.safetensors
recovers foreign "/params.safetensors: "
copy empty
rm empty/checkpoints/6/*
recovers empty "/manifest.json: cannot open"
copy file
rm -r file/checkpoints/6
echo "not a folder" > file/checkpoints/6
recovers file "/manifest.json: cannot open"
copy strange
mkdir strange/checkpoints/notes strange/checkpoints/007
echo kept > strange/checkpoints/notes/a
strata train $tiny run_name=strange
fact "other folders beside are left alone" [ "$(cat strange/checkpoints/notes/a)" = kept ]

# Nothing whole: nothing is overwritten.
copy hopeless
for step in 2 4 6; do truncate -s 100 hopeless/checkpoints/$step/manifest.json; done
cp -r hopeless hopeless.before
strata train $tiny run_name=hopeless
fact "nothing whole: refused" says 2 "no checkpoint is whole"
fact "nothing whole: nothing is overwritten" unchanged hopeless hopeless.before
strata generate --checkpoint hopeless --max_tokens 3
fact "nothing whole: generate says so" says 2 "manifest.json"
strata checkpoint show hopeless
fact "nothing whole: show says so" says 2 "no checkpoint is whole"

copy other
cp -r other other.before
strata train $tiny run_name=other base_emb_dim=32
fact "another model: refused by its key" says 2 "base_emb_dim=32 (the checkpoint has 16)"
fact "another model: nothing is overwritten" unchanged other other.before

# A manifest of a newer format, with a true checksum.
copy newer
python3 - << 'END'
path = "newer/checkpoints/6/manifest.json"
body = open(path).read().replace('"format": 1', '"format": 3').rsplit(",\n", 1)[0]
crc = 0xFFFFFFFF
for byte in body.encode():
    crc ^= byte
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
open(path, "w").write(body + ',\n "crc32c": "%08x"\n}\n' % (crc ^ 0xFFFFFFFF))
END
cp -r newer newer.before
for command in "train $tiny run_name=newer" "generate --checkpoint newer" "evaluate --checkpoint newer" "checkpoint show newer"; do
  strata $command
  fact "newer format: refused by ${command%% *}" says 2 "format 3 is newer than this Strata knows (2)"
done
strata checkpoint list newer
fact "newer format: the list shows it" prints 0 "format 3 is newer"
fact "newer format: nothing is overwritten" unchanged newer newer.before

# Disks. Without the right to mount one, a preloaded library stands for it.
disk() { # SIZE
  mkdir -p disk && mount -t tmpfs -o "size=$1" none disk 2> /dev/null
}
failing() { # RUN ERROR ARGUMENTS...: training on a disk that fails from the first operation below RUN/checkpoints on
  run=$1
  error=$2
  shift 2
  LD_PRELOAD=$faults FAULTS_UNDER=$folder/$run/checkpoints FAULTS_AT=1 FAULTS_FROM=1 FAULTS_DO=$error "$bin/strata" train $tiny run_name="$run" "$@" > out 2> err
  status=$?
}
copy full
failing full ENOSPC steps=9
fact "a full disk: said" says 1 "No space left on device"
fact "a full disk: the old ones are whole" unchanged full/checkpoints run/checkpoints
strata train $tiny run_name=full steps=9
fact "a full disk: goes on when there is room" prints 0 "done: step 9 of 9"
copy readonly
failing readonly EROFS steps=9
fact "a read-only folder: said" says 1 "Read-only file system"
fact "a read-only folder: nothing is lost" unchanged readonly/checkpoints run/checkpoints
if disk 700k; then
  cp -r run disk/run
  dd if=/dev/zero of=disk/filler bs=1k 2> /dev/null
  rm -f disk/run/lock
  truncate -s -60k disk/filler
  cp -r disk/run/checkpoints checkpoints.before
  strata train $tiny run_name=run base_output_directory=disk steps=9
  fact "a disk that fills up: said" says 1 "No space left on device"
  fact "a disk that fills up: the old ones are whole" unchanged disk/run/checkpoints checkpoints.before
  for to in orbax strata safetensors; do
    strata checkpoint convert run disk/out.$to --to $to
    fact "a disk that is full: convert --to $to says so" says 1 "No space left on device"
  done
  strata checkpoint reshard steps.orbax disk/out.orbax --shards 2
  fact "a disk that is full: reshard says so" says 1 "No space left on device"
  fact "a disk that is full: nothing is left of them" [ -z "$(find disk -name 'out*' -type f; find disk -name '*tmp')" ]
  rm disk/filler
  strata train $tiny run_name=run base_output_directory=disk steps=9
  fact "a disk that fills up: goes on when there is room" prints 0 "done: step 9 of 9"
  mount -o remount,ro disk
  strata train $tiny run_name=run base_output_directory=disk steps=12
  fact "a read-only disk: said" says 1 "Read-only file system"
  strata checkpoint verify disk/run
  fact "a read-only disk: can be read" is 0
  umount disk
fi

told
