#include "strata/pass/data_movement/scatter_transpose_folding.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/index/scatter.h"
#include "strata/op/kind.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

/// Where these dimensions of a transposition's result stand in its operand; nothing where they are
/// in another order there.
Ints before(const Ints& permutation, const Ints& dims) {
  Ints out;
  for (std::int64_t d : dims) out.push_back(permutation[static_cast<std::size_t>(d)]);
  return std::is_sorted(out.begin(), out.end()) ? out : Ints();
}

Values by_lying(Builder& b, const Op& op) {
  if (!op::kind::scatter(op) || op::scatter_inputs(op) != 1) return {};
  const Op* turned = op::scatter_updates(op)->op();
  if (!turned || !op::kind::transpose(turned)) return {};
  const Ints& permutation = turned->attr<Ints>("permutation");
  op::IndexDims dims = op::scatter_dims(op.attrs);
  const Ints outer = dims.outer(op::scatter_updates(op)->rank());
  const Ints window = before(permutation, dims.window);
  if (window.size() != dims.window.size() || before(permutation, outer).size() != outer.size())
    return {};
  dims.window = window;
  Values operands(op.operands);
  operands[2] = turned->operand(0);
  return op::scatter_again(b, op, std::move(operands), dims).results();
}

}  // namespace

bool fold_transposes_into_scatters(Block& block) { return rewrite(block, by_lying); }

}  // namespace strata::pass
