// Reductions of arrays that are transposed before: by which kernel they go, and their bits. For
// tests.
#pragma once

#include "strata/compile/compile_testing.h"

namespace strata::compile::testing {

struct TransposedReduction {
  Shape array;
  ir::Ints order;  // the array is transposed so before; empty: not
  ir::Ints over;
  bool by_kernel;  // whether a sum uses the kernel under test
};

/// The sum and the greatest have the reference's bits, and a kernel of that name is among theirs or
/// not.
inline void expect_reduced(const TransposedReduction& c, DType dtype, const char* kernel,
                           bool by_kernel) {
  SCOPED_TRACE(
      fmt::format("{} of {} over {} dimensions", name(dtype), c.array.to_string(), c.over.size()));
  ir::Block block;
  ir::Builder b(block);
  ir::Value* x = block.add_argument(Type(dtype, c.array));
  if (!c.order.empty()) x = op::transpose(b, x, c.order);
  block.results = {op::reduce_sum(b, x, c.over), op::reduce_max(b, x, c.over)};
  std::string names;
  for (const auto& k : make_plan(*prepare(block), {}, testing::v3()).kernels)
    names += k->name + " ";
  EXPECT_EQ(names.find(kernel) != std::string::npos, by_kernel) << names;
  expect_compiled_equals_reference(block);
}

}  // namespace strata::compile::testing
