// Products of which a slice is read: random ones are said anew, those that something else reads
// stay, and no bit changes.
#include "strata/pass/dot/dot_slicing.h"

#include <gtest/gtest.h>

#include <random>

#include "strata/ir/pass/pass.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

/// Batches, rows and columns of two dimensions each, in any order on either side.
struct Random {
  std::mt19937 generator;
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(generator() % static_cast<unsigned>(n));
  }

  Value* product(Builder& b, op::Block& f) {
    op::DotDims dims;
    std::vector<Dim> left, right;
    auto one_side = [&](std::vector<Dim>& side) {
      side.insert(side.begin() + below(static_cast<std::int64_t>(side.size()) + 1),
                  Dim(2 + below(4)));
    };
    for (std::int64_t n = below(3); n > 0; --n) one_side(left);
    for (std::int64_t n = below(3); n > 0; --n) one_side(right);
    auto both = [&](op::DotDims& d, bool batch) {
      const std::int64_t size = 2 + below(4),
                         at_left = below(static_cast<std::int64_t>(left.size()) + 1),
                         at_right = below(static_cast<std::int64_t>(right.size()) + 1);
      left.insert(left.begin() + at_left, Dim(size)),
          right.insert(right.begin() + at_right, Dim(size));
      for (auto* of_left : {&d.lhs_batch, &d.lhs_contract})
        for (std::int64_t& x : *of_left) x += x >= at_left;
      for (auto* of_right : {&d.rhs_batch, &d.rhs_contract})
        for (std::int64_t& x : *of_right) x += x >= at_right;
      (batch ? d.lhs_batch : d.lhs_contract).push_back(at_left),
          (batch ? d.rhs_batch : d.rhs_contract).push_back(at_right);
    };
    for (std::int64_t n = below(3); n > 0; --n) both(dims, true);
    for (std::int64_t n = 1 + below(2); n > 0; --n) both(dims, false);
    Value *x = f.add_argument(Type(DType::f32, Shape(left))),
          *y = f.add_argument(Type(DType::f32, Shape(right)));
    return op::dot_general(b, x, y, dims);
  }
  Value* slice(Builder& b, Value* v) {
    ir::Ints from, to, by;
    for (int d = 0; d < v->rank(); ++d) {
      const std::int64_t size = v->shape()[d];
      from.push_back(below(size));
      to.push_back(from.back() + 1 + below(size - from.back()));
      by.push_back(1 + below(2));
    }
    return op::slice(b, v, from, to, by);
  }
};

std::vector<Literal> arguments_of(const op::Block& f) {
  std::vector<Literal> out;
  for (const auto& a : f.arguments()) {
    out.emplace_back(a->type());
    for (std::int64_t i = 0; i < out.back().count(); ++i)
      out.back().set_number(
          i, 0.37 * static_cast<double>((i * 29 + static_cast<std::int64_t>(out.size())) % 23) - 3);
  }
  return out;
}

std::int64_t multiply_adds(const op::Block& f) {
  double flops = 0;
  for (const auto& op : f.ops())
    if (op::is_contraction(*op)) flops += op::def(*op).cost(*op).flops;
  return static_cast<std::int64_t>(flops / 2);
}

TEST(SlicedProducts, MakeWhatIsRead) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random{std::mt19937(seed)};
    op::Block f;
    Builder b(f);
    Value *product = random.product(b, f), *slice = random.slice(b, product);
    f.results = {slice};
    const std::int64_t before = multiply_adds(f), all = product->shape().count(),
                       read = slice->shape().count();
    const std::vector<Literal> given = arguments_of(f), expected = op::evaluate(f, given);
    EXPECT_TRUE(slice_dots(f));
    ir::remove_dead(f);
    ASSERT_TRUE(ir::verify(f).ok()) << ir::verify(f).message();
    EXPECT_EQ(multiply_adds(f), before / all * read);
    EXPECT_TRUE(op::testing::same(op::evaluate(f, given)[0], expected[0]));
  }
}

TEST(SlicedProducts, StayWholeForOtherReaders) {
  for (const bool returned : {false, true}) {
    op::Block f;
    Builder b(f);
    Value* product = op::dot_general(b, f.add_argument(Type(DType::f32, {6, 4})),
                                     f.add_argument(Type(DType::f32, {4, 5})), {{}, {}, {1}, {0}});
    f.results = {op::slice(b, product, {0, 0}, {3, 5}),
                 returned ? product : op::slice(b, product, {3, 0}, {6, 5})};
    EXPECT_FALSE(slice_dots(f));
  }
}

}  // namespace
}  // namespace strata::pass
