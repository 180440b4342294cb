// Features of processors that code for a newer one than the floor may use, by the names that LLVM
// and the C compiler share, each a bit in object files: old bits keep their places.
#pragma once

#include <cstdint>

// X(bit, name)
#define STRATA_PROCESSOR_FEATURES(X) \
  X(0, "avx")                        \
  X(1, "avx2")                       \
  X(2, "fma")                        \
  X(3, "bmi")                        \
  X(4, "bmi2")                       \
  X(5, "f16c")                       \
  X(6, "lzcnt")                      \
  X(7, "movbe")                      \
  X(8, "popcnt")                     \
  X(9, "avx512f")                    \
  X(10, "avx512vl")                  \
  X(11, "avx512bw")                  \
  X(12, "avx512dq")                  \
  X(13, "avx512cd")                  \
  X(14, "avx512ifma")                \
  X(15, "avx512vbmi")                \
  X(16, "avx512vbmi2")               \
  X(17, "avx512vnni")                \
  X(18, "avx512bitalg")              \
  X(19, "avx512vpopcntdq")           \
  X(20, "avx512bf16")                \
  X(21, "gfni")                      \
  X(22, "vaes")                      \
  X(23, "vpclmulqdq")                \
  X(24, "avx512fp16")                \
  X(25, "avxvnni")                   \
  X(26, "sha")
