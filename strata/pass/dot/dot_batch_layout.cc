#include "strata/pass/dot/dot_batch_layout.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/kind.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/data_movement/transpose_patterns.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

constexpr std::int64_t kFewest = 4, kFewestElements = 1 << 12;

bool has(const std::vector<int>& dims, int d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

bool is_long_batch(const Value* v, int d, const std::vector<int>& batch) {
  return d >= 0 && has(batch, d) && v->shape()[d] >= kFewest;
}

/// The operand with its batch first, then `second`, then `third`.
Value* batch_first(Builder& b, Value* v, const std::vector<int>& batch,
                   const std::vector<int>& second, const std::vector<int>& third) {
  Ints permutation(batch.begin(), batch.end());
  permutation.insert(permutation.end(), second.begin(), second.end());
  permutation.insert(permutation.end(), third.begin(), third.end());
  return op::transpose(b, v, permutation);
}

Ints numbers(std::size_t from, std::size_t count) {
  Ints out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::int64_t>(from + i));
  return out;
}

/// The operand with a dimension of its batch last; `batch` and `contract` name its dimensions as
/// they are then.
Value* batch_last(Builder& b, Value* v, int last, Ints& batch, Ints& contract) {
  Ints permutation;
  for (std::int64_t d = 0; d < v->rank(); ++d)
    if (d != last) permutation.push_back(d);
  permutation.push_back(last);
  for (Ints* dims : {&batch, &contract})
    for (std::int64_t& d : *dims) d = d == last ? v->rank() - 1 : d - (d > last);
  return op::transpose(b, v, permutation);
}

/// Of two batches that are last in one operand each, the smaller operand takes the one that is last
/// in the other, if that fills lanes whose terms stay in a cache.
ir::Values with_one_batch_last(Builder& b, const Op& op, const op::Contraction& c,
                               op::DotDims dims) {
  constexpr std::int64_t kLanes = 16,
                         kMostTerms = 8192;  // as compile/kernel/dot/batch_vectorized_dot.cc asks
  Value *l = op.operand(0), *r = op.operand(1);
  const bool left_stays = l->shape().count() >= r->shape().count();
  Value*& moved = left_stays ? r : l;
  const Value* stays = left_stays ? l : r;
  const std::vector<int>&batch = left_stays ? c.lhs_batch : c.rhs_batch,
        &moved_batch = left_stays ? c.rhs_batch : c.lhs_batch;
  const int last = stays->rank() - 1;
  const auto found = std::find(batch.begin(), batch.end(), last);
  if (found == batch.end() || along_memory(stays) != last || stays->shape()[last] < kLanes ||
      moved->shape().count() < kFewestElements)
    return {};
  const int place = moved_batch[static_cast<std::size_t>(found - batch.begin())];
  std::int64_t terms = 1, each = 1;
  for (int d : c.lhs_contract) terms *= l->shape()[d];
  for (int d : batch) each *= stays->shape()[d];
  if (place == moved->rank() - 1 || (l->shape().count() + r->shape().count()) / each > kMostTerms ||
      terms == 0)
    return {};
  moved = left_stays ? batch_last(b, moved, place, dims.rhs_batch, dims.rhs_contract)
                     : batch_last(b, moved, place, dims.lhs_batch, dims.lhs_contract);
  return {op::product_like(b, op, l, r, dims)};
}

ir::Values said_anew(Builder& b, const Op& op) {
  if (!op::is_contraction(op) || op.operands.size() != 2 || !op::kind::dot_general(op) ||
      !op.result()->shape().is_static())
    return {};
  for (const Value* v : op.operands)
    if (!v->shape().is_static() || is_complex(v->dtype())) return {};
  Value *l = op.operand(0), *r = op.operand(1);
  const op::Contraction c = op::contraction_of(op);
  op::DotDims dims{Ints(c.lhs_batch.begin(), c.lhs_batch.end()),
                   Ints(c.rhs_batch.begin(), c.rhs_batch.end()),
                   Ints(c.lhs_contract.begin(), c.lhs_contract.end()),
                   Ints(c.rhs_contract.begin(), c.rhs_contract.end())};
  const bool left = is_long_batch(l, along_memory(l), c.lhs_batch),
             right = is_long_batch(r, along_memory(r), c.rhs_batch);
  if (left && right) return with_one_batch_last(b, op, c, dims);
  if (left == right || (left ? l : r)->shape().count() < kFewestElements ||
      is_batch_moved_outermost(op, left ? 0 : 1))
    return {};
  const std::size_t batch = c.lhs_batch.size(), sums = c.lhs_contract.size();
  if (left) {
    const std::vector<int> free = op::free_dims(l->rank(), c.lhs_batch, c.lhs_contract);
    l = batch_first(b, l, c.lhs_batch, free, c.lhs_contract);
    dims.lhs_batch = numbers(0, batch), dims.lhs_contract = numbers(batch + free.size(), sums);
  } else {
    r = batch_first(b, r, c.rhs_batch, c.rhs_contract,
                    op::free_dims(r->rank(), c.rhs_batch, c.rhs_contract));
    dims.rhs_batch = numbers(0, batch), dims.rhs_contract = numbers(batch, sums);
  }
  return {op::product_like(b, op, l, r, dims)};
}

}  // namespace

bool move_dot_batches_outermost(ir::Block& block) { return rewrite(block, said_anew); }

bool is_batch_moved_outermost(const Op& product, int i) {
  const Value* v = product.operand(i);
  if (!op::is_contraction(product) || i > 1 || !op::kind::transpose(v->op())) return false;
  const op::Contraction c = op::contraction_of(product);
  const auto& batch = i == 0 ? c.lhs_batch : c.rhs_batch;
  return v->shape().count() >= kFewestElements && is_long_batch(v, along_memory(v), batch) &&
         along_memory(v) != last_dim(v->shape());
}

}  // namespace strata::pass
