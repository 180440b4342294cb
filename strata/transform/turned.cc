#include "strata/transform/turned.h"

#include <algorithm>
#include <unordered_map>

#include "strata/op/build.h"
#include "strata/op/def.h"

namespace strata::transform {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using Counts = std::unordered_map<const Value*, int>;  // lookup only

Counts uses_in(const Block& block) {
  Counts out;
  ir::walk(block, [&](const Op& op) {
    for (const Value* v : op.operands) ++out[v];
    for (const auto& region : op.regions)
      for (const Value* v : region->results) ++out[v];
  });
  for (const Value* v : block.results) ++out[v];
  return out;
}

/// Whether neighbours in memory are neighbours in the sum: kernels lay such a right operand out anew, at a price.
bool sums_along_memory(const Value* v, const std::vector<int>& contract) {
  return std::find(contract.begin(), contract.end(), v->rank() - 1) != contract.end();
}

Ints as_ints(const std::vector<int>& dims) { return {dims.begin(), dims.end()}; }

/// The product with its sides exchanged, if that is what the permutation makes of it.
Value* turned(Builder& b, const Op& transpose, const Counts& uses) {
  const Op* product = transpose.operand(0)->op();
  using Rule = op::Contraction (*)(const Op&);
  const Rule* rule = product ? std::get_if<Rule>(&op::def(*product).lowering) : nullptr;
  if (auto found = uses.find(product->result()); !rule || found == uses.end() || found->second != 1) return nullptr;
  op::Contraction dims = (**rule)(*product);
  Value *l = product->operand(0), *r = product->operand(1);
  if (sums_along_memory(l, dims.lhs_contract) && !sums_along_memory(r, dims.rhs_contract)) return nullptr;
  auto batch = static_cast<std::int64_t>(dims.lhs_batch.size()), sums = static_cast<std::int64_t>(dims.lhs_contract.size());
  std::int64_t rows = l->rank() - batch - sums, columns = r->rank() - batch - sums;
  const Ints& permutation = transpose.attr<Ints>("permutation");
  for (std::int64_t i = 0; i < batch + rows + columns; ++i) {
    std::int64_t from = i < batch ? i : i < batch + columns ? i + rows : i - columns;
    if (permutation[static_cast<std::size_t>(i)] != from) return nullptr;
  }
  op::DotDims exchanged{as_ints(dims.rhs_batch), as_ints(dims.lhs_batch), as_ints(dims.rhs_contract), as_ints(dims.lhs_contract)};
  return op::dot_general(b, r, l, exchanged, product->result()->dtype());
}

bool turn_in(Block& block, const Counts& uses) {
  bool changed = false;
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> ops = std::move(block.ops()), dead;
  block.ops().clear();
  Builder b(block);
  for (auto& op : ops) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      changed |= turn_in(*region, uses);
    }
    b.set_location(op->where);
    Value* v = op->name() == "stablehlo.transpose" ? turned(b, *op, uses) : nullptr;
    if (!v) {
      block.append(std::move(op));
      continue;
    }
    map.set(op->result(), v);
    dead.push_back(std::move(op));
    changed = true;
  }
  block.results = map(block.results);
  return changed;
}

}  // namespace

bool turn_products(Block& block) { return turn_in(block, uses_in(block)); }

}  // namespace strata::transform
