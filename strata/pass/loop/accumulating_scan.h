// A scan that does nothing but add a product of each iteration's slices to what it carries: the
// gradient of a recurrent network's weights.
//
//   scan { sum = sum + dot(x, y) }, x[k, m] or x[m, k] and y[k, n] the slices
//
// pass/loop/loop_dot_batching.h makes such scans, compile/kernel/dot/accumulating_scan_gemm.h has a
// kernel for them.
#pragma once

#include <optional>

#include "strata/ir/graph.h"

namespace strata::pass {

/// The scan's parts. Products of each iteration are summed by themselves, as the scan says, and
/// added to the carry in its order of turns.
struct AccumulatingScan {
  const ir::Value *initial, *left, *right;  // the carry before the first iteration; operands of all
                                            // turns: [turn, k, m] or [turn, m, k], and [turn, k, n]
  bool left_contracts_first;                // [turn, k, m]
  bool carry_first;                         // carry + product rather than product + carry
  std::int64_t turns;
  bool reverse;

  /// Nothing for any other operation.
  static std::optional<AccumulatingScan> of(const ir::Op& op);
  /// Whether it has a kernel if this product is what is added.
  static bool takes(const ir::Op& product);
};

}  // namespace strata::pass
