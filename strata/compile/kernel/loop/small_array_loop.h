// Loops whose carries are arrays of a few elements as one kernel: carries in registers, no step of
// the driver inside. Larger carries may go along as long as the body only reads and updates
// elements of them: they stay in memory and are updated in place. Where elements are many and
// costly (tanh of 16), kernels with lanes are faster in spite of being started in each iteration.
#pragma once

#include <optional>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

struct SmallArrayLoop {
  /// The result's memory has to hold the initial value when the kernel starts.
  struct InPlace {
    const ir::Value *initial, *result;
  };
  Built built;
  std::vector<InPlace> in_place;
};

/// The kernel of such a while or scan; nothing for any other.
std::optional<SmallArrayLoop> build_small_array_loop(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
