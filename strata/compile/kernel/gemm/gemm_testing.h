// Products of two arrays whose neighbours in k stand side by side or not. For tests.
#pragma once

#include "strata/compile/processor_testing.h"

namespace strata::compile::testing {

struct Product {
  std::int64_t m, n, k;
  bool left_along = true, right_along = false;  // whether neighbours in k are neighbours in memory
  DType dtype = DType::f32;
  bool turned = false;  // the result's rows of 10 change places with their rows

  std::string text() const {
    return fmt::format("{} x {} over {}, {}, along {} {}", m, n, k, name(dtype), left_along,
                       right_along);
  }

  /// The product of two new arguments of the block.
  ir::Value* add_to(ir::Block& block, ir::Builder& b) const {
    ir::Value* l = block.add_argument(Type(dtype, left_along ? Shape{m, k} : Shape{k, m}));
    ir::Value* r = block.add_argument(Type(dtype, right_along ? Shape{n, k} : Shape{k, n}));
    const bool is_short = is_integer(dtype) && byte_width(dtype) < 4;
    ir::Value* y = op::dot_general(b, l, r, {{}, {}, {left_along ? 1 : 0}, {right_along ? 1 : 0}},
                                   is_short ? DType::i32 : dtype);
    return turned ? op::transpose(b, op::reshape(b, y, {m / 10, 10, n}), {1, 0, 2}) : y;
  }
};

/// The product's plan for a processor, by interpreted kernels, gives the reference's bits.
inline void expect_references_bits(const char* processor, const Product& product) {
  SCOPED_TRACE(processor + (": " + product.text()));
  ir::Block block;
  ir::Builder b(block);
  block.results = {product.add_to(block, b)};
  const std::vector<Literal> given = arguments_of(block, 3);
  expect_same_bits({run_as_on(processor, block, given)}, op::evaluate(block, given), processor);
}

/// Of operands of any shapes.
struct GeneralDot {
  Shape lhs, rhs;
  op::DotDims dims;
  DType dtype = DType::f32;

  /// The product of two new arguments of the block.
  ir::Value* add_to(ir::Block& block, ir::Builder& b) const {
    ir::Value *l = block.add_argument(Type(dtype, lhs)), *r = block.add_argument(Type(dtype, rhs));
    return op::dot_general(b, l, r, dims, dtype == DType::i8 ? DType::i32 : dtype);
  }
};

}  // namespace strata::compile::testing
