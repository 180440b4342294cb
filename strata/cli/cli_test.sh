#!/bin/sh
# The `strata` command as a person meets it: exit statuses, messages, Ctrl-C, kill -9, resuming.
#
#   strata/cli/cli_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/facts.sh"

i=0
while [ $i -lt 600 ]; do
  echo "Verse $i of a little book, where $((i * i % 97)) follows $((i % 13))."
  i=$((i + 1))
done > text.txt
: > empty.txt
printf 'some\000bytes' > binary.txt

# A model of a few thousand weights.
model="base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 max_target_length=16 per_device_batch_size=2"
tiny="train_files=text.txt base_output_directory=. $model"

# Steps and losses, without times.
losses() { sed 's/,"perf.*//' "$1/metrics/metrics.jsonl"; }
same_losses() { [ "$(losses "$1")" = "$(losses "$2")" ]; }
same_weights() { cmp -s "$1/checkpoints/$3/params.safetensors" "$2/checkpoints/$3/params.safetensors" && cmp -s "$1/checkpoints/$3/optimizer.safetensors" "$2/checkpoints/$3/optimizer.safetensors"; }

for command in "" train evaluate plot generate logits compile info; do
  strata $command --help
  fact "help of '$command' has an example" prints 0 "Example:"
done
strata train --help
fact "help lists every key" prints 0 "gradient_clipping_threshold = 1.0"
strata
fact "no subcommand" is 2
strata tarin
fact "unknown subcommand" is 2
strata info --json
fact "info is JSON with the LLVM version" prints 0 '"llvm":"19'
strata train $tiny --print-config
fact "print-config" prints 0 "base_emb_dim: 16"

