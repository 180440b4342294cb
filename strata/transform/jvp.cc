#include "strata/transform/jvp.h"

#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/support.h"
#include "strata/transform/prune.h"
#include "strata/transform/support.h"

namespace strata::transform {

std::unique_ptr<ir::Block> jvp(const ir::Block& f, const std::vector<bool>& active) {
  op::JvpBlock out = op::jvp(f, active, inexact(f.results));
  prune(*out.block);
  check_forward(*out.block);
  return std::move(out.block);
}

}  // namespace strata::transform
