#include "strata/loop/tiles.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "strata/base/check.h"

namespace strata::loop {
namespace {

/// Subnormal numbers are zero while it lives.
class Flushed {
 public:
  Flushed() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~Flushed() { _mm_setcsr(before_); }
  Flushed(const Flushed&) = delete;
  Flushed& operator=(const Flushed&) = delete;

 private:
  unsigned before_;
};

float low(std::uint32_t pair) { return std::bit_cast<float>(pair << 16); }
float high(std::uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }

/// One element after one step: 16 pairs of `a`, and of `b` with the pitch.
__attribute__((noinline)) float after_step(float sum, const std::uint32_t* a,
                                           const std::uint32_t* b, std::int64_t b_pitch) {
  float even = 0, odd = 0;
  for (std::int64_t p = 0; p < kTileSide; ++p) {
    even = std::fma(low(a[p]), low(b[p * b_pitch]), even);
    odd = std::fma(high(a[p]), high(b[p * b_pitch]), odd);
  }
  return sum + (even + odd);
}

void plain_product(float* c, const std::uint32_t* a, const std::uint32_t* b, std::int64_t c_pitch,
                   std::int64_t a_pitch, std::int64_t b_pitch, std::int64_t rows,
                   std::int64_t columns, std::int64_t steps, bool first) {
  Flushed flushed;
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0; n < columns; ++n) {
      float sum = first ? 0 : c[m * c_pitch + n];
      for (std::int64_t s = 0; s < steps; ++s)
        sum = after_step(sum, a + m * a_pitch + s * kTileSide, b + s * kTileSide * b_pitch + n,
                         b_pitch);
      c[m * c_pitch + n] = sum;
    }
}

void plain_turn(std::uint32_t* to, const std::uint32_t* from, std::int64_t to_pitch,
                std::int64_t from_pitch, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
}

bool permitted() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kAvx512f = 1u << 16;
  if ((d & kBf16) == 0 || (d & kTile) == 0 || (b & kAvx512f) == 0) return false;
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

}  // namespace

std::optional<Places> places_of(std::string_view callee) {
  if (callee == kTileProduct) return Places{3, 7};
  if (callee == kTurnSquares) return Places{2, 4};
  return std::nullopt;
}

bool have_tiles() {
  static const bool have = permitted();
  return have;
}

void run_on_places(std::string_view callee, const std::vector<void*>& places,
                   const std::vector<std::int64_t>& numbers, std::span<const std::int64_t> room) {
  auto fits = [&](std::size_t place, std::int64_t rows, std::int64_t pitch, std::int64_t columns) {
    STRATA_CHECK(rows >= 0 && columns >= 0 && pitch >= 0 &&
                     (rows == 0 || ((rows - 1) * pitch + columns) * 4 <= room[place]),
                 "{} of {} rows of {} elements, {} apart, in {} bytes", callee, rows, columns,
                 pitch, room[place]);
  };
  auto of = [&](std::size_t i) { return static_cast<std::uint32_t*>(places[i]); };
  for (std::int64_t n : numbers)
    STRATA_CHECK(n >= 0 && n < (std::int64_t{1} << 30), "{} with {}", callee, n);
  if (callee == kTileProduct) {
    STRATA_CHECK(places.size() == 3 && numbers.size() == 7, "{} of {} places and {} numbers",
                 callee, places.size(), numbers.size());
    const std::int64_t rows = numbers[3], columns = numbers[4], pairs = numbers[5] * kTileSide;
    fits(0, rows, numbers[0], columns);
    fits(1, rows, numbers[1], pairs);
    fits(2, pairs, numbers[2], columns);
    return plain_product(static_cast<float*>(places[0]), of(1), of(2), numbers[0], numbers[1],
                         numbers[2], rows, columns, numbers[5], numbers[6] != 0);
  }
  STRATA_CHECK(callee == kTurnSquares && places.size() == 2 && numbers.size() == 4,
               "{} of {} places and {} numbers", callee, places.size(), numbers.size());
  fits(0, numbers[3], numbers[0], numbers[2]);
  fits(1, numbers[2], numbers[1], numbers[3]);
  plain_turn(of(0), of(1), numbers[0], numbers[1], numbers[2], numbers[3]);
}

}  // namespace strata::loop
