// Moves of lanes: how what some lanes hold comes to others. They are calls of functions that every
// reader of the loop form knows,
// `%5 = call @lanes.behind.4(%3, %4) : f32x16`; a machine has an instruction or two for each.
//
//   behind.n   the last n lanes of a, then b without its last n: b moved up by n lanes
//   low.u.g    in each group of g lanes: the first u of a's, the first u of b's, the next u of a's,
//   ... of the lower halves high.u.g   the same for the upper halves
//
// Where a strip is masked only `behind` a uniform value stands, for then a lane is made of none
// above it (V7).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "strata/loop/loop.h"

namespace strata::loop {

struct LaneMove {
  enum class Kind : std::uint8_t { behind, low, high } kind;
  int by = 0;               // behind
  int unit = 1, group = 2;  // low, high: powers of two, 2 * unit <= group <= lanes
  /// Where lane `lane` of `lanes` comes from: a's lanes are numbered from 0, b's from `lanes`.
  int source(int lane, int lanes) const;
};

/// What a callee means as a move of `lanes` lanes; nothing for another name.
std::optional<LaneMove> lane_move(std::string_view callee, int lanes);

/// b moved up by n of its lanes, with the last n of `a` (or all of a uniform a) before it.
Inst* behind(Builder& b, Inst* first, Inst* moved, int n);
/// Values of so many lanes are turned quickly: LLVM takes ten times as long for the code of a
/// square of twice as many.
inline constexpr int kQuickSquare = 8;
/// The transpose of as many values of L lanes as L, a power of two: lane i of result j is lane j of
/// value i. Squares of 16 bytes are turned first, then exchanged: those are moves that processors
/// with wider registers have, too.
std::vector<Inst*> transposed(Builder& b, std::vector<Inst*> values);

}  // namespace strata::loop
