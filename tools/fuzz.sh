#!/bin/sh
# Builds one *_fuzz.cc with the rooms it may use and runs it.
#
#   tools/fuzz.sh strata/op/evaluate_fuzz.cc strata/ir/text/testdata/seeds -max_total_time=60
#
# The first folder named holds seeds and is not written, nor is the target's corpus where the repository keeps one (testdata/corpus
# beside it, chosen by tools/fuzz_corpus.py); what is found lies in build/fuzz.
set -eu
cd "$(dirname "$0")/.."
source=$1 seeds=$2
shift 2
name=$(basename "$source" .cc)
room=$(echo "$source" | cut -d/ -f2)
mkdir -p "build/fuzz/$name.corpus"
flags="-std=c++20 -gline-tables-only -O1 -I. -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -ffp-contract=off"
objects="" libraries="-lopenblas"
rooms="base type lapack tree mesh ir loop op"
jobs=${FUZZ_JOBS:-2}
# Prints the files of checkpoint, but for those that know arrays, and what they stand on.
checkpoint_files() {
  echo base type data/compression
  for file in $(cd strata && find checkpoint -name '*.cc' ! -name '*_test.cc' ! -name '*_fuzz.cc' | sort); do
    headers=$(sed -n 's|^#include "\(strata/checkpoint/.*\)"|\1|p' "strata/$file")
    grep -qE '^#include "strata/(api|optim|net)/' "strata/$file" $headers || echo "$file"
  done
}
compression="-lzstd -llzma -lbz2 -lbrotlienc -lbrotlidec -lsnappy -lcrypto"
[ "$room" = checkpoint ] && rooms=$(checkpoint_files) libraries=$compression
[ "$room" = type ] && rooms="base type"
[ "$room" = tokenizer ] && rooms="base tokenizer" libraries="-lsentencepiece -lsentencepiece_train -licuuc -lpcre2-8"
[ "$room" = image ] && rooms="base type image/image.cc image/jpeg.cc image/png.cc" libraries="-lpng -ljpeg"
[ "$room" = train ] && rooms="base train/report/events.cc"
[ "$name" = convert_fuzz ] && rooms="$(checkpoint_files) model/convert/sidecar.cc model/convert/gguf_tokenizer.cc" libraries=$compression
# Links the other rooms as they were built: what a target tries is watched, what that stands on is not.
as_built() {
  libraries="-Wl,--start-group $(echo build/lib/libstrata_*.a) -Wl,--end-group -L/usr/lib/llvm-19/lib -lLLVM-19 -lopenblas"
  export ASAN_OPTIONS=detect_container_overflow=0  # containers go to and fro between both kinds
}
case $name in peft_fuzz | published_fuzz)
  rooms=${source%/*}
  rooms=${rooms#strata/}
  as_built
  libraries="$libraries -lpcre2-8 -lsentencepiece -lsentencepiece_train -licuuc" ;;
esac
if [ "$room" = data ]; then
  rooms="base type $(cd strata && ls data/*.cc data/tokens/*.cc)"
  case $source in */data/*/*) rooms=${source%/*} && rooms="base type data/element.cc data/source.cc ${rooms#strata/}" ;; esac
  [ "$name" != format_fuzz ] || rooms="$rooms data/compression data/arrow"
  as_built
  libraries="$libraries -lsentencepiece -lsentencepiece_train -licuuc -lpcre2-8 $compression"
fi
if [ "$room" = serve ]; then
  rooms="serve/json.cc serve/fields.cc serve/parameters.cc serve/call_reader.cc serve/tagged_calls.cc serve/pythonic_calls.cc"
  as_built
  libraries="$libraries -lpcre2-8 -lsentencepiece -lsentencepiece_train -licuuc -lcrypto"
fi
if [ "$room" = partition ]; then
  rooms="partition/rule.cc partition/gspmd.cc"
  as_built
fi
[ "$room" = engine ] && rooms="base type engine/parked.cc"
[ "$room" = net ] && rooms="base net" libraries="-lssl -lcrypto -lcurl -lpugixml"
case $source in */engine/grammar/*)  # without what knows tokenizers
  rooms="base"
  for file in grammar automaton regex ebnf lark formats json_text json_schema; do rooms="$rooms engine/grammar/$file.cc"; done ;;
esac
[ "$room" = optim ] && rooms="base optim/schedule/schedule_text.cc"
case $source in */chat_template/*) rooms="base tokenizer/chat_template" libraries="-licuuc" ;; esac
# A header may be in every object, so a newer one makes all of them anew.
stamp=build/fuzz/objects/made
[ ! -f "$stamp" ] || [ -z "$(find strata -name '*.h' -newer "$stamp" | head -1)" ] || rm -rf build/fuzz/objects
mkdir -p build/fuzz/objects
[ -f "$stamp" ] || touch "$stamp"
for above in $rooms; do
  for file in $(find "strata/$above" -name '*.cc' ! -name '*_test.cc' ! -name '*_fuzz.cc' ! -name '*_inside.cc' \( ! -path '*/testing/*' -o -path 'strata/ir/testing/*' \) | sort); do
    object=build/fuzz/objects/$(echo "$file" | tr / _).o
    [ "$object" -nt "$file" ] || echo "$file $object"
    objects="$objects $object"
  done
  [ "$above" = "$room" ] && break
done > "build/fuzz/$name.stale"
precompiled=""
if [ "$(wc -l < "build/fuzz/$name.stale")" -gt 20 ]; then  # worth the seconds that it takes
  headers="algorithm cmath map strata/ir/text/format.h strata/ir/graph.h"
  [ "$room" = op ] && headers="$headers strata/ir/constraint.h strata/op/build.h strata/op/rules.h"
  printf '#include <%s>\n' $headers > build/fuzz/common.h
  clang++-19 $flags -x c++-header build/fuzz/common.h -o build/fuzz/common.pch
  precompiled="-include-pch build/fuzz/common.pch"
fi
xargs -r -n2 -P"$jobs" sh -c "clang++-19 $flags $precompiled -c \"\$0\" -o \"\$1\"" < "build/fuzz/$name.stale"
clang++-19 $flags -fsanitize=fuzzer "$source" $objects -lfmt -lpthread -lz $libraries -o "build/fuzz/$name"
kept=$(dirname "$source")/testdata/corpus
[ "$source" != strata/op/evaluate_fuzz.cc ] || kept=strata/ir/text/testdata/corpus
[ -d "$kept" ] || kept=$seeds
exec "build/fuzz/$name" -artifact_prefix=build/fuzz/ "$@" "build/fuzz/$name.corpus" "$seeds" "$kept"
