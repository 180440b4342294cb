// strata.sort, strata.argsort: each row (the last dimension) in order, and where its elements
// stood, i32: what sorts by keys become (sort_key.h). Stable.
//
// Contract: one operand, of a dimension at least; attributes `descending` and `order`: "total"
// (floats in total order; integers and booleans know no other), "numbers" (the zeros are equal, all
// NaN are equal and above the rest), "ieee" (by `<`, where no NaN is before or behind anything, so
// that its place is what merging makes of it: sort.h); of argsort `keep`, where only so many of the
// first are wanted.
#include <limits>

#include "strata/loop/kernel/native.h"
#include "strata/loop/kernel/sort_order.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"
#include "strata/op/sort/sort.h"
#include "strata/op/sort/sort_key.h"

namespace strata::op {
namespace {

using loop::sort::Order;

bool descending(const Op& op) { return op.attr<bool>("descending"); }
std::int64_t length(const Op& op) { return op.operand(0)->shape()[op.operand(0)->rank() - 1]; }

std::int64_t kept(const Op& op) { return op.attrs.get_or<std::int64_t>("keep", length(op)); }

std::optional<Order> order_of(DType dtype, const std::string& name) {
  if (!is_float(dtype)) return name == "total" ? std::optional(Order::bits) : std::nullopt;
  if (name == "total") return Order::total;
  if (name == "numbers") return Order::numbers;
  if (name == "ieee") return Order::ieee;
  return std::nullopt;
}

void expect_rows(const char* self, std::span<Value* const> operands, const Attrs& attrs) {
  expect_operands(self, operands, 1);
  const Type& x = operands[0]->type();
  if (!x.is_tensor() || x.rank() == 0 || !loop::is_loop_dtype(x.dtype()))
    throw Error(self, "there are no rows to sort in {}", x.to_string());
  const auto& order = expect_attr<std::string>(self, attrs, "order");
  if (!order_of(x.dtype(), order)) throw Error(self, "order {} of {}", order, x.to_string());
  expect_attr<bool>(self, attrs, "descending");
  const Dim& n = x.shape().dim(x.rank() - 1);
  if (n.is_static() && n.size() > std::numeric_limits<std::int32_t>::max())
    throw Error(self, "a row of {}", n.size());
}

std::vector<Type> infer_sort(std::span<Value* const> operands, const Attrs& attrs,
                             std::span<const std::unique_ptr<Block>>) {
  expect_rows("sort", operands, attrs);
  return {operands[0]->type()};
}
std::vector<Type> infer_argsort(std::span<Value* const> operands, const Attrs& attrs,
                                std::span<const std::unique_ptr<Block>>) {
  expect_rows("argsort", operands, attrs);
  std::vector<Dim> dims = operands[0]->shape().dims();
  std::int64_t keep = attrs.get_or<std::int64_t>("keep", 0);
  if (keep < 0 || (dims.back().is_static() && keep > dims.back().size()))
    throw Error("argsort", "the first {} of {}", keep, operands[0]->type().to_string());
  if (attrs.has("keep")) dims.back() = Dim(keep);
  return {Type(DType::i32, Shape(std::move(dims)))};
}

// ---- by the comparator -------------------------------------------------------------------------

Values decompose_sort(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* x = operands[0];
  return sort(b, {x}, x->rank() - 1,
              comparator_of({x->dtype()}, op.attr<std::string>("order"), descending(op)));
}
Values decompose_argsort(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* x = operands[0];
  Value* numbers = iota(b, Type(DType::i32, x->shape()), x->rank() - 1);
  Value* sorted = sort(
      b, {x, numbers}, x->rank() - 1,
      comparator_of({x->dtype(), DType::i32}, op.attr<std::string>("order"), descending(op)))[1];
  return {op.attrs.has("keep") ? slice_dim(b, sorted, x->rank() - 1, 0, kept(op)) : sorted};
}

// ---- rules -------------------------------------------------------------------------------------

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t) {
  return {b.create(op.info(), {operands[0]}, op.attrs).results(), {batched[0]}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int rank = op.operand(0)->rank();
  for (int d = 0; d < rank; ++d) {
    int f = t.factor(d == rank - 1 ? 'n' : 'p', op.operand(0)->shape().dim(d).bound());
    t.operand(0, d, f), t.result(0, d,
                                 d == rank - 1 && op.attrs.has("keep")
                                     ? t.factor('n', op.result()->shape().dim(d).bound())
                                     : f);
  }
  return t.take();
}

Work cost(const Op& op) { return {elements(op) * 16, bytes_moved(op)}; }

// ---- lowering: loop/kernel/sort.cc -------------------------------------------------------------

const char* symbol_sort(const Op&) { return "strata_sort"; }
const char* symbol_argsort(const Op&) { return "strata_argsort"; }

std::int64_t rows(const Op& op) {
  return length(op) == 0 ? 0 : op.operand(0)->shape().count() / length(op);
}

/// Rows of a grid point: a call should have some work.
std::int64_t together(const Op& op) {
  constexpr std::int64_t kElements = 1 << 13;
  return std::max<std::int64_t>(1, kElements / std::max<std::int64_t>(1, length(op)));
}
std::int64_t grid(const Op& op) {
  return kept(op) == 0 ? 0 : (rows(op) + together(op) - 1) / together(op);
}

std::int64_t infinity(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 0x7f80;
    case DType::f16: return 0x7c00;
    case DType::f32: return 0x7f800000;
    case DType::f64: return 0x7ff0000000000000;
    default: return 0;
  }
}

std::vector<std::int64_t> params(const Op& op) {
  DType dtype = op.operand(0)->dtype();
  auto width = static_cast<std::int64_t>(byte_width(dtype));
  std::uint64_t sign = std::uint64_t{1} << (8 * width - 1),
                turned = is_signed(dtype) && !is_float(dtype) ? sign : 0;
  if (descending(op)) turned ^= ~std::uint64_t{0};
  Order order = *order_of(dtype, op.attr<std::string>("order"));
  return {width,
          static_cast<std::int64_t>(order),
          static_cast<std::int64_t>(turned),
          infinity(dtype),
          length(op),
          rows(op),
          together(op),
          kept(op)};
}

}  // namespace

const OpDef& sort_rows_def() {
  static const OpDef d{
      .info = {.name = "strata.sort", .infer = infer_sort},
      .summary = "each row in order, by a key that is known",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = None{"the order depends on the elements; its tangent is a gather"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol_sort, grid, params},
      .decompose = decompose_sort,
  };
  return d;
}

const OpDef& argsort_rows_def() {
  static const OpDef d{
      .info = {.name = "strata.argsort", .infer = infer_argsort},
      .summary = "where the elements of each row stood before they were put in order",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"its result is integers, which have no tangents"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol_argsort, grid, params},
      .decompose = decompose_argsort,
  };
  return d;
}

}  // namespace strata::op
