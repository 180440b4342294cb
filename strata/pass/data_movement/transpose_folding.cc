#include "strata/pass/data_movement/transpose_folding.h"

#include <algorithm>

#include "strata/ir/uses.h"
#include "strata/op/build.h"
#include "strata/op/def.h"
#include "strata/op/kind.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// Whether neighbours in memory are neighbours in the sum: kernels lay such a right operand out
/// anew, at a price.
bool sums_along_memory(const Value* v, const std::vector<int>& contract) {
  return std::find(contract.begin(), contract.end(), v->rank() - 1) != contract.end();
}

/// The product with its sides exchanged and what is left of the permutation, if that lays the rows
/// of the product along memory.
ir::Values turned(Builder& b, const Op& transpose, const ir::Uses& uses) {
  const Op* product = transpose.operand(0)->op();
  using Rule = op::Contraction (*)(const Op&);
  const Rule* rule = product ? std::get_if<Rule>(&op::def(*product).lowering) : nullptr;
  if (!rule || product->operands.size() != 2) return {};
  if (uses.count(product->result()) != 1) return {};
  op::Contraction dims = (**rule)(*product);
  const DotOperand l(product->operand(0), dims.lhs_batch, dims.lhs_contract),
      r(product->operand(1), dims.rhs_batch, dims.rhs_contract);
  if (sums_along_memory(l.value, l.contract) && !sums_along_memory(r.value, r.contract)) return {};
  auto batch = static_cast<std::int64_t>(dims.lhs_batch.size()),
       sums = static_cast<std::int64_t>(dims.lhs_contract.size());
  std::int64_t rows = l.value->rank() - batch - sums, columns = r.value->rank() - batch - sums;
  const Ints& permutation = transpose.attr<Ints>("permutation");
  if (permutation.empty() || permutation.back() != batch + rows - 1 || rows == 0) return {};
  Ints rest;  // of the permutation, behind the exchange
  for (std::int64_t from : permutation)
    rest.push_back(from < batch ? from : from < batch + rows ? from + columns : from - rows);
  return {op::transpose(b, make_dot(b, r, l, *product), rest)};
}

}  // namespace

bool fold_transposes_into_dots(Block& block) {
  const ir::Uses uses(block);
  return rewrite(block, [&](Builder& b, const Op& op) {
    return op::kind::transpose(op) ? turned(b, op, uses) : ir::Values();
  });
}

}  // namespace strata::pass
