#include "strata/transform/remat.h"

#include "strata/op/control.h"
#include "strata/transform/support.h"

namespace strata::transform {

bool is_expandable(const ir::Op& op) {
  const auto* lowering = std::get_if<op::Structured>(&op::def(op).lowering);
  return lowering && lowering->kind == op::Structured::Kind::call && !op.regions.empty();
}

std::unique_ptr<ir::Block> remat(const ir::Block& f, const std::string& policy) {
  auto out = std::make_unique<ir::Block>();
  ir::Values arguments = add_arguments_of(*out, f);
  ir::Builder b(*out);
  out->results = op::remat(b, ir::clone(f), arguments, policy);
  return out;
}

void expand(ir::Block& block) {
  check_forward(block);
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> ops =
      std::move(block.ops());  // kept until the end: the map knows them by address
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    if (!is_expandable(*op)) {
      for (auto& region : op->regions) {
        ir::replace_uses(*region, map);
        expand(*region);
      }
      block.append(std::move(op));
      continue;
    }
    expand(op->region(0));
    ir::Values results = ir::inline_block(b, op->region(0), op->operands);
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), results[static_cast<std::size_t>(i)]);
  }
  block.results = map(block.results);
}

}  // namespace strata::transform
