// The functions of our own that generated code calls by name, native kernels and the pool apart.
// Without LLVM and fmt: the runtime of object files (strata/embed) is made of them too.
#pragma once

#include <cstddef>
#include <cstdint>

/// Of one launch in a stream.
inline constexpr std::size_t kMostStreamPlaces = 64;

extern "C" {

/// Memory of this thread for one kernel's scratch, aligned to 64, until the next call.
void* strata_scratch(std::int64_t bytes);
/// The same for what the kernels of a chain pass on, which stays while they run.
void* strata_chain_scratch(std::int64_t bytes);

/// Copies between places that do not overlap, or are one, by the threads of the run; for what a
/// single one would take long for.
void strata_copy(void* to, const void* from, std::int64_t bytes);

/// ConcurrentLaunches (compile/plan/plan.h) as tables. Of a place the list that holds the buffer's
/// address (the last: this thread's scratch), the number in that list, an offset.
struct StrataStreamPlace {
  std::int64_t list, number, offset;
};
struct StrataStreamLaunch {
  void (*kernel)(void* const* buffers, std::int64_t begin, std::int64_t end);
  std::int64_t points, first_place, places;
};
/// `count` launches from the first on, all grid points, or [begin, end) of the one; end < 0: all.
struct StrataStreamClaim {
  std::int64_t first, count, begin, end;
};
struct StrataStreams {
  const StrataStreamClaim* claims;
  const StrataStreamLaunch* launches;
  const StrataStreamPlace* places;
  std::int64_t num_claims, scratch_bytes;
};
/// Runs all claims, by the threads of the run. `lists`: four.
void strata_run_streams(const StrataStreams* streams, void* const* const* lists);

/// x[i] = fmod(x[i], y[i]): the lanes of a remainder that the inline path does not take.
void strata_fmod_f32(float* x, const float* y, std::int64_t n);
void strata_fmod_f64(double* x, const double* y, std::int64_t n);

// Conversions that LLVM calls by other names (__truncsfbf2 and so on) where the processor has none;
// libgcc 12 lacks those of bf16. The narrow value travels in the low bits of an SSE register, as
// the psABI says for _Float16 and __bf16.
float strata_truncsfbf2(float v);
float strata_truncsfhf2(float v);
float strata_truncdfbf2(double v);
float strata_truncdfhf2(double v);
float strata_extendhfsf2(float r);

}  // extern "C"
