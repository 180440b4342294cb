#include "strata/transform/export.h"

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/op/legalize.h"
#include "strata/transform/packed_blocks.h"

namespace strata::transform {
namespace {

bool is_own(const ir::Op& op) { return op.name().starts_with("strata."); }

/// What an operation of our own stands for.
ir::Values said(ir::Builder& b, const ir::Op& op) {
  if (is_on_packed_blocks(op)) return in_stablehlo(b, op, op.operands);
  if (op::def(op).decompose == nullptr)
    throw Error(op.name(), "StableHLO has no words for this operation")
        .at(op.where.text())
        .unsupported();
  return ir::inline_block(b, *op::decomposition(op), op.operands);
}

void pass(ir::Module& m) {
  for (auto& f : m.functions) export_stablehlo(f->body);
}

}  // namespace

void add_export_pass() {
  ir::Passes::global().add({"to-stablehlo", "operations of our own become StableHLO's", pass});
}

void export_stablehlo(ir::Block& block) {
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old =
      std::move(block.ops());  // kept until the end: the map knows them by address
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      export_stablehlo(*region);
    }
    if (!is_own(*op)) {
      block.append(std::move(op));
      continue;
    }
    b.set_location(op->where);
    const ir::Values results = said(b, *op);
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), results[static_cast<std::size_t>(i)]);
  }
  block.results = map(block.results);
}

void export_stablehlo(ir::Block& block, GroupedProducts how, const mesh::AbstractMesh* mesh) {
  grouped_products(block, how, mesh);
  export_stablehlo(block);
}

}  // namespace strata::transform
