#!/bin/sh
# What libstrata_pjrt.so asks of the machine that it is copied to, and what it shows to the process that loads it.
#
#   strata/pjrt/portable_test.sh BIN      BIN: the folder of the programs; the plugin is ../lib/libstrata_pjrt.so
set -u
lib=$1/../lib/libstrata_pjrt.so

check() {  # check NAME WANT GOT
  if [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1"; echo "  want: $2"; echo "  got:  $3"; fi
}

check "exports GetPjrtApi and nothing else" "GetPjrtApi" "$(nm -D --defined-only "$lib" | awk '{print $3}' | tr '\n' ' ' | sed 's/ $//')"
check "needs the C library and libgcc_s alone" "ld-linux-x86-64.so.2 libc.so.6 libgcc_s.so.1 libm.so.6" \
  "$(readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
highest=$(objdump -T "$lib" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
check "asks for no glibc after 2.34 (it asks for $highest)" GLIBC_2.34 "$(printf '%s\nGLIBC_2.34\n' "$highest" | sort -V | tail -1)"
check "asks for no libstdc++" "" "$(objdump -T "$lib" | grep -o 'GLIBCXX_[0-9.]*' | sort -u)"
size=$(stat -c %s "$lib")
check "is under 120 MB ($((size / 1000000)) MB)" yes "$([ "$size" -lt 120000000 ] && echo yes || echo no)"
