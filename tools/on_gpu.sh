#!/bin/bash
# The whole check of a device in one command, under ten minutes: conformance, steps beside JAX on the same card, training,
# generation, memory, 100 000 dispatches. Prints a table for docs/devices.md.
#
#   tools/on_gpu.sh [--device=cuda] [--bin=build/bin] [--python=build/peers/bin/python] [--out=build/on_gpu] [--quick]
#
# --device takes what the programs take: cuda, tpu, plugin:/path/x.so. --python needs jax for the steps, and jax with the same
# platform for the column beside JAX (a plugin with a path is loaded into it). --quick takes a tenth of the programs, a few steps
# beside JAX, and a fifth of the training. The card itself is left as it is. What its share of the ten minutes did not suffice for,
# or what a part lacks, is a row of the table. What fails is counted; the exit status is 1 if anything did.
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
if ! timeout -k 5 "$(left)" "$bin/strata-run" $small.mlir --check=$small.safetensors --device="$device" > "$out/first.log" 2>&1; then
  wrong "a first program" "$out/first.log"
  cat "$out/first.log" >&2
  exit 1
fi

# Conformance: all of the folders, or each tenth by the hash of its name; a folder at a time, until their share of the time is over.
# Numbers are compared with those of f32 products: libraries of NVIDIA and XLA's own kernels would take TensorFloat-32 where they may.
programs=$out/programs
rm -rf "$programs" && mkdir -p "$programs"
: > "$out/conformance.log"
passed=0 bad="" late="" until=$(($(date +%s) + $(left) * 2 / 5))
for folder in program control lax library nn numpy random scipy; do
  mkdir "$programs/$folder"
  for program in conformance/jax/$folder/*.mlir; do
    number=$(printf %s "$program" | cksum | cut -d ' ' -f 1)
    [ $((number % share)) -eq 0 ] || continue
    for file in "$program" "${program%.mlir}.safetensors"; do [ -e "$file" ] && ln -s "$PWD/$file" "$programs/$folder/"; done
  done
  seconds=$((until - $(date +%s)))
  count=$(find "$programs/$folder" -name '*.mlir' | wc -l)
  [ "$count" -eq 0 ] && continue
  if [ $seconds -le 0 ]; then late="$late $folder ($count)"; continue; fi
  NVIDIA_TF32_OVERRIDE=0 XLA_FLAGS="${XLA_FLAGS-}$([ "${device%%:*}" = cuda ] && echo ' --xla_gpu_enable_triton_gemm=false')" STRATA_BACKEND=$device \
    timeout -k 5 "$seconds" "$bin/strata-conformance" --mode=compiled --each --limit=150 --memory=262144 --jobs="$(($(nproc) < 8 ? $(nproc) : 8))" \
    "$programs/$folder" > "$out/one.log" 2>&1
  status=$?
  cat "$out/one.log" >> "$out/conformance.log"
  passed=$((passed + $(grep -c '^ok ' "$out/one.log")))
  bad="$bad$(sed -nE 's|^FAIL [a-z]+ ([^:]*/)?([^:/]+): .*| \2|p' "$out/one.log" | tr -d '\n')"
  if [ $status -eq 124 ]; then late="$late $folder ($((count - $(grep -cE '^(ok|FAIL) ' "$out/one.log"))) of $count)"; fi
  if [ $status -gt 1 ] && [ $status -ne 124 ]; then wrong "programs of conformance/jax/$folder" "$out/one.log"; fi
done
known='lax_reduce_max_nan'  # XLA's CPU: its maximum of a window hides a NaN
[ "${device%%:*}" = plugin ] || known='^$'
new=$(tr ' ' '\n' <<< "$bad" | grep -v '^$' | grep -vcE "$known")
row "programs of conformance/jax" "$passed passed$([ -n "$bad" ] && echo "; failed:$bad")$([ -n "$late" ] && echo "; not run, their time was over:$late")"
if [ "$new" -gt 0 ] || [ "$passed" -eq 0 ]; then failed=$((failed + 1)); fi

