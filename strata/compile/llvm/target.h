// What the machine can do, as far as code generation asks.
//
// STRATA_CPU names another processor of LLVM's list ("x86-64-v3", "znver4"): code is then made for
// that one, with that one's features alone. Features may be added and taken away after a comma
// ("native,-avx512bf16"). Bits do not depend on it (loop.h); only `dot2` of floats, tiles and speed
// do.
#pragma once

#include <cstdint>
#include <string>

namespace strata::compile {

/// The processor code is made for.
struct CpuTarget {
  std::string cpu;          // LLVM's name
  std::string features;     // LLVM's list "+avx2,-avx512f,..."
  bool avx512 = false;      // AVX-512 F, VL, BW and DQ
  bool avx512bf16 = false;  // and products of pairs by it are the faster ones
  bool vnni = false;        // AVX-512 and its products of four bytes
  bool tiles = false;       // of AMX, for bf16, which this process may use (loop/tiles.h): only the
                            // host's, where code runs at once

  /// The host, or what STRATA_CPU names; asked once per process.
  static const CpuTarget& host();
  /// The processor of that name, with what follows a comma; "" or "native" is the host.
  static CpuTarget named(const std::string& name);
  /// The same, made once for each name and never gone; "" is `host()`.
  static const CpuTarget& of(const std::string& name);

  /// Which of processor_features.h it has: bits by their numbers.
  std::uint64_t feature_bits() const;
};

}  // namespace strata::compile
