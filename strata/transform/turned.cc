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

/// One operand of a product; of a transposed array the array itself, where its free dimensions stay in order.
struct Side {
  Value* value;
  std::vector<int> batch, contract;

  Side(Value* v, std::vector<int> batch_dims, std::vector<int> contract_dims)
      : value(v), batch(std::move(batch_dims)), contract(std::move(contract_dims)) {
    const Op* transpose = value->op();
    if (!transpose || transpose->name() != "stablehlo.transpose") return;
    const Ints& permutation = transpose->attr<Ints>("permutation");
    std::int64_t last = -1;
    for (int d = 0; d < value->rank(); ++d) {
      if (std::count(batch.begin(), batch.end(), d) || std::count(contract.begin(), contract.end(), d)) continue;
      if (permutation[static_cast<std::size_t>(d)] < last) return;
      last = permutation[static_cast<std::size_t>(d)];
    }
    for (std::vector<int>* dims : {&batch, &contract})
      for (int& d : *dims) d = static_cast<int>(permutation[static_cast<std::size_t>(d)]);
    value = transpose->operand(0);
  }
};

/// The product with its sides exchanged and what is left of the permutation, if that lays the rows of the product along memory.
ir::Values turned(Builder& b, const Op& transpose, const Counts& uses) {
  const Op* product = transpose.operand(0)->op();
  using Rule = op::Contraction (*)(const Op&);
  const Rule* rule = product ? std::get_if<Rule>(&op::def(*product).lowering) : nullptr;
  if (!rule || product->operands.size() != 2) return {};
  if (auto found = uses.find(product->result()); found == uses.end() || found->second != 1) return {};
  op::Contraction dims = (**rule)(*product);
  const Side l(product->operand(0), dims.lhs_batch, dims.lhs_contract), r(product->operand(1), dims.rhs_batch, dims.rhs_contract);
  if (sums_along_memory(l.value, l.contract) && !sums_along_memory(r.value, r.contract)) return {};
  auto batch = static_cast<std::int64_t>(dims.lhs_batch.size()), sums = static_cast<std::int64_t>(dims.lhs_contract.size());
  std::int64_t rows = l.value->rank() - batch - sums, columns = r.value->rank() - batch - sums;
  const Ints& permutation = transpose.attr<Ints>("permutation");
  if (permutation.empty() || permutation.back() != batch + rows - 1 || rows == 0) return {};
  Ints rest;  // of the permutation, behind the exchange
  for (std::int64_t from : permutation) rest.push_back(from < batch ? from : from < batch + rows ? from + columns : from - rows);
  op::DotDims exchanged{as_ints(r.batch), as_ints(l.batch), as_ints(r.contract), as_ints(l.contract)};
  return {op::transpose(b, op::dot_general(b, r.value, l.value, exchanged, product->result()->dtype()), rest)};
}

}  // namespace

bool turn_products(Block& block) {
  const Counts uses = uses_in(block);
  return rewrite(block, [&](Builder& b, const Op& op) { return op.name() == "stablehlo.transpose" ? turned(b, op, uses) : ir::Values(); });
}

}  // namespace strata::transform
