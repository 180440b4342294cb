#include "strata/compile/pipeline.h"

#include "strata/transform/remat.h"
#include "strata/transform/simplify.h"

namespace strata::compile {

std::unique_ptr<ir::Block> prepare(const ir::Block& block) {
  std::unique_ptr<ir::Block> out = ir::clone(block);
  transform::expand(*out);
  transform::simplify(*out);
  return out;
}

}  // namespace strata::compile
