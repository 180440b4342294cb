#!/bin/sh
# `strata train` in several processes: the bits of one, checkpoints for any number, and what happens when one dies.
#
#   strata/cli/train_processes_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"
unset STRATA_NUM_PROCESSES STRATA_PROCESS_ID STRATA_COORDINATOR_ADDRESS STRATA_NUM_CPU_DEVICES STRATA_NUM_THREADS

verses > text.txt
keys="train_files=text.txt base_output_directory=. base_emb_dim=16 base_num_query_heads=4 base_num_kv_heads=4 head_dim=4
base_mlp_dim=32 base_num_decoder_layers=2 max_target_length=8 per_device_batch_size=1 learning_rate=1e-2
learning_rate_schedule_steps=20 steps=20 log_period=10 checkpoint_period=5 eval_interval=10 eval_steps=1"
# The losses of a run with all their digits.
losses() { sed 's/.*"step":\([0-9]*\).*"learning\/loss":\([^,]*\),.*/\1 \2/' "$1/metrics/metrics.jsonl" | grep -v '{'; }
evaluations() { grep -o '"step":.*"eval/total_weights":[0-9]*' "$1/metrics/metrics.jsonl"; }
# Whether the newest checkpoints of two runs hold the same bits.
same_weights() { cmp -s "$1/checkpoints/20/params.safetensors" "$2/checkpoints/20/params.safetensors"; }

STRATA_NUM_CPU_DEVICES=8 "$bin/strata" train $keys run_name=one ici_fsdp_parallelism=8 > out 2> err
status=$?
fact "eight devices of one process" prints 0 "done: step 20 of 20"
losses one > one.txt
fact "twenty losses" [ "$(wc -l < one.txt)" -eq 20 ]

strata launch -n 4 --devices-per-process 2 --plain -- "$bin/strata" train $keys run_name=four ici_fsdp_parallelism=8
fact "four processes of two" prints 0 "done: step 20 of 20"
fact "of which one speaks" [ "$(grep -c 'done: step' out)" -eq 1 ]
losses four > four.txt
fact "have the same losses, to the bit" cmp one.txt four.txt
fact "and the same weights" same_weights one four
# Files of their own to evaluate, on any number of processes.
evaluated="$keys steps=2 eval_interval=1 eval_steps=2 eval_files=text.txt ici_fsdp_parallelism=8"
STRATA_NUM_CPU_DEVICES=8 "$bin/strata" train $evaluated run_name=evaluated1 > out 2> err
evaluations evaluated1 > evaluated1.txt
fact "two evaluations" [ "$(wc -l < evaluated1.txt)" -eq 2 ]
strata launch -n 4 --devices-per-process 2 --plain -- "$bin/strata" train $evaluated run_name=evaluated4
evaluations evaluated4 > evaluated4.txt
fact "which four processes have too" cmp evaluated1.txt evaluated4.txt

# Of processes that are told of wrongly or in part, none trains by itself.
told_wrongly() { # PROCESS NUMBER: as whoever starts processes by hand would say it
  STRATA_COORDINATOR_ADDRESS=127.0.0.1:9 STRATA_NUM_PROCESSES=$2 STRATA_PROCESS_ID=$1 \
    "$bin/strata" train $keys run_name=alone > out 2> err
  status=$?
}
told_wrongly 2 2
fact "process 2 of 2 is none" says 2 "process 2 is none of 2 processes"
told_wrongly x 2
fact "nor is process x" says 2 'STRATA_PROCESS_ID is "x", not a whole number'
told_wrongly 0 ""
fact "a number that is missing is named" says 2 "the number of processes is not known"
fact "and nothing was trained" [ ! -e alone ]

# A run goes on in any number of processes and on another mesh: the same bits where both sum in one order.
for size in 2:4:10:fsdp 1:8:15:data 4:2:20:fsdp; do
  IFS=: read -r n each steps axis <<SIZE
