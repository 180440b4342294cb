// Products of bf16 by matrix tiles (Intel's AMX), and the turning of squares that feeds them.
// Kernels of the loop form lay operands out in their scratch and call these by name; the arguments
// that are loads stand for the places they read (`takes_places`):
//
//   %9 = call @strata_tile_product(%6, %7, %8, %1, %2, ...) : i32
//
// One step takes 32 elements of k. Of element (m, n) it makes two sums from zero, one over the even
// and one over the odd k, each by fused multiply-adds in order, adds those two, and that to the
// element. Subnormal operands and results count as zero, whatever the control register says; NaNs
// have one payload. So bits depend on K alone, and the plain twin has the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::loop {

inline constexpr std::string_view kTileProduct = "strata_tile_product",
                                  kTurnSquares = "strata_turn_squares";
/// Sizes of what these take are multiples of it; a step of k is as many pairs.
inline constexpr std::int64_t kTileSide = 16;

/// What a call that works on the memory from where its loads read takes: so many loads, then so
/// many i64.
struct Places {
  std::size_t places, numbers;
};
/// That of a call of this name, or nothing where it works on values.
std::optional<Places> places_of(std::string_view callee);
inline bool takes_places(std::string_view callee) { return places_of(callee).has_value(); }
/// Such a call by the plain twins: the addresses of its places, the other arguments. `room` is how
/// many bytes each place has; a check fails where those do not suffice.
void run_on_places(std::string_view callee, const std::vector<void*>& places,
                   const std::vector<std::int64_t>& numbers, std::span<const std::int64_t> room);

/// Whether this processor has tiles and the system lets this process use them: asks for that, once.
bool have_tiles();

}  // namespace strata::loop

extern "C" {

/// c[m][n] = (first ? 0 : c[m][n]) + the sum over k of a[m][k] b[k][n], m < rows, n < columns, k <
/// 32 * steps. Two elements of k, the even one low, are one element of 32 bits of `a` and of `b`:
/// a[m][pair], b[pair][n]. Pitches of rows in elements of 32 bits. Returns 0.
std::int32_t strata_tile_product(void* c, const void* a, const void* b, std::int64_t c_pitch,
                                 std::int64_t a_pitch, std::int64_t b_pitch, std::int64_t rows,
                                 std::int64_t columns, std::int64_t steps, std::int64_t first);
/// to[c][r] = from[r][c] of 32 bits each, r < rows, c < columns. Returns 0.
std::int32_t strata_turn_squares(void* to, const void* from, std::int64_t to_pitch,
                                 std::int64_t from_pitch, std::int64_t rows, std::int64_t columns);

}  // extern "C"