# Steps of bench/programs.py beside JAX on the same device.
few=softmax_rows,sum_all,colsum,argmax_rows,transpose,conv3x3_fwd,sort_1M_f32,rnn_grad_T512,axpb_16M
[ "$share" -gt 1 ] || few=
if [ -x "$python" ]; then
  rm -f "$out/steps.md"
  STRATA_BUILD=$(dirname "$bin") timeout -k 5 $(($(left) * 3 / 5)) "$python" tools/on_gpu_steps.py --device="$device" --out="$out/steps.md" --programs="$few" \
    --seconds=$(($(left) / 2 - 20)) > "$out/steps.log" 2>&1
  status=$?
  [ -s "$out/steps.md" ] && cat "$out/steps.md" >> "$rows" && cat "$out/steps.md" >&2
  if [ $status -eq 124 ]; then
    row "steps beside JAX" "the others were not tried: their share of the ten minutes was over"
  elif [ $status -ne 0 ]; then
    wrong "steps beside JAX" "$out/steps.log"
  fi
else
  row "steps beside JAX" "not tried: there is no $python (scripts/peers.sh makes it)"
fi

# The demo (make demo), cut short: its tokenizer, model and training, on its own texts where they are, else on these pages. It ends
# by itself, and saves, where half of the time that is left is over.
steps=$((share > 1 ? 12 : 60))
files="README.md;docs/*.md;docs/reference/*.md" texts="README and docs"
[ -d build/demo/text/kjv ] && files="build/demo/text/kjv/*.txt;build/demo/text/python/**/*.py" texts="its own"
if timeout -k 5 "$(left)" "$bin/strata" data train-tokenizer --files "$files" --vocab_size 2048 --output "$out/tokenizer.model" > "$out/train.log" 2> "$out/train.err" &&
  timeout -k 5 "$(left)" "$bin/strata" train --device="$device" configs/demo.yml train_files="$files" tokenizer_path="$out/tokenizer.model" vocab_size=2048 \
    base_output_directory="$out" run_name="run$$" steps=$steps log_period=2 checkpoint_period=1000 eval_interval=0 max_seconds=$(($(left) / 2)) --json \
    > "$out/train.log" 2> "$out/train.err"; then
  metrics=$out/run$$/metrics/metrics.jsonl
  losses=$(grep -o '"learning/loss":[0-9.]*' "$metrics" | cut -d : -f 2)
  first=$(head -n 1 <<< "$losses") end=$(tail -n 1 <<< "$losses")
  ran=$(grep -oE '"step": ?[0-9]+' "$metrics" | grep -oE '[0-9]+' | tail -n 1)
  if awk -v a="$first" -v b="$end" 'BEGIN { exit !(b < a) }'; then row "${ran:-0} steps of the demo ($texts), loss" "$first to $end"; else
    echo "the loss went from $first to $end" > "$out/train.err"; wrong "${ran:-0} steps of the demo" "$out/train.err"; fi
  if timeout -k 5 "$(($(left) / 2))" "$bin/strata" evaluate --device="$device" --checkpoint "$out/run$$" --eval_steps 1 --json > "$out/evaluate.log" 2> "$out/evaluate.err"; then
    row "the demo on text that was kept from it, loss" "$(grep -oE '"loss": ?[0-9.]+' "$out/evaluate.log" | grep -oE '[0-9.]+' | paste -sd ' ')"
  else
    wrong "the demo on text that was kept from it" "$out/evaluate.err"
  fi
else
  wrong "$steps steps of the demo" "$out/train.err"
fi

# Generation from that run.
set -- --checkpoint "$out/run$$"
if timeout -k 5 "$(($(left) / 2))" "$bin/strata" generate --device="$device" "$@" --prompt "The sea" --max_tokens 32 --json > "$out/generate.log" 2> "$out/generate.err"; then
  row "generation, tokens drawn" "$(grep -oE '"tokens": ?[0-9]+' "$out/generate.log" | grep -oE '[0-9]+')"
else
  wrong "generation" "$out/generate.err"
fi

# 100 000 calls: the value, what each took, what stayed behind.
if [ ! -x "$bin/device-dispatch" ]; then
  row "100 000 calls of x + 1" "not tried: there is no $bin/device-dispatch (ninja -C build device-dispatch_program)"
elif STRATA_BACKEND=$device timeout -k 5 "$(left)" "$bin/device-dispatch" 100000 > "$out/dispatch.json" 2> "$out/dispatch.err"; then
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
