#include "strata/compile/pipeline.h"

#include "strata/base/stage_times.h"
#include "strata/pass/pass.h"

namespace strata::compile {

std::unique_ptr<ir::Block> prepare(const ir::Block& block, std::vector<std::string>* remarks) {
  Stage stage("prepare");
  return pass::run_pipeline(ir::clone(block), remarks);
}

}  // namespace strata::compile
