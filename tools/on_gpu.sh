#!/bin/bash
# The whole check of a device in one command, under ten minutes: conformance, steps beside JAX on the same card, training,
# generation, memory, 100 000 dispatches. Prints a table for docs/devices.md.
#
#   tools/on_gpu.sh [--device=cuda] [--bin=build/bin] [--python=build/peers/bin/python] [--out=build/on_gpu] [--quick]
#
# --device takes what the programs take: cuda, tpu, plugin:/path/x.so. --python needs jax with the same platform for the column
# beside JAX; without it that column is empty, and a line says so. --quick takes a tenth of the programs. The card itself is left
# as it is. What fails is counted; the exit status is 1 if anything did.
set -u
device=cuda bin=build/bin python=build/peers/bin/python out=build/on_gpu share=1
for option in "$@"; do
  case $option in
    --device=*) device=${option#*=} ;;
    --bin=*) bin=${option#*=} ;;
    --python=*) python=${option#*=} ;;
    --out=*) out=${option#*=} ;;
    --quick) share=10 ;;
    *) sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
bin=$(cd "$bin" && pwd) || exit 1
began=$(date +%s) failed=0
rows=$out/rows.md
: > "$rows"

row() {  # WHAT RESULT
  printf '| %s | %s |\n' "$1" "$2" >> "$rows"
  printf '%-44s %s\n' "$1" "$2" >&2
}
wrong() {  # WHAT LOG
  failed=$((failed + 1))
  local words
  words=$(tail -n 1 "$2" 2>/dev/null | cut -c 1-160)
  row "$1" "FAILED: ${words:-it said nothing; was its share of the ten minutes over?}"
}
left() {  # seconds until ten minutes are over, at least a few
  local s=$((590 - $(date +%s) + began))
  echo $((s > 5 ? s : 5))
}

# Several processes share the card: none takes three quarters of it at its start.
if [ "${device%%:*}" = cuda ]; then
  export STRATA_PLUGIN_OPTIONS=${STRATA_PLUGIN_OPTIONS-preallocate=false} XLA_PYTHON_CLIENT_PREALLOCATE=false
fi
if [ "$device" = cuda ] && command -v nvidia-smi > /dev/null; then
  card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
else
  card=$device
fi

# Whether the device is usable at all: the smallest program. Nothing else is tried where it is not.
small=conformance/jax/control/control_cond
if ! timeout "$(left)" "$bin/strata-run" $small.mlir --check=$small.safetensors --device="$device" > "$out/first.log" 2>&1; then
  wrong "a first program" "$out/first.log"
  cat "$out/first.log" >&2
  exit 1
fi

# Conformance: all of the folders, or each tenth by the hash of its name.
programs=$out/programs
rm -rf "$programs" && mkdir -p "$programs"
for folder in control lax library nn numpy program random scipy; do
  for program in conformance/jax/$folder/*.mlir; do
    number=$(printf %s "$program" | cksum | cut -d ' ' -f 1)
    [ $((number % share)) -eq 0 ] || continue
    for file in "$program" "${program%.mlir}.safetensors"; do [ -e "$file" ] && ln -s "$PWD/$file" "$programs/"; done
  done
done
STRATA_BACKEND=$device timeout $(($(left) / 2)) "$bin/strata-conformance" --mode=compiled --jobs=4 "$programs" > "$out/conformance.log" 2>&1
last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/conformance.log" | tail -n 1)
if [ -n "$last" ]; then row "programs of conformance/jax" "$last"; else wrong "programs of conformance/jax" "$out/conformance.log"; fi

# Steps of bench/programs.py beside JAX on the same device.
if [ -x "$python" ]; then
  STRATA_BUILD=$(dirname "$bin") timeout $(($(left) / 2)) "$python" tools/on_gpu_steps.py --device="$device" --out="$out/steps.md" > "$out/steps.log" 2>&1
  status=$?
  [ -s "$out/steps.md" ] && cat "$out/steps.md" >> "$rows" && cat "$out/steps.md" >&2
  [ $status -eq 0 ] || wrong "steps beside JAX" "$out/steps.log"
else
  row "steps beside JAX" "not tried: no $python"
fi

# A short training run, its losses falling.
text=$out/text.txt
cat README.md docs/*.md > "$text"
if timeout "$(left)" "$bin/strata" train --device="$device" train_files="$text" base_output_directory="$out" run_name="run$$" base_emb_dim=128 steps=60 \
  enable_checkpointing=true --json > "$out/train.log" 2> "$out/train.err"; then
  losses=$(grep -o '"learning/loss":[0-9.]*' "$out/run$$/metrics/metrics.jsonl" | cut -d : -f 2)
  first=$(head -n 1 <<< "$losses") end=$(tail -n 1 <<< "$losses")
  if awk -v a="$first" -v b="$end" 'BEGIN { exit !(b < a) }'; then row "60 steps of training, loss" "$first to $end"; else
    echo "the loss went from $first to $end" > "$out/train.err"; wrong "60 steps of training" "$out/train.err"; fi
else
  wrong "60 steps of training" "$out/train.err"
fi

# Generation from that run.
set -- --checkpoint "$out/run$$"
if timeout "$(left)" "$bin/strata" generate --device="$device" "$@" --prompt "The sea" --max_tokens 32 --json > "$out/generate.log" 2> "$out/generate.err"; then
  row "generation, tokens drawn" "$(grep -oE '"tokens": ?[0-9]+' "$out/generate.log" | grep -oE '[0-9]+')"
else
  wrong "generation" "$out/generate.err"
fi

# 100 000 calls: the value, what each took, what stayed behind.
if STRATA_BACKEND=$device timeout "$(left)" "$bin/device-dispatch" 100000 > "$out/dispatch.json" 2> "$out/dispatch.err"; then
  read -r ns value grown there < <(sed -E 's/.*"ns": ([0-9.]+), "value": ([0-9.]+), "resident_growth": (-?[0-9]+), "device_growth": (-?[0-9]+).*/\1 \2 \3 \4/' "$out/dispatch.json")
  row "100 000 calls of x + 1" "$ns ns each; the process grew by $grown bytes, the device by $there"
  if [ "$value" != 101000.0 ] || [ "$grown" -gt 16777216 ] || [ "$there" -gt 1048576 ]; then
    echo "they came to $value instead of 101000, or left memory behind" > "$out/dispatch.err"; wrong "100 000 calls" "$out/dispatch.err"
  fi
else
  wrong "100 000 calls" "$out/dispatch.err"
fi

{
  printf '\n| %s, %s | |\n|---|---|\n' "$(date +'%-d %B %Y')" "$card"
  cat "$rows"
  printf '| seconds in all | %s |\n' $(($(date +%s) - began))
} | tee "$out/table.md"
exit $((failed > 0))
