// get_dimension_size, set_dimension_size: the size of a dimension as a number, and an array cut to
// a size that is one.
//
// Contract (spec: get_dimension_size): operand; attribute `dimension`; the result is a scalar of
// i32.
//   (C1) dimension is within the operand.
// Contract (StableHLO, set_dimension_size): operand, size (a scalar of i32); attribute `dimension`.
//   (C1) the result has the operand's element type and rank; (C2) dimension is within the
//   operand.
// The first `size` elements along the dimension stay.
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

int dimension_of(const Op& op) {
  std::string_view self = short_name(op.name());
  std::int64_t d = expect_attr<std::int64_t>(self, op.attrs, "dimension");
  if (d < 0 || d >= op.operand(0)->rank())
    throw Error(std::string(self), "dimension {} is outside of {} ({})", d,
                op.operand(0)->type().to_string(), self[0] == 'g' ? "C1" : "C2");
  return static_cast<int>(d);
}

void verify_get(const Op& op) {
  expect_operands("get_dimension_size", op.operands, 1);
  dimension_of(op);
  if (!(op.result()->type() == Type::scalar(DType::i32)))
    throw Error("get_dimension_size", "the result is tensor<i32>, got {}",
                op.result()->type().to_string());
}

/// In a program whose shapes are not static it stays itself.
Values decompose_get(Builder& b, const Op& op, std::span<Value* const> operands) {
  const Dim& dim = operands[0]->shape().dim(dimension_of(op));
  if (!dim.is_static())
    throw Error("get_dimension_size", "dimension {} of {} is not known before the program runs",
                dimension_of(op), operands[0]->type().to_string())
        .unsupported();
  if (dim.size() > INT32_MAX)
    throw Error("get_dimension_size", "{} is more than a tensor<i32> holds", dim.size());
  return {constant(b, Literal::scalar(static_cast<std::int32_t>(dim.size())))};
}

void verify_set(const Op& op) {
  const char* self = "set_dimension_size";
  expect_operands(self, op.operands, 2);
  expect_element_type(op, "C1");
  if (op.result()->rank() != op.operand(0)->rank())
    throw Error(self, "the result has the operand's rank, got {} and {} (C1)",
                op.operand(0)->type().to_string(), op.result()->type().to_string());
  if (!(op.operand(1)->type() == Type::scalar(DType::i32)))
    throw Error(self, "the size is tensor<i32>, got {} (I2)", op.operand(1)->type().to_string());
  dimension_of(op);
}

Values decompose_set(Builder& b, const Op& op, std::span<Value* const> operands) {
  int d = dimension_of(op);
  std::int64_t size = expect_known("set_dimension_size", "the size", operands[1])[0],
               have = operands[0]->shape()[d];
  if (size < 0 || size > have)
    throw Error("set_dimension_size", "dimension {} of {} cannot have {} elements", d,
                operands[0]->type().to_string(), size);
  return {size == have ? operands[0] : slice_dim(b, operands[0], d, 0, size)};
}

std::vector<int> needs(const Op&) { return {1}; }

}  // namespace

std::span<const OpDef> dimension_size_defs() {
  static const OpDef rows[] = {
      dynamic({.name = "stablehlo.get_dimension_size",
               .summary = "the size of a dimension as a number (spec: get_dimension_size)",
               .verify = verify_get,
               .decompose = decompose_get,
               .text = &ir::formats::get_dimension_size,
               .quantized = quantized::as_stated}),
      dynamic({.name = "stablehlo.set_dimension_size",
               .summary = "the first elements along a dimension, as many as an operand says "
                          "(StableHLO, set_dimension_size)",
               .verify = verify_set,
               .decompose = decompose_set,
               .needs = needs,
               .text = &ir::formats::set_dimension_size}),
  };
  return rows;
}

}  // namespace strata::op