strata train --print-config steps=7
fact "print-config without data" prints 0 "steps: 7"
strata train --print-config base_num_kv_heads=5
fact "which is checked all the same" says 2 "base_num_kv_heads=5"
version=$(sed -n 's/^project(strata VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for program in strata strata-run strata-opt strata-conformance strata-ops; do
  "$bin/$program" --version > out 2> err
  status=$?
  fact "version of $program" prints 0 "$program $version"
done
strata info
fact "and of info" prints 0 "$version"

strata generate --promt x --checkpoint run
fact "unknown option names the nearest" says 2 "unknown option '--promt'; did you mean '--prompt'?"
strata generate --chekpoint run
fact "also where another is missing" says 2 "unknown option '--chekpoint'; did you mean '--checkpoint'?"
"$bin/strata-opt" --passes=ces absent.mlir > out 2> err
status=$?
fact "unknown pass" says 2 "no pass 'ces'; did you mean 'cse'?"
strata checkpoint lst run
fact "unknown verb" says 2 "unknown subcommand 'lst'; did you mean 'list'?"
strata train --steps 3
fact "a key as an option" says 2 "unknown option '--steps'; keys are given without dashes: steps=VALUE"
strata train --lr=3
fact "another's key as an option" says 2 "unknown option '--lr'; did you mean 'learning_rate'?"
for pair in lr=learning_rate optimizer=opt_type batch_size=per_device_batch_size seq_len=max_target_length seed=init_weights_seed; do
  strata train $tiny ${pair%=*}=1
  fact "${pair%=*} is called ${pair#*=}" says 2 "unknown key '${pair%=*}'; did you mean '${pair#*=}'?"
done
strata train $tiny stesp=3
fact "unknown key names the nearest" says 2 "unknown key 'stesp'; did you mean 'steps'?"
strata train $tiny steps=three
fact "mistyped value says what is allowed" says 2 "steps=three: allowed is an integer from 1 to 1000000000"
strata train $tiny per_device_batch_size=2.5
fact "a batch that does not divide into sequences" says 2 "per_device_batch_size=2.5: allowed is an integer"
strata train $tiny lr_pieces='linear 0 over 5'
fact "a schedule that is none" says 2 "lr_pieces"
strata train absent.yml
fact "missing configuration" says 2 "absent.yml: cannot open"
strata train $model
fact "no text" says 2 "train_files is not set"
strata train $tiny train_files=absent.txt
fact "missing text" says 2 "absent.txt: cannot open"
strata train $tiny train_files=empty.txt
fact "empty text" says 2 "empty.txt: the file is empty"
strata train $tiny train_files=binary.txt
fact "binary text" says 2 "binary.txt: not a text file: byte 4 of 10 is NUL"

strata train $tiny run_name=whole steps=12 checkpoint_period=4
fact "trains" prints 0 "done: step 12 of 12"
fact "lines as MaxText's" grep -qE "^completed step: 10, seconds: [0-9.]+, TFLOP/s/device: [0-9.]+, Tokens/s/device: [0-9.]+, total_weights: 32, loss: [0-9.]+, lm_loss: [0-9.]+, perplexity: [0-9.]+$" err
strata generate --checkpoint whole --prompt Verse --max_tokens 20 --seed 1
fact "generates from a run" prints 0 "Verse"
mv out first
strata generate --checkpoint whole --prompt Verse --max_tokens 20 --seed 1 --threads 3 --stats
fact "the same seed, the same text, on any number of threads" cmp -s out first
fact "and its speed on stderr" says 0 "tokens/s drawn"
printf Verse > prompt.txt
strata generate --checkpoint whole --prompt - --max_tokens 20 --seed 1 < prompt.txt
fact "the prompt from stdin" cmp -s out first
strata generate --checkpoint whole --prompt Verse --max_tokens 60 --seed 1 --top_k 20 --top_p 0.9 --stop e --stop zzz
fact "a stop string ends the text and is left out" [ "$(tail -c +6 out | tr -d '\n' | grep -c e)" -eq 0 ]
strata generate --checkpoint whole --prompt Verse --max_tokens 8 --seed 3 --num_samples 2
fact "several samples, each with its seed" prints 0 "--- sample 2 of 2, seed 4"
strata generate --checkpoint whole --prompt Verse --max_tokens 8 --seed 3 --num_samples 2 --json
fact "as JSON" prints 0 '"samples":[{"text":"'
fact "in one line" [ "$(wc -l < out)" -eq 1 ]
strata generate --checkpoint whole --prompt Verse --prompt "" --max_tokens 20 --seed 1
fact "several prompts" prints 0 "--- prompt 2 of 2"
fact "the first of which is what it is alone" [ "$(sed 1d out | head -c "$(($(wc -c < first) - 1))")" = "$(cat first)" ]
strata generate --checkpoint whole --prompt Verse --prompt Other --max_tokens 8 --min_p 0.1 --json
fact "as JSON, a line for each" [ "$(wc -l < out)" -eq 2 ]
strata generate --checkpoint whole --max_tokens 70 --ignore_eos
fact "longer than the model's window" is 0
strata generate --checkpoint whole --top_p 2
fact "a probability above 1" is 2
strata evaluate --checkpoint whole --samples 3 --max_tokens 8
fact "evaluates a run, source by source" prints 0 "nats/token"
fact "and judges its samples" grep -q "of 3 samples are given to the source of their prompt" out
python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$bin/strata" evaluate --checkpoint whole --samples 200 --max_tokens 60 > out 2> err < /dev/null
status=$?
fact "on a terminal it counts them" is 0
fact "as they are written" grep -q "writing sample [0-9]* of 200" out
strata evaluate --checkpoint whole --json
fact "as JSON too" prints 0 '"below_unigram":'
rm whole/loss.png
strata plot whole
fact "draws a run" prints 0 "train"
fact "also as a picture" [ -s whole/loss.png ]
strata plot first=whole whole/metrics/metrics.jsonl --png both.png
fact "draws several runs in one picture" prints 0 "1 first "
fact "which is where it was to go" [ -s both.png ]
strata plot whole --metric learning/grad_norm
fact "or a metric of one" prints 0 "learning/grad_norm (learning/grad_norm)"
strata plot whole --metric learning/los
fact "a metric that there is not" says 2 "whole has no learning/los from step 0 on; its "
echo '{"step": 1}' > pointless.jsonl
: > nothing.jsonl
strata train $tiny opt_type=lion optimizer.b2=0.9 optimizer.groups='[{match: "*norm*", frozen: true}]' --print-config
fact "what nests is printed" prints 0 '"groups": [{"match":"*norm*","frozen":true}]'
strata train $tiny opt_type=adamww
fact "an optimizer that is none" says 2 "opt_type=adamww: allowed is "
strata train $tiny opt_type=sgd optimizer.b1=0.9
fact "an option of another optimizer" says 2 "optimizer.b1=0.9: opt_type=sgd has no option 'b1'; allowed is "
strata train $tiny optimizer.groups='[{match: "*bias", frozen: true}]'
fact "a group without weights" says 2 'optimizer.groups.0.match=["*bias"]: it matches no weight; allowed is '
strata train $tiny lr_schedule_type=exponential_decay
fact "a schedule without its options" says 2 "lr_schedule_type=exponential_decay: it needs lr_schedule.init_value, "
strata train $tiny run_name=muon opt_type=muon steps=2 lr_schedule_type=warmup_constant_schedule lr_schedule.init_value=0 lr_schedule.peak_value=1e-3 lr_schedule.warmup_steps=1
fact "any optimizer and schedule by name" prints 0 "done: step 2 of 2"
for file in pointless nothing; do
  strata plot $file.jsonl --png $file.png
  fact "a file without points is none to draw" says 2 "$file.jsonl: no losses to draw: none of its "
  fact "and nothing is drawn" [ ! -e $file.png ]
done
strata plot absent
fact "but none that is not there" says 2 "absent/metrics/metrics.jsonl: cannot open"
strata generate --checkpoint absent
fact "generate without a checkpoint" says 2 "absent: no checkpoint there"
strata train $tiny run_name=whole steps=12 base_emb_dim=32
fact "another model" says 2 "base_emb_dim=32 (the checkpoint has 16)"
strata train $tiny run_name=whole steps=16 weight_dtype=bfloat16
fact "weights of another type" says 2 "of another model: weight_dtype=\"bfloat16\" (the checkpoint has \"float32\")"
strata train $tiny run_name=whole steps=16 opt_type=sgd learning_rate=0.1
fact "another optimizer names both" says 2 "the run 'whole' has a checkpoint of step 12 of another optimizer: opt_type=\"sgd\" (the checkpoint has \"adamw\"); choose another run_name, or the same optimizer"
fact "and no other key" [ "$(grep -c learning_rate err)" -eq 0 ]
cp -r whole goes_on
strata train $tiny run_name=goes_on steps=13 learning_rate=2e-3 gradient_clipping_threshold=0.5 adam_b1=0.8 'adamw_mask=*norm*' dtype=bfloat16
fact "settings that need no other state change as one likes" prints 0 "done: step 13 of 13"

for threads in 1 3; do
  strata train $tiny run_name=threads$threads steps=12 checkpoint_period=4 --threads $threads
  fact "$threads threads: same bits" same_weights whole threads$threads 12
done

cp -r whole hurt
printf x | dd of=hurt/checkpoints/12/params.safetensors bs=1 seek=700 conv=notrunc 2> /dev/null
strata train $tiny run_name=hurt steps=12 checkpoint_period=4
fact "a damaged checkpoint is passed over" says 0 "damaged checkpoint passed over: ./hurt/checkpoints/12/params.safetensors"
fact "and the steps done again, same bits" same_weights whole hurt 12
fact "and the record is whole" same_losses whole hurt

# Long enough to be met in the middle.
long="steps=4000 checkpoint_period=500 log_period=1000"
meet() { # SIGNAL NAME: sends the signal once the run has recorded some steps and one of its checkpoints is whole
  "$bin/strata" train $tiny run_name="$2" $long > out 2> err &
  child=$!
  tries=0
  while { [ "$(wc -l < "$2/metrics/metrics.jsonl" 2> /dev/null || echo 0)" -lt 700 ] || ! ls "$2/checkpoints" 2> /dev/null | grep -q '^[0-9]*$'; } && [ $tries -lt 1200 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
  kill -"$1" $child
  wait $child
  status=$?
}
strata train $tiny run_name=unbroken $long
fact "the unbroken run" is 0
meet INT interrupted 2> /dev/null
fact "Ctrl-C ends with 130" prints 130 "the same command goes on from there"
fact "in the middle" [ "$(losses interrupted | wc -l)" -lt 4000 ]
strata train $tiny run_name=interrupted $long
fact "and goes on" says 0 "going on from"
fact "with the same bits" same_weights unbroken interrupted 4000
fact "and the same record" same_losses unbroken interrupted
# Ctrl-C again while the checkpoint is being saved, on a disk that waits for a word.
until_there() { # FILE [WORDS]: waits until the file is there, with the words in it
  tries=0
  while ! grep -qs -- "${2:-}" "$1" && [ $tries -lt 1200 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
}
meet_saving() { # NAME TIMES: Ctrl-C so many times, all but the first of them while the checkpoint waits for the disk
  rm -f go log
  LD_PRELOAD=$bin/../lib/libstrata_faults.so FAULTS_UNDER=$folder/$1/checkpoints FAULTS_AT=1 FAULTS_DO=wait FAULTS_UNTIL=$folder/go \
    FAULTS_LOG=$folder/log "$bin/strata" train $tiny run_name="$1" steps=100000 checkpoint_period=100000 > out 2> err &
  child=$!
  until_there "$1/metrics/metrics.jsonl" '"step":3'
  kill -INT $child
  until_there log 1
  kill -INT $child
  until_there err "interrupted again"
  [ "$2" -lt 3 ] || kill -INT $child
  [ "$2" -lt 3 ] && touch go
  wait $child
  status=$?
}
meet_saving again 2 2> /dev/null
fact "Ctrl-C again while saving waits for that, and says so" says 130 "interrupted again: the checkpoint is still being saved"
fact "and the checkpoint is there" prints 130 "checkpoint: ./again/checkpoints/"
strata checkpoint verify again
fact "and whole" is 0
meet_saving third 3 2> /dev/null
fact "a third Ctrl-C ends at once" is 130
fact "without it" [ -z "$(ls third/checkpoints 2> /dev/null | grep '^[0-9]*$')" ]
meet KILL killed 2> /dev/null
fact "kill -9 ends it" is 137
strata train $tiny run_name=killed $long
fact "it goes on from its checkpoint" says 0 "going on from ./killed/checkpoints/"
fact "with the same bits" same_weights unbroken killed 4000
fact "and the same record" same_losses unbroken killed

strata train $tiny run_name=wild steps=200 learning_rate=100 adam_weight_decay=100 gradient_clipping_threshold=0 warmup_steps_fraction=0
fact "a loss that is no number ends with 1 and the step" says 1 "at step"

# A disk that is full: a limit on the size of files, which every user may set (blocks of 512 bytes).
cp -r whole full
(ulimit -f 16; trap '' XFSZ; "$bin/strata" train $tiny run_name=full steps=16 checkpoint_period=4 > out 2> err)
status=$?
fact "a full disk ends with 1 and names the file" says 1 "safetensors: cannot write"
strata generate --checkpoint full --max_tokens 5
fact "and nothing is lost" is 0
strata train $tiny run_name=full steps=16 checkpoint_period=4
fact "and it goes on when there is room" prints 0 "done: step 16 of 16"

told
