#include "strata/op/linalg/matrix_kernel.h"

#include <algorithm>

#include "strata/loop/kernel/native.h"

namespace strata::op {
namespace {

const Type& highest(const Op& op) {
  const Type* most = &op.operand(0)->type();
  for (Value* v : op.operands)
    if (v->rank() > most->rank()) most = &v->type();
  return *most;
}

std::int64_t grid(const Op& op) { return batch_count(highest(op).shape()); }

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Native& native = std::get<Native>(def(op).lowering);
  Literals out;
  std::vector<void*> buffers;
  for (const Literal& x : operands) buffers.push_back(const_cast<std::byte*>(x.data()));
  for (int i = 0; i < op.num_results(); ++i) out.emplace_back(op.result(i)->type());
  for (Literal& x : out) buffers.push_back(x.mutable_data());
  loop::run_native(native.symbol(op), std::move(buffers), native.params(op), native.grid(op));
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(batched_operand(b, operands[i], batched[i], size));
  Values results = b.create(op.info(), full, op.attrs).results();
  return {results, std::vector<bool>(results.size(), true)};
}

Work cost(const Op& op) {
  const Type& a = highest(op);
  double flops = 8;
  for (const Dim& d : a.shape().dims())
    flops *= static_cast<double>(std::max<std::int64_t>(d.bound(), 1));
  return {
      flops * static_cast<double>(std::max<std::int64_t>(a.shape().dim(a.rank() - 1).bound(), 1)),
      bytes_moved(op)};
}

}  // namespace

OpDef matrix_kernel(const MatrixKernel& kernel) {
  return {
      .info = {.name = kernel.name, .infer = kernel.infer},
      .summary = kernel.summary,
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = kernel.jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = kernel.transpose,
      .batch = batch,
      .shard = shard_matrices,
      .cost = cost,
      .lowering = Native{kernel.symbol, kernel.grid ? kernel.grid : grid, kernel.params},
  };
}

Factors shard_matrices(const Op& op) {
  FactorTable t(op);
  const Shape& shape = highest(op).shape();
  std::vector<int> shared;
  for (int d = 0; d < shape.rank() - 2; ++d) shared.push_back(t.factor('p', shape.dim(d).bound()));
  auto factor = [&](const Value* v, int d) {
    return d < static_cast<int>(shared.size()) ? shared[static_cast<std::size_t>(d)]
                                               : t.factor('n', v->shape().dim(d).bound());
  };
  for (int i = 0; i < static_cast<int>(op.operands.size()); ++i)
    for (int d = 0; d < op.operand(i)->rank(); ++d) t.operand(i, d, factor(op.operand(i), d));
  for (int i = 0; i < op.num_results(); ++i)
    for (int d = 0; d < op.result(i)->rank(); ++d) t.result(i, d, factor(op.result(i), d));
  return t.take();
}

const Type& expect_matrices(std::string_view op, const Value* operand, bool square) {
  const Type& a = operand->type();
  if (!a.is_tensor() || a.rank() < 2)
    throw Error(std::string(op), "takes matrices, got {}", a.to_string());
  factor_element(op, a.dtype());
  if (square && !may_equal(rows_of(a), columns_of(a)))
    throw Error(std::string(op), "the matrices must be square, got {}", a.to_string());
  return a;
}

Type matrices_like(const Type& a, std::initializer_list<Dim> last) {
  std::vector<Dim> dims(a.shape().dims().begin(), a.shape().dims().end() - 2);
  dims.insert(dims.end(), last);
  return a.with(Shape(std::move(dims)));
}

Dim rows_of(const Type& a) { return a.shape().dim(a.rank() - 2); }
Dim columns_of(const Type& a) { return a.shape().dim(a.rank() - 1); }
Dim least_of(const Type& a) {
  const Dim m = rows_of(a), n = columns_of(a);
  return m.is_static() && n.is_static() ? Dim(std::min(m.size(), n.size())) : Dim::unknown();
}
Dim less_one(const Dim& n) {
  return n.is_static() ? Dim(std::max<std::int64_t>(n.size() - 1, 0)) : Dim::unknown();
}

}  // namespace strata::op
