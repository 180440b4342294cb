#!/bin/bash
# make soak: the proofs that take hours. Each line tells what ran; the first failure ends it.
#
#   SOAK_PROGRAMS   random programs that compose transforms (default 10000)
#   SOAK_EXPORTS    random functions of open dimensions that JAX exports (default 100)
#   SOAK_SAMPLES    samples of each elementary function against MPFR (default 100000000)
#   SOAK_SECONDS    seconds of fuzzing for each target (default 3600)
#   SOAK_TEXTS      texts that are tokenized beside the package tokenizers (default 100000)
#   SOAK_TERMS      terms of sums that are to keep their digits (default 1000000000)
#   SOAK_ROUNDS     random engines whose answers are to be the same (default 300)
#   SOAK_KILLS      random moments at which a run is killed (default 30)
#   SOAK_PIPELINES  times 400 random pipelines of Grain that are read beside Grain (default 10)
#   SOAK_LOAD       seconds of mixed load on a server (default 900)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${STRATA_BUILD:-build}

echo "== ${SOAK_PROGRAMS:=10000} random programs"
STRATA_RANDOM_PROGRAMS=$SOAK_PROGRAMS "$build/bin/pass_test" --gtest_filter='*Random*' --gtest_brief=1
STRATA_ALL_GRIDS=1 STRATA_RANDOM_PROGRAMS=300 "$build/bin/partition_test" --gtest_brief=1

echo "== $SOAK_PROGRAMS random programs of the whole vocabulary"
STRATA_RANDOM_GRAPHS=$SOAK_PROGRAMS "$build/bin/conformance_test" --gtest_filter='RandomGraphs.*' --gtest_brief=1

echo "== 10000 random loops that write in place"
STRATA_RANDOM_LOOPS=10000 "$build/bin/compile_test" --gtest_filter='LoopsInPlace.*' --gtest_brief=1

echo "== ${SOAK_EXPORTS:=100} fresh random exports of JAX with open dimensions"
tools/goldens/random_exports.py --first $((SOAK_EXPORTS * (1 + $(date +%s) / 3600))) --count "$SOAK_EXPORTS" --out "$build/exports" --run "$build/bin/strata-run"

echo "== elementary functions, ${SOAK_SAMPLES:=100000000} samples each"
STRATA_SAMPLES=$SOAK_SAMPLES "$build/bin/loop_test" --gtest_filter='*Accuracy*' --gtest_brief=1

echo "== all floats for each elementary function of one, 10^9 pairs for those of two"
STRATA_BUILD=$build scripts/build.sh ulp_program
"$build/bin/ulp" --exhaustive --no-f64

echo "== sums of ${SOAK_TERMS:=1000000000} terms"
STRATA_LONG_SUMS=$SOAK_TERMS "$build/bin/compile_test" --gtest_filter='Long*.KeepTheDigitsOfEqualNumbers' --gtest_brief=1

echo "== a model of letters with states of 8 bits, 600 steps"
STRATA_LETTER_STEPS=600 "$build/bin/optim_test" --gtest_filter='OptaxCurves.StatesOfEightBits*' --gtest_brief=1

echo "== everything by GCC"
cmake --preset gcc -B build/gcc > /dev/null && ninja -C build/gcc && STRATA_SAMPLE= FULL=1 scripts/run_tests --build build/gcc --only op,loop,transform,compile,api,embed

