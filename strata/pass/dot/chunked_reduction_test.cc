// Reductions over rows in parts are the whole, bit for bit: chunked_reduction.h against the
// reference evaluator's reduction.
#include "strata/pass/dot/chunked_reduction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/reduce/combiner.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Value;

Literal numbers(const Type& type) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set_number(
        i, std::sin(1.0 + static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 7)));
  return out;
}

struct Sum {
  Shape shape;
  Ints dims;
  std::int64_t parts;  // that rows may be in
};

/// The reduction whole, and in `parts` parts of its rows.
void expect_the_same(const Sum& sum, DType t, op::Combiner combiner) {
  SCOPED_TRACE(fmt::format("{} over {} by {}", Type(t, sum.shape).to_string(),
                           fmt::join(sum.dims, ","), op::name(combiner)));
  Block f;
  Builder b(f);
  Value *x = f.add_argument(Type(t, sum.shape)), *init = f.add_argument(Type(t, {}));
  Value* whole = op::reduce(b, x, init, sum.dims, combiner);
  const int d = static_cast<int>(sum.dims[0]);
  const std::int64_t parts = reduction_parts(*whole->op(), d), rows = sum.shape[d];
  EXPECT_EQ(parts, sum.parts);
  ASSERT_EQ(rows % parts, 0);
  ir::Values chunks;
  for (std::int64_t p = 0; p < parts; ++p)
    chunks.push_back(partial_reduction(
        b, *whole->op(), op::slice_dim(b, x, d, p * rows / parts, (p + 1) * rows / parts)));
  f.results = {whole,
               combine_partial_reductions(b, *whole->op(), op::concatenate(b, chunks, 0), init)};
  std::vector<Literal> got =
      op::evaluate(f, std::vector{numbers(x->type()), numbers(init->type())});
  EXPECT_TRUE(got[0].same_bits(got[1]));
}

TEST(RowSums, PartsAreTheWhole) {
  for (const Sum& sum :
       {Sum{{1024, 3}, {0}, 4}, Sum{{1, 512, 5}, {1}, 2}, Sum{{8, 64, 3}, {0, 1}, 2},
        Sum{{32, 1024}, {0, 1}, 8}, Sum{{4, 16, 128}, {0, 1, 2}, 2}, Sum{{8192}, {0}, 2},
        Sum{{512, 4, 2}, {0, 1}, 8}})
    for (DType t : {DType::f32, DType::bf16, DType::i32})
      for (op::Combiner combiner : {op::Combiner::add, op::Combiner::max, op::Combiner::mul})
        expect_the_same(sum, t, combiner);
}

TEST(RowSums, ManyChunksAreCombinedInOrder) {
  expect_the_same({{300 * 256, 2}, {0}, 300}, DType::f32, op::Combiner::add);
  expect_the_same({{512, 4096}, {0, 1}, 512}, DType::f32, op::Combiner::add);
}

TEST(RowSums, WhatEndsWithinAChunkOrIsOrderedOtherwiseHasNoParts) {
  auto parts = [](Shape shape, const Ints& dims, int d) {
    Block f;
    Builder b(f);
    return reduction_parts(*op::reduce_sum(b, f.add_argument(Type(DType::f32, shape)), dims)->op(),
                           d);
  };
  EXPECT_EQ(parts({300, 3}, {0}, 0), 0);          // 256 and 44
  EXPECT_EQ(parts({128, 100}, {0, 1}, 0), 0);     // 4096 numbers are 40.96 rows
  EXPECT_EQ(parts({3, 512}, {1}, 1), 0);          // three sums side by side
  EXPECT_EQ(parts({512, 2, 512}, {0, 2}, 0), 0);  // what is kept is between
  EXPECT_EQ(parts({2, 512, 4}, {0, 1}, 1), 0);    // rows within something else
  EXPECT_EQ(parts({512, 8}, {0}, 0), 2);
}

}  // namespace
}  // namespace strata::pass
