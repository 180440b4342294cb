// Which arrays hold no minus zero: to those +0 may be added or not.
#pragma once

#include <unordered_set>

#include "strata/pass/parents.h"

namespace strata::pass {

/// Answers for the values of a block and of the regions in it, which must not change meanwhile.
class NegativeZeroAnalysis {
 public:
  explicit NegativeZeroAnalysis(const ir::Block& block) : parent_(block) {}

  /// Whether no element of v can be -0, in any turn of the loops around it. False where that is not
  /// seen within a bounded number of steps.
  bool never_in(const ir::Value* v);

 private:
  using Assumed = std::unordered_set<const ir::Value*>;

  bool prove(const ir::Value* v, Assumed& assumed);
  bool prove_op(const ir::Op& op, int result, Assumed& assumed);
  bool prove_argument(const ir::Value* v, Assumed& assumed);
  bool prove_structured(const ir::Op& op, int result, Assumed& assumed);

  Parents parent_;
  int steps_ = 0;
};

}  // namespace strata::pass