$size
SIZE
  strata launch -n "$n" --devices-per-process "$each" --plain -- "$bin/strata" train $keys run_name=moved \
    "ici_${axis}_parallelism=8" steps="$steps"
  fact "to step $steps in $n, $axis of 8" is 0
done
losses moved > moved.txt
fact "moved between numbers of processes and meshes: the same losses" cmp one.txt moved.txt
fact "and weights" same_weights one moved
strata checkpoint diff one moved
fact "and moments and state of the data" is 0
# A mesh of two axes sums in another order; from one checkpoint it has the same bits in any number of processes.
for n in 1 2; do
  rm -rf "grid$n" && cp -r moved "grid$n" && rm -r "grid$n/checkpoints/15" "grid$n/checkpoints/20"
  strata launch -n "$n" --devices-per-process $((8 / n)) --plain -- "$bin/strata" train $keys "run_name=grid$n" ici_data_parallelism=4 ici_fsdp_parallelism=2
  fact "from step 10 on a mesh of 4 by 2 in $n" prints 0 "done: step 20 of 20"
done
strata checkpoint diff grid1 grid2
fact "the same bits" is 0

# Any step of a run in several processes is computed again by one.
cp -r four sparse
rm -r sparse/checkpoints/15 sparse/checkpoints/20
strata checkpoint materialize --step 15 sparse again15
fact "a step of four processes is computed again" prints 0 "step 15 of sparse"
strata checkpoint diff moved/checkpoints/15 again15/15
fact "to the bit" is 0
# So is one that the run took on another mesh than those before it.
cp -r grid2 sparse2 && rm -r sparse2/checkpoints
strata checkpoint materialize --step 15 sparse2 again15
fact "through a change of meshes" prints 0 "15 steps taken again, with the figures of the run's metrics"
strata checkpoint diff grid2/checkpoints/15 again15/15
fact "to the bit, too" is 0

# Frequent copies in each process's memory: who lost its own gets it from another, and a run goes on from them in any number of processes.
tiers="enable_emergency_checkpoint=true local_checkpoint_directory=$folder/memory local_checkpoint_period=2 checkpoint_period=1000"
strata launch -n 2 --devices-per-process 4 --plain -- "$bin/strata" train $keys $tiers run_name=tiers ici_fsdp_parallelism=8 steps=11
fact "each process keeps frequent copies" [ -d memory/tiers/0/10 -a -d memory/tiers/1/10 ]
rm -r tiers/checkpoints memory/tiers/1
strata launch -n 2 --devices-per-process 4 --plain -- "$bin/strata" train $keys $tiers run_name=tiers ici_fsdp_parallelism=8 steps=17
fact "one that lost its copy goes on with the others" says 0 "going on from $folder/memory/tiers/0/10"
fact "and keeps copies again" [ -d memory/tiers/1/16 ]
rm -r tiers/checkpoints
strata launch -n 4 --devices-per-process 2 --plain -- "$bin/strata" train $keys $tiers run_name=tiers ici_fsdp_parallelism=8
fact "two processes that lost nothing, and two new ones" says 0 "going on from $folder/memory/tiers/0/16"
losses tiers > tiers.txt
fact "with copies in memory: the same losses" cmp one.txt tiers.txt
fact "and weights" same_weights one tiers

# Stages in several processes.
stages="ici_pipeline_parallelism=2 ici_data_parallelism=2 num_pipeline_microbatches=2 steps=5"
STRATA_NUM_CPU_DEVICES=4 "$bin/strata" train $keys $stages run_name=stages > out 2> err
status=$?
fact "stages say how long they wait" says 0 "pipeline: 2 stages of 1 layer, 1 repeat, 2 microbatches; bubble 33.3 %"
strata launch -n 2 --devices-per-process 2 --plain -- "$bin/strata" train $keys $stages run_name=stages2
fact "stages in two processes" prints 0 "done: step 5 of 5"
losses stages > stages.txt
losses stages2 > stages2.txt
fact "have the bits of one" cmp stages.txt stages2.txt

