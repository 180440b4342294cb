// Tests of the most memory that something had in use.
//
//   forget_peak();
//   const double before = peak_mib();
//   load(file);
//   EXPECT_LT(peak_mib() - before, 16);
#pragma once

#include <cstddef>
#include <fstream>

#include "strata/base/testing/process_memory.h"

namespace strata {

/// Counts this process's peak from its memory of now on.
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// The most bytes of this process that were in memory since `forget_peak`; 0 where the system does
/// not tell.
inline std::size_t peak_bytes() { return process_memory("VmHWM:"); }
inline double peak_mib() { return static_cast<double>(peak_bytes()) / (1 << 20); }

}  // namespace strata
