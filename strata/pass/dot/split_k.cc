#include "strata/pass/dot/split_k.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/reduce.h"
#include "strata/pass/rewrite.h"

namespace strata::pass {
namespace {

using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;

/// One operand of a product as [batch, free, terms].
struct Side {
  Value* value;
  std::vector<Dim> kept;  // those of the batch and the free ones
  std::int64_t batches;

  Side(Builder& b, Value* v, const std::vector<int>& batch, const std::vector<int>& contract)
      : value(v), batches(static_cast<std::int64_t>(batch.size())) {
    Ints order(batch.begin(), batch.end());
    for (int d : op::free_dims(v->rank(), batch, contract)) order.push_back(d);
    for (std::int64_t d : order) kept.push_back(v->shape().dim(static_cast<int>(d)));
    std::int64_t terms = 1;
    for (int d : contract) {
      order.push_back(d);
      terms *= v->shape()[d];
    }
    if (!std::is_sorted(order.begin(), order.end())) value = op::transpose(b, value, order);
    value = op::reshape(b, value, with({terms}));
  }
  Shape with(std::vector<Dim> terms) const {
    std::vector<Dim> dims = kept;
    dims.insert(dims.end(), terms.begin(), terms.end());
    return Shape(dims);
  }
  int last() const { return static_cast<int>(kept.size()); }
  Value* terms(Builder& b, std::int64_t first, std::int64_t end) const {
    return op::slice_dim(b, value, last(), first, end);
  }
};

Ints counted(std::int64_t n) {
  Ints out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}

ir::Values by_pieces(Builder& b, const Op& op) {
  if (!op::is_contraction(op) || op.operands.size() != 2 || !op.result()->shape().is_static())
    return {};
  for (const Value* v : op.operands)
    if (!v->shape().is_static()) return {};
  const auto pieces = op::sum_pieces(op);
  if (!pieces) return {};
  const op::Contraction c = op::contraction_of(op);
  const Side l(b, op.operand(0), c.lhs_batch, c.lhs_contract),
      r(b, op.operand(1), c.rhs_batch, c.rhs_contract);
  const DType sum_type = op::product_accumulator(op), wide = op::pieces_type(sum_type);
  constexpr std::int64_t kLength = op::SumPieces::kLength;
  const std::int64_t whole = pieces->count * kLength;
  auto side = [&](const Side& s) {
    return op::reshape(b, s.terms(b, 0, whole), s.with({pieces->count, kLength}));
  };
  const Ints batch = counted(l.batches);
  auto behind =
      [&](const Side& s) {  // the pieces come first, so that their sums are added up across memory
        Ints out{s.last()};
        out.insert(out.end(), batch.begin(), batch.end());
        return out;
      };
  auto product = [&](Value* x, Value* y, const op::DotDims& dims) {
    Value* v = op::dot_general(b, x, y, dims, sum_type);
    if (is_float(sum_type)) op::set_chains(*v->op(), {});
    return op::convert(b, v, wide);
  };
  Value* products =
      product(side(l), side(r), {behind(l), behind(r), {l.last() + 1}, {r.last() + 1}});
  Value* zero = op::constant(b, op::initial_value(op::Combiner::add, wide));
  Value* sum = op::reshape(b, op::reduce_in_sequence(b, products, zero, op::Combiner::add),
                           op.result()->shape());
  if (pieces->rest) {
    const std::int64_t all = whole + pieces->rest;
    sum = op::add(b, sum,
                  product(l.terms(b, whole, all), r.terms(b, whole, all),
                          {batch, batch, {l.last()}, {r.last()}}));
  }
  return {op::convert(b, op::convert(b, sum, sum_type), op.result()->dtype())};
}

}  // namespace

bool split_k(ir::Block& block) { return rewrite(block, by_pieces); }

}  // namespace strata::pass
