// Rows that are where numbers say: fetched before they are read, and the reference's bits.
#include "strata/compile/kernel/row/row_kernel.h"

#include <functional>

#include "strata/compile/compile_testing.h"
#include "strata/op/index/indexing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

/// Numbers far apart, of small ones.
Value* spread(Builder& b, Value* small) { return op::mul(b, small, op::full_like(b, small, 997)); }
/// Rows of x by their numbers.
Value* rows_of(Builder& b, Value* x, Value* numbers) {
  return op::gather(b, x, spread(b, numbers),
                    {.window = {1}, .dropped = {0}, .index_map = {0}, .index_vector = 1},
                    {1, x->shape()[1]});
}

/// An element of x for each number, for all elements of a row.
Value* beside_rows(Builder& b, Value* x, Value* numbers, std::int64_t length) {
  Value* flat = op::reshape(b, x, Shape{x->shape().count()});
  Value* index = op::reshape(b, spread(b, numbers), Shape{numbers->shape()[0], 1});
  return op::broadcast_in_dim(
      b, op::gather(b, flat, index, {.dropped = {0}, .index_map = {0}, .index_vector = 1}, {1}),
      Shape{numbers->shape()[0], length}, {0});
}

struct Case {
  const char* name;
  Shape array, numbers;
  std::function<Value*(Builder&, Value*, Value*)> make;
  bool fetches;
};

const Case kCases[] = {
    {"rows", {8192, 64}, {1000}, rows_of, true},
    {"short rows", {32768, 8}, {999}, rows_of, true},
    {"rows that are computed with",
     {8191, 65},
     {1000},
     [](Builder& b, Value* x, Value* n) { return op::tanh(b, rows_of(b, x, n)); },
     true},
    {"rows that are summed",
     {8192, 64},
     {1000},
     [](Builder& b, Value* x, Value* n) { return op::reduce_sum(b, rows_of(b, x, n), {1}); },
     true},
    {"rows of an array that the caches hold", {512, 64}, {1000}, rows_of, false},
    {"rows with a margin, moved by numbers",
     {8192, 64},
     {1000, 2},
     [](Builder& b, Value* x, Value* n) {
       Value* row = op::reshape(b, op::slice(b, n, {0, 0}, {1000, 1}, {1, 1}), Shape{1000});
       Value* wide =
           op::pad(b, rows_of(b, x, row), op::scalar(b, DType::f32, 0), {0, 2}, {0, 2}, {0, 0});
       return op::gather(b, wide, n,
                         {.window = {1}, .dropped = {0}, .index_map = {0, 1}, .index_vector = 1},
                         {1, 64});
     },
     false},
    {"elements",
     {8192, 64},
     {100, 64},
     [](Builder& b, Value* x, Value* n) {
       return op::gather(b, op::reshape(b, x, Shape{8192 * 64}), spread(b, n),
                         {.dropped = {0}, .index_map = {0}, .index_vector = 2}, {1});
     },
     false},
    {"rows and an element for each",
     {8192, 64},
     {1000},
     [](Builder& b, Value* x, Value* n) {
       return op::mul(b, rows_of(b, x, n), beside_rows(b, x, n, 64));
     },
     true},
    {"an element for each row",
     {8192, 64},
     {8192},
     [](Builder& b, Value* x, Value* n) { return op::mul(b, x, beside_rows(b, x, n, 64)); },
     false},
    {"a slice",
     {8192, 64},
     {2},
     [](Builder& b, Value* x, Value* n) {
       auto start = [&](std::int64_t i) {
         return op::reshape(b, op::slice(b, n, {i}, {i + 1}, {1}), Shape{});
       };
       return op::dynamic_slice(b, x, {start(0), start(1)}, {1000, 60});
     },
     false}};

TEST(RowKernel, FetchesRowsThatLieWhereNumbersSay) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Block block;
    Value *x = block.add_argument(Type(DType::f32, c.array)),
          *n = block.add_argument(Type(DType::i32, c.numbers));
    Builder b(block);
    block.results = {c.make(b, x, n)};
    std::string text;
    for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
      text += loop::print(*kernel);
    EXPECT_EQ(text.find("fetch ") != std::string::npos, c.fetches) << text;
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
