# Sourced by tests of commands, which take the folder of the programs as their argument: a line for each fact, on what the last
# command printed.
#
#   strata train steps=3            the command; its status, out and err are what facts are of
#   fact "it ends" is 0
#   fact "a wrong key" says 2 "unknown key"
#   told                            the last line of a test: "N passed, N failed", and its exit status
#
# Sets $bin (the folder of the programs) and goes to a new folder, $folder, that is removed at the end.
bin=$(cd "${1:-build/bin}" && pwd)
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0

fact() { # NAME CONDITION...
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    sed 's/^/        /' out err
  fi
}
strata() {
  "$bin/strata" "$@" > out 2> err
  status=$?
}
is() { [ "$status" -eq "$1" ]; }
says() { is "$1" && grep -qF -- "$2" err; }
prints() { is "$1" && grep -qF -- "$2" out; }
told() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

verses() { # prints 200 short lines, a text to train on
  verse=0
  while [ $verse -lt 200 ]; do
    echo "verse $((verse * verse % 97)) of a book."
    verse=$((verse + 1))
  done
}
