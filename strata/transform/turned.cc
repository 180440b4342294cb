#include "strata/transform/turned.h"

#include <algorithm>
#include <unordered_map>

#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/transform/rewrite.h"

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
ir::Values turned(Builder& b, const Op& transpose, const Counts& uses) {
  const Op* product = transpose.operand(0)->op();
  using Rule = op::Contraction (*)(const Op&);
  const Rule* rule = product ? std::get_if<Rule>(&op::def(*product).lowering) : nullptr;
  if (!rule || product->operands.size() != 2) return {};
  if (auto found = uses.find(product->result()); found == uses.end() || found->second != 1) return {};
  op::Contraction dims = (**rule)(*product);
  Value *l = product->operand(0), *r = product->operand(1);
  if (sums_along_memory(l, dims.lhs_contract) && !sums_along_memory(r, dims.rhs_contract)) return {};
  auto batch = static_cast<std::int64_t>(dims.lhs_batch.size()), sums = static_cast<std::int64_t>(dims.lhs_contract.size());
  std::int64_t rows = l->rank() - batch - sums, columns = r->rank() - batch - sums;
  const Ints& permutation = transpose.attr<Ints>("permutation");
  for (std::int64_t i = 0; i < batch + rows + columns; ++i) {
    std::int64_t from = i < batch ? i : i < batch + columns ? i + rows : i - columns;
    if (permutation[static_cast<std::size_t>(i)] != from) return {};
  }
  op::DotDims exchanged{as_ints(dims.rhs_batch), as_ints(dims.lhs_batch), as_ints(dims.rhs_contract), as_ints(dims.lhs_contract)};
  return {op::dot_general(b, r, l, exchanged, product->result()->dtype())};
}

}  // namespace

bool turn_products(Block& block) {
  const Counts uses = uses_in(block);
  return rewrite(block, [&](Builder& b, const Op& op) { return op.name() == "stablehlo.transpose" ? turned(b, op, uses) : ir::Values(); });
}

}  // namespace strata::transform
