// Rows of transposed arrays: which of them are brought together, and the reference's bits.
#include "strata/compile/kernel/row/transposed_rows.h"

#include <gtest/gtest.h>

#include <functional>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;

Value* along_last(Builder& b, Value* reduced, Value* x) {
  Ints dims;
  for (int d = 0; d + 1 < x->rank(); ++d) dims.push_back(d);
  return op::broadcast_in_dim(b, reduced, x->shape(), dims);
}
Ints last(Value* x) { return {x->rank() - 1}; }
Value* softmax(Builder& b, Value* x) {
  Value* e = op::exp(b, op::sub(b, x, along_last(b, op::reduce_max(b, x, last(x)), x)));
  return op::div(b, e, along_last(b, op::reduce_sum(b, e, last(x)), x));
}
Value* centred(Builder& b, Value* x) {
  return op::sub(b, x, along_last(b, op::reduce_sum(b, x, last(x)), x));
}

struct Case {
  const char* name;
  Shape array;
  Ints order;
  std::function<Value*(Builder&, Value*)> make;
  bool turned;
};

const Case kCases[] = {
    {"softmax", {40, 48}, {1, 0}, softmax, true},
    {"rows that are left", {40, 53}, {1, 0}, softmax, true},
    {"sixteen abreast", {100, 80}, {1, 0}, softmax, true},
    {"a batch that blocks cross", {3, 37, 21}, {0, 2, 1}, softmax, true},
    {"images", {2, 30, 8, 9}, {0, 2, 3, 1}, centred, true},
    {"two of them",
     {40, 48},
     {1, 0},
     [](Builder& b, Value* x) { return op::mul(b, softmax(b, x), op::exp(b, x)); },
     true},
    {"few rows", {40, 9}, {1, 0}, softmax, false},
    {"short rows", {7, 900}, {1, 0}, softmax, false},
    {"as they lie", {48, 40}, {0, 1}, softmax, false},
    {"long rows, by lines and tiles", {9000, 48}, {1, 0}, centred, false},
    {"also read from the other end",
     {40, 48},
     {1, 0},
     [](Builder& b, Value* x) { return op::add(b, softmax(b, x), op::reverse(b, x, {1})); },
     true},
    {"also read from the last row on",
     {40, 48},
     {1, 0},
     [](Builder& b, Value* x) { return op::add(b, softmax(b, x), op::reverse(b, x, {0})); },
     false},
};

TEST(TransposedRows, HaveTheReferencesBits) {
  for (const Case& c : kCases)
    for (DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      SCOPED_TRACE(std::string(c.name) + " of " + std::string(name(dtype)));
      Block block;
      Builder b(block);
      Value* x = op::transpose(b, block.add_argument(Type(dtype, c.array)), c.order);
      block.results = {c.make(b, x)};
      std::string text;
      for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
        text += loop::print(*kernel);
      EXPECT_EQ(text.find("@lanes.low") != std::string::npos &&
                    text.find("transpose_tiling") == std::string::npos,
                c.turned)
          << text;
      testing::expect_compiled_equals_reference(block);
    }
}

}  // namespace
}  // namespace strata::compile
