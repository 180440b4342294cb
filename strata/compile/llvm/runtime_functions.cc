#include "strata/compile/llvm/runtime_functions.h"

#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "strata/base/check.h"
#include "strata/base/thread_pool.h"
#include "strata/type/float.h"

namespace {

constexpr std::int64_t kScratchList = 4;

/// A block of memory of this thread, as large as the largest request so far; it holds the scratch
/// of one kernel, or of one chain, at a time.
class ScratchBlock {
 public:
  ~ScratchBlock() { std::free(memory_); }
  void* at_least(std::int64_t bytes) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = (bytes + kHuge - 1) / kHuge * kHuge;
      memory_ = std::aligned_alloc(kHuge, static_cast<std::size_t>(size_));
      STRATA_CHECK(memory_, "no memory for {} bytes of scratch", size_);
      madvise(memory_, static_cast<std::size_t>(size_),
              MADV_HUGEPAGE);  // columns are walked, with small pages one for each row
    }
    return memory_;
  }

 private:
  static constexpr std::int64_t kHuge = 2 << 20;
  void* memory_ = nullptr;
  std::int64_t size_ = 0;
};

float in_register(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
std::uint16_t from_register(float r) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(r));
}

/// A double rounded to f32 so that rounding once more gives what rounding once would have: to odd.
float rounded_to_odd(double v) {
  float f = static_cast<float>(v);
  if (std::isnan(v) || std::isinf(v) || static_cast<double>(f) == v) return f;
  std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  bool away = std::fabs(static_cast<double>(f)) > std::fabs(v);
  if (away) --u;  // towards zero; an infinity becomes the largest number
  return std::bit_cast<float>(u | 1u);
}

}  // namespace

extern "C" {

void* strata_scratch(std::int64_t bytes) {
  thread_local ScratchBlock block;
  return block.at_least(bytes);
}

void* strata_chain_scratch(std::int64_t bytes) {
  thread_local ScratchBlock block;
  return block.at_least(bytes);
}

void strata_copy(void* to, const void* from, std::int64_t bytes) {
  struct Copy {
    std::byte* to;
    const std::byte* from;
  } copy{static_cast<std::byte*>(to), static_cast<const std::byte*>(from)};
  // Pieces that stay in a core's cache: no piece goes around the caches, for what is copied is
  // changed next.
  strata::parallel_for(
      bytes, 1 << 18,
      [](void* context, std::int64_t begin, std::int64_t end) {
        const Copy& c = *static_cast<const Copy*>(context);
        std::memcpy(c.to + begin, c.from + begin, static_cast<std::size_t>(end - begin));
      },
      &copy);
}

void strata_run_streams(const StrataStreams* streams, void* const* const* lists) {
  struct Run {
    const StrataStreams& streams;
    void* const* const* lists;

    void claim(const StrataStreamClaim& c, std::byte* scratch) const {
      void* buffers[kMostStreamPlaces];
      for (std::int64_t i = c.first; i < c.first + c.count; ++i) {
        const StrataStreamLaunch& l = streams.launches[i];
        for (std::int64_t p = 0; p < l.places; ++p) {
          const StrataStreamPlace& place = streams.places[l.first_place + p];
          std::byte* base = place.list == kScratchList
                                ? scratch
                                : static_cast<std::byte*>(lists[place.list][place.number]);
          buffers[p] = base + place.offset;
        }
        l.kernel(buffers, c.begin, c.end < 0 ? l.points : c.end);
      }
    }
  } run{*streams, lists};
  strata::parallel_for(
      streams->num_claims, 1,
      [](void* context, std::int64_t begin, std::int64_t end) {
        const Run& r = *static_cast<const Run*>(context);
        const std::int64_t bytes = r.streams.scratch_bytes;
        auto* scratch = static_cast<std::byte*>(bytes > 0 ? strata_chain_scratch(bytes) : nullptr);
        for (std::int64_t i = begin; i < end; ++i) r.claim(r.streams.claims[i], scratch);
      },
      &run);
}

void strata_fmod_f32(float* x, const float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::fmod(x[i], y[i]);
}
void strata_fmod_f64(double* x, const double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::fmod(x[i], y[i]);
}

float strata_truncsfbf2(float v) { return in_register(strata::bf16_bits(v)); }
float strata_truncsfhf2(float v) { return in_register(strata::f16_bits(v)); }
float strata_truncdfbf2(double v) { return strata_truncsfbf2(rounded_to_odd(v)); }
float strata_truncdfhf2(double v) { return strata_truncsfhf2(rounded_to_odd(v)); }
float strata_extendhfsf2(float r) { return strata::f16_value(from_register(r)); }

}  // extern "C"