# One is killed in the middle of a run.
"$bin/strata" launch -n 4 --devices-per-process 2 -- sh -c \
  "echo \$\$ > pid.\$STRATA_PROCESS_ID; exec '$bin/strata' train $(echo $keys) run_name=killed ici_fsdp_parallelism=8 steps=20000 learning_rate_schedule_steps=20" > out 2> err &
launcher=$!
while [ ! -d killed/checkpoints/10 ] && kill -0 $launcher 2> /dev/null; do sleep 0.02; done
kill -9 "$(cat pid.2)"
begin=$(date +%s%N)
wait $launcher
status=$?
took=$((($(date +%s%N) - begin) / 1000000))
fact "one that is killed ends the run" is 137
fact "within two seconds: $took ms" [ $took -lt 2000 ]
fact "the others say who it was" grep -q "^\[[013]\] strata: .*process 2 (pid $(cat pid.2) on .*) has died" err
# By hand, so that nobody ends the one that is left.
port=$((20000 + $$ % 20000))
STRATA_COORDINATOR_ADDRESS=127.0.0.1:$port STRATA_NUM_PROCESSES=2 STRATA_PROCESS_ID=1 "$bin/strata" train $keys \
  run_name=left ici_data_parallelism=2 steps=20000 learning_rate_schedule_steps=20 > /dev/null 2>&1 &
dies=$!
STRATA_COORDINATOR_ADDRESS=127.0.0.1:$port STRATA_NUM_PROCESSES=2 STRATA_PROCESS_ID=0 "$bin/strata" train $keys \
  run_name=left ici_data_parallelism=2 steps=20000 learning_rate_schedule_steps=20 > out 2> err &
stays=$!
while [ ! -d left/checkpoints/10 ] && kill -0 $stays 2> /dev/null; do sleep 0.02; done
kill -9 $dies
wait $stays
status=$?
wait $dies 2> /dev/null
fact "to the one that is left it is no mistake of its configuration" says 1 "process 1 (pid $dies on "
last=$(ls killed/checkpoints | grep -v tmp | sort -n | tail -1)
fact "what was saved is whole" "$bin/strata" checkpoint verify "killed/checkpoints/$last"
rm -rf again && cp -r killed again
for s in $(ls again/checkpoints); do [ "$s" = 10 ] || rm -rf "again/checkpoints/$s"; done
strata launch -n 4 --devices-per-process 2 --plain -- "$bin/strata" train $keys run_name=again ici_fsdp_parallelism=8
fact "the same command goes on" prints 0 "done: step 20 of 20"
losses again > again.txt
fact "with the same losses" cmp one.txt again.txt
fact "and weights" same_weights one again

strata launch -n 2 --devices-per-process 2 -- "$bin/strata" train $keys run_name=whole
fact "processes that share nothing are refused" says 2 "all ici_*_parallelism=1: that is 1 devices, and there are 4"
"$bin/strata" launch -n 2 --devices-per-process 1 --plain -- "$bin/strata" train $keys run_name=asked ici_data_parallelism=2 steps=200000 \
  learning_rate_schedule_steps=20 > out 2> err &
launcher=$!
while [ ! -d asked/checkpoints/10 ] && kill -0 $launcher 2> /dev/null; do sleep 0.02; done
kill -INT $launcher
wait $launcher
status=$?
fact "Ctrl-C ends all at one step, which is saved" prints 130 "interrupted: step"

if command -v mpirun > /dev/null && mpirun --version 2> /dev/null | grep -q "Open MPI"; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 4 --oversubscribe -x STRATA_NUM_CPU_DEVICES=2 \
    "$bin/strata" train $keys run_name=mpi ici_fsdp_parallelism=8 > out 2> err
  status=$?
  fact "by mpirun" prints 0 "done: step 20 of 20"
  losses mpi > mpi.txt
  fact "the same losses" cmp one.txt mpi.txt
fi
told