echo "== results for the least target, all of them, and what make test samples"
"$build/bin/compile_test" --gtest_brief=1
"$build/bin/conformance_test" --gtest_brief=1 --gtest_filter="*CompiledLaw*"
for room in api model nn train; do STRATA_CPU=x86-64-v3 "$build/bin/${room}_test" --gtest_brief=1; done
for test in python/tests/*_test.py; do STRATA_RANDOM_LOOPS=200 STRATA_BUILD=$build python3 "$test"; done
tools/check_headers.py --cache "$build/checks"

echo "== examples that learn from a part of their data, from all of it"
for program in fashion-mnist-modules vision-transformer; do "$build/bin/gallery-$program" whole; done

echo "== ${SOAK_TEXTS:=100000} texts by strata tokenize and by the package tokenizers"
tools/goldens/tokenizers_long.py --strata "$build/bin/strata" --count "$SOAK_TEXTS"

echo "== ${SOAK_PIPELINES:=10} times 400 fresh random pipelines of Grain: elements, states, restores"
STRATA_PEERS=$build/peers-grain scripts/peers.sh grain==0.2.18  # apart: with JAX beside it dicts are sorted
"$build/peers-grain/bin/python" tools/proofs/grain_soak.py --build "$build" --rounds "$SOAK_PIPELINES" --seed $((1 + $(date +%s) / 3600))

echo "== the same answers of ${SOAK_ROUNDS:=300} random engines, and random traffic that frees all pages"
STRATA_ENGINE_ROUNDS=$SOAK_ROUNDS "$build/bin/engine_test" --gtest_filter='InvarianceTest.*:*Random*' --gtest_brief=1

echo "== programs of conformance/jax as object files"
tools/object_files.py --build "$build"

echo "== a run killed at ${SOAK_KILLS:=30} random moments"
STRATA_ALL_FAULTS=1 "$build/bin/checkpoint_test" --gtest_filter='Orbax.DamageIsFound:CheckpointTest.Every*' --gtest_brief=1
STRATA_ALL_FAULTS=1 "$build/bin/train_test" --gtest_filter='OrbaxRunTest.ASaveThatFails*' --gtest_brief=1
STRATA_ALL_FAULTS=1 STRATA_KILLS=$SOAK_KILLS strata/cli/nothing_is_lost_test.py "$build/bin"
STRATA_KILLS=$SOAK_KILLS "$build/bin/data_test" --gtest_filter='Audit.*' --gtest_brief=1  # 1 to 4 hosts, 1 to 8 workers

echo "== Kakao's recipe killed at $SOAK_KILLS random moments"
STRATA_KILLS=$SOAK_KILLS strata/cli/kakao_test.py "$build/bin"

echo "== a server under mixed load, ${SOAK_LOAD:=900} s"
STRATA_LOAD_SECONDS=$SOAK_LOAD strata/cli/serve_load_test.py "$build/bin"

echo "== the chat page in a browser"
scripts/install-deps.sh chromium-headless-shell
strata/cli/chat_page_test.py "$build/bin"

echo "== models that others published"
tools/published_models.py --build "$build"

echo "== SmolLM2 by strata and by transformers"
scripts/chat.sh < /dev/null > /dev/null
tools/proofs/smollm2.py --build "$build"

echo "== MiniLM by strata and by transformers"
tools/proofs/minilm.py --build "$build"

echo "== buckets of servers that others made"
tools/proofs/object_stores.py --build "$build"

echo "== three tasks of lm_eval through strata and through transformers"
tools/proofs/lm_eval_tasks.py --build "$build"

echo "== clients of others with strata serve"
tools/proofs/serve_clients.py --build "$build"

echo "== rules broken one at a time"
tools/mutate.py --build "$build"

echo "== all programs of JAX through plugins of others"
scripts/peers.sh lammps-jax-pjrt-cpu==0.11.2 xla-cpu-pjrt==0.0.1
strata/pjrt/as_device_test.py "$build/bin" --all

echo "== the plugin under ASan and UBSan"
tools/sanitize_plugin.sh "$build"

scripts/install-deps.sh clang-19 libclang-rt-19-dev
for target in $(find strata -name '*_fuzz.cc' | sort); do
  echo "== $target, ${SOAK_SECONDS:=3600} s"
  seeds=strata/ir/text/testdata
  [ "$target" != strata/checkpoint/checkpoint_fuzz.cc ] || seeds=strata/checkpoint/testdata
  [ "$target" != strata/partition/sharding_text_fuzz.cc ] || seeds=strata/partition/testdata/texts
  [ "$target" != strata/checkpoint/orbax/orbax_fuzz.cc ] || seeds=strata/checkpoint/testdata/orbax
  [ "$target" != strata/checkpoint/gguf_fuzz.cc ] || seeds=strata/checkpoint/testdata/gguf
  [ "$target" != strata/ir/bytecode/bytecode_fuzz.cc ] || seeds=strata/ir/bytecode/testdata/artifacts
  [ "$target" != strata/model/published/published_fuzz.cc ] || seeds=strata/model/testdata/published
  [ "$target" != strata/tokenizer/chat_template/chat_template_fuzz.cc ] || seeds=strata/tokenizer/chat_template/testdata
  [ "$target" != strata/data/data_fuzz.cc ] || seeds=strata/tokenizer/testdata
  [ "$target" != strata/data/conversations_fuzz.cc ] || seeds=strata/train/testdata/tuning
  [ "$target" != strata/data/format/format_fuzz.cc ] || seeds=strata/data/format/testdata
  [ "$target" != strata/model/lora/peft_fuzz.cc ] || seeds=strata/model/testdata/peft
  [ "$target" != strata/tokenizer/tokenizer_fuzz.cc ] || seeds=strata/tokenizer/testdata
  [ "$target" != strata/model/convert/convert_fuzz.cc ] || seeds=strata/model/convert/testdata
  [ "$target" != strata/engine/parked_fuzz.cc ] || seeds=strata/engine/testdata/parked
  [ "$target" != strata/net/http_parse_fuzz.cc ] || seeds=strata/net/testdata/requests
  [ "$target" != strata/net/http_response_fuzz.cc ] || seeds=strata/net/testdata/responses
  [ "$target" != strata/net/object_store/listing_fuzz.cc ] || seeds=strata/net/object_store/testdata/pages
  [ "$target" != strata/serve/request_fuzz.cc ] || seeds=strata/serve/testdata/requests
  [ "$target" != strata/engine/grammar/regex_fuzz.cc ] || seeds=strata/engine/grammar/testdata/regex
  [ "$target" != strata/engine/grammar/ebnf_fuzz.cc ] || seeds=strata/engine/grammar/testdata/ebnf
  [ "$target" != strata/engine/grammar/json_schema_fuzz.cc ] || seeds=strata/engine/grammar/testdata/schema
  [ "$target" != strata/ir/export/jax_export_fuzz.cc ] || seeds=strata/ir/export/testdata
  tools/fuzz.sh "$target" "$seeds" -max_total_time="$SOAK_SECONDS"
done
echo "soak passed on $(date -u +%F)"
