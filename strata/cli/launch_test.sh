#!/bin/sh
# `strata launch` as a person meets it, with programs of the shell and with the tutorial's.
#
#   strata/cli/launch_test.sh BIN      BIN: the folder of the programs (default build/bin)
#
# Prints one line for each fact and ends with "N passed, N failed".
set -u
. "$(dirname "$0")/../../tests/facts.sh"
unset STRATA_NUM_PROCESSES STRATA_PROCESS_ID STRATA_COORDINATOR_ADDRESS STRATA_NUM_CPU_DEVICES STRATA_NUM_THREADS

strata launch -n 3 -- sh -c 'echo "$STRATA_PROCESS_ID of $STRATA_NUM_PROCESSES at ${STRATA_COORDINATOR_ADDRESS%:*}"'
sort out > sorted && mv sorted out
fact "each process hears which it is" prints 0 "[0] 0 of 3 at 127.0.0.1
[1] 1 of 3 at 127.0.0.1
[2] 2 of 3 at 127.0.0.1"
strata launch -n 1 --devices-per-process 4 sh -c 'echo "$STRATA_NUM_CPU_DEVICES $STRATA_NUM_THREADS" >&2'
fact "devices, threads; what goes to stderr stays there" says 0 "[0] 4 "
strata launch -n 2 --plain printf '%s\n' --help
fact "options behind the program are its own; output as it is" prints 0 "--help
--help"
strata launch -n 1 printf 'no end of line'
fact "a line without an end" prints 0 "[0] no end of line"
echo given | "$bin/strata" launch -n 2 cat > out 2> err
status=$?
fact "the first process reads what is given" prints 0 "[0] given"

begin=$(date +%s)
strata launch -n 3 sh -c '[ $STRATA_PROCESS_ID = 1 ] && exit 7; exec sleep 60'
fact "one that fails ends all, with its exit status" is 7
fact "and is named" says 7 "process 1 ended with exit status 7; the others are ended"
fact "soon" [ $(($(date +%s) - begin)) -lt 20 ]
strata launch -n 2 sh -c '[ $STRATA_PROCESS_ID = 1 ] && kill -9 $$; exec sleep 60'
fact "so does one that is killed" says 137 "process 1 was ended by signal 9"

"$bin/strata" launch -n 2 sh -c 'trap "echo asked; exit 5" TERM; echo ready; while :; do sleep 0.1; done' > out 2> err &
launcher=$!
while [ "$(grep -c ready out)" -lt 2 ]; do sleep 0.1; done
kill -TERM $launcher
wait $launcher
status=$?
fact "signals go to all" [ "$(grep -c asked out)" -eq 2 ]
fact "and what they end with is told" is 5

strata launch -n 2 nowhere/program
fact "a program that is none" says 2 "cannot start nowhere/program: No such file or directory"
strata launch sh
fact "how many is wanted" is 2
strata launch -n 0 sh
fact "at least one" is 2
strata launch --help
fact "help has examples" prints 0 "strata launch -n 4 -- ./train --steps 100"

"$bin/tutorial-25-processes" > out 2> err
status=$?
grep weights out > alone
fact "the tutorial by itself" prints 0 "process 0 of 1 has 4 of 4 devices"
for n in 2 4; do
  strata launch -n $n --devices-per-process $((4 / n)) --plain "$bin/tutorial-25-processes"
  grep weights out > several
  fact "in $n processes it has the same bits" cmp -s alone several
  fact "and each its own part" prints 0 "process 1 of $n has $((4 / n)) of 4 devices"
  fact "and says what is elsewhere" prints 0 "distributed::process_allgather(x) brings all of it here"
done
# As others start processes.
port=$((20000 + $$ % 20000))
for rank in 1 0; do
  env JAX_COORDINATOR_ADDRESS=127.0.0.1:$port JAX_NUM_PROCESSES=2 JAX_PROCESS_ID=$rank STRATA_NUM_CPU_DEVICES=2 "$bin/tutorial-25-processes" > out.$rank 2> err &
done
wait
grep weights out.0 > several
fact "by JAX's variables" cmp -s alone several
told
