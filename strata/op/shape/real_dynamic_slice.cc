// real_dynamic_slice: slice between bounds that operands hold. Deprecated by dynamic_slice, and by
// slice where they are known.
//
// Contract (StableHLO, real_dynamic_slice): operand, start_indices, limit_indices, strides
// (integers of rank 1, one type).
//   (C1) the result has the operand's element type; (C2) and its rank; (C3) the bounds have an
//   entry per dimension.
#include <algorithm>

#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "real_dynamic_slice";
  expect_operands(self, op.operands, 4);
  expect_element_type(op, "C1");
  const Type& in = op.operand(0)->type();
  if (op.result()->rank() != in.rank())
    throw Error(self, "a slice of {} is no {} (C2)", in.to_string(),
                op.result()->type().to_string());
  for (int i = 1; i < 4; ++i)
    expect_shape_operand(self, "each of start_indices, limit_indices and strides (C3)",
                         op.operand(i), in.rank());
}

/// How far the slice reaches from its start, where the limit is the start and a constant.
std::optional<Ints> reach(const Value* start, const Value* limit) {
  const Op* sum = limit->op();
  if (sum == nullptr || sum->name() != "stablehlo.add") return std::nullopt;
  for (int i : {0, 1})
    if (sum->operand(i) == start) return known_integers(sum->operand(1 - i));
  return std::nullopt;
}

Values starts_of(Builder& b, Value* list, std::int64_t rank) {
  Values out;
  for (std::int64_t d = 0; d < rank; ++d)
    out.push_back(reshape(b, slice(b, list, {d}, {d + 1}), Shape{}));
  return out;
}

/// A slice that reaches so far from a start that is not known: JAX writes slices of loops over open
/// dimensions so. The start is such that the slice is inside.
Value* slice_that_reaches(Builder& b, const Op& op, std::span<Value* const> operands,
                          const Ints& far) {
  const Ints strides = expect_known("real_dynamic_slice", "the slice", operands[3]);
  const std::int64_t rank = op.result()->rank();
  for (std::int64_t d = 0; d < rank; ++d) {
    auto i = static_cast<std::size_t>(d);
    if (far[i] < 0 || far[i] > operands[0]->shape()[static_cast<int>(d)] || strides[i] < 1)
      throw Error("real_dynamic_slice", "{} elements by steps of {} of dimension {} of {}", far[i],
                  strides[i], d, operands[0]->type().to_string());
  }
  Value* out = dynamic_slice(b, operands[0], starts_of(b, operands[1], rank), far);
  const bool whole =
      std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 1; });
  return whole ? out : slice(b, out, Ints(far.size(), 0), far, strides);
}

/// Bounds that are not known leave the sizes to the stated result; then steps must be known to
/// be 1.
Value* slice_of_stated_size(Builder& b, const Op& op, std::span<Value* const> operands) {
  Ints strides = expect_known("real_dynamic_slice", "the slice", operands[3]);
  bool plain = op.result()->shape().is_static();
  for (std::int64_t s : strides) plain &= s == 1;
  for (std::size_t i : {1, 2})
    if (!plain) expect_known("real_dynamic_slice", "the slice", operands[i]);
  return dynamic_slice(b, operands[0], starts_of(b, operands[1], op.result()->rank()),
                       op.result()->shape().sizes());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  std::optional<Ints> start = known_integers(operands[1]), limit = known_integers(operands[2]),
                      strides = known_integers(operands[3]);
  const std::optional<Ints> far = start ? std::nullopt : reach(operands[1], operands[2]);
  if (!far && (!start || !limit || !strides)) return {slice_of_stated_size(b, op, operands)};
  Value* out = far ? slice_that_reaches(b, op, operands, *far)
                   : slice(b, operands[0], *start, *limit, *strides);
  if (!may_equal(out->shape(), op.result()->shape()))
    throw Error("real_dynamic_slice", "the result is {}, but the bounds give {}",
                op.result()->type().to_string(), out->type().to_string());
  return {out};
}

/// Of a stated size, with steps of 1, it may start anywhere.
std::vector<int> needs(const Op& op) {
  std::optional<Ints> strides = known_integers(op.operand(3));
  bool plain = strides && op.result()->shape().is_static() &&
               std::all_of(strides->begin(), strides->end(), [](std::int64_t s) { return s == 1; });
  return plain ? std::vector<int>{} : std::vector{1, 2, 3};
}

}  // namespace

const OpDef& real_dynamic_slice_def() {
  static const OpDef def = dynamic(
      {.name = "stablehlo.real_dynamic_slice",
       .summary = "a slice between bounds that operands hold (StableHLO, real_dynamic_slice)",
       .verify = verify,
       .decompose = decompose,
       .needs = needs,
       .text = &ir::formats::functional});
  return def;
}

}  // namespace strata::op
