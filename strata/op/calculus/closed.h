// Region operations as rules see them: with nothing captured.
//
// Regions of StableHLO's operations may use values of the blocks around them, which a rule cannot look up. So every
// transformation hands rules the closed form: captured values are further operands, and each region has further
// arguments, in the same order, behind its own. `case(index){ x + 1 }` becomes `case(index, x){ (x'): x' + 1 }`.
// Rules of operations without regions, and of isolated ones, see the operation itself.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// The closed form of an operation. Lives no longer than the operation.
class Closed {
 public:
  explicit Closed(const Op& op);
  /// Its operands are values of the graph that `op` stands in: the own ones, then the captured ones.
  const Op& op() const { return owned_ ? *owned_ : *original_; }

 private:
  const Op* original_;
  std::unique_ptr<Op> owned_;
};

}  // namespace strata::op
