#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/index/indexing.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run_both;

Attrs gather_attrs(const IndexDims& dims, const Ints& sizes) {
  Attrs attrs{{"slice_sizes", sizes}, {"indices_are_sorted", false}};
  set_gather_dims(attrs, dims);
  return attrs;
}
Values gathered(Builder& b, const Values& v, const IndexDims& dims, const Ints& sizes) {
  return {gather(b, v[0], v[1], dims, sizes)};
}

/// Rows of a table.
const IndexDims kRows{.window = {1},
                      .dropped = {0},
                      .operand_batch = {},
                      .indices_batch = {},
                      .index_map = {0},
                      .index_vector = 1};

const bool samples = add_samples("stablehlo.gather", [](std::vector<Sample>& out) {
  Literal rows = Literal::of<std::int32_t>({4, 1}, {2, 0, 2, 1});
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8,
                  DType::ui64, DType::i1})
    out.push_back({.what = "rows",
                   .operands = {random_literal(Type(t, {3, 5}), 1), rows},
                   .attrs = gather_attrs(kRows, {1, 5})});
  Literal x = random_literal(Type(DType::f32, {3, 5}), 2);
  out.push_back({.what = "clamped",
                 .operands = {x, Literal::of<std::int32_t>({3, 1}, {-5, 1, 9})},
                 .attrs = gather_attrs(kRows, {1, 5})});
  out.push_back({.what = "no index vector dimension",
                 .operands = {x, Literal::of<std::int64_t>({2, 2}, {0, 2, 1, 1})},
                 .attrs = gather_attrs({{2}, {0}, {}, {}, {0}, 2}, {1, 5})});
  out.push_back({.what = "unsigned narrow indices",
                 .operands = {x, Literal::of<std::uint8_t>({2, 1}, {200, 1})},
                 .attrs = gather_attrs(kRows, {1, 5})});
  out.push_back({.what = "elements",
                 .operands = {x, Literal::of<std::int32_t>({2, 3}, {0, 1, 2, 4, 0, 3})},
                 .attrs = gather_attrs({{}, {0, 1}, {}, {}, {0, 1}, 0}, {1, 1})});
  out.push_back({.what = "windows, components swapped",
                 .operands = {x, Literal::of<std::int32_t>({2, 2}, {1, 0, 7, 1})},
                 .attrs = gather_attrs({{0, 2}, {}, {}, {}, {1, 0}, 1}, {2, 3})});
  out.push_back({.what = "batching dimensions",
                 .operands = {random_literal(Type(DType::f32, {2, 3, 4}), 3),
                              Literal::of<std::int32_t>({3, 2, 1}, {0, 3, 1, 2, 2, 5})},
                 .attrs = gather_attrs({{2}, {}, {0, 1}, {1, 0}, {2}, 2}, {1, 1, 2})});
  out.push_back({.what = "no indices",
                 .operands = {x, Literal(Type(DType::i32, {0, 1}))},
                 .attrs = gather_attrs(kRows, {1, 5})});
  out.push_back({.what = "one slice",
                 .operands = {x, Literal::of<std::int32_t>({2}, {1, 1})},
                 .attrs = gather_attrs({{0, 1}, {}, {}, {}, {0, 1}, 0}, {2, 2})});
});

TEST(Gather, TakesRowsAndClamps) {
  Literal x = Literal::of<float>({3, 2}, {0, 1, 10, 11, 20, 21});
  Literal y =
      run_both({x, Literal::of<std::int32_t>({3, 1}, {2, -1, 8})},
               [](Builder& b, const Values& v) { return gathered(b, v, kRows, {1, 2}); })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({3, 2}, {20, 21, 0, 1, 20, 21})));
}

TEST(Gather, FollowsTheExampleOfTheSpecification) {
  Literal operand(Type(DType::i32, {3, 4, 2}));
  for (std::int64_t i = 0; i < 24; ++i) operand.set_integer(i, i + 1);
  Literal starts = Literal::of<std::int64_t>({2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 2});
  IndexDims dims{{2, 3}, {0}, {}, {}, {1, 0}, 2};
  Literal y = run_both({operand, starts}, [&](Builder& b, const Values& v) {
    return gathered(b, v, dims, {1, 2, 2});
  })[0];
  Literal expected = Literal::of<std::int32_t>(
      {2, 3, 2, 2},
      {1, 2, 3, 4, 3, 4, 5, 6, 13, 14, 15, 16, 9, 10, 11, 12, 11, 12, 13, 14, 17, 18, 19, 20});
  EXPECT_TRUE(testing::same(y, expected)) << testing::to_text(y);
}

TEST(Gather, LoweringAgreesOnAllSamples) {
  for (const Sample& s : registered_samples_of("stablehlo.gather"))
    run_both(s.operands, [&](Builder& b, const Values& v) {
      return gathered(b, v, gather_dims(s.attrs), s.attrs.get<Ints>("slice_sizes"));
    });
}

TEST(Gather, TransposeAddsRepeatedRowsWhereTheyWereClamped) {
  Literal x(Type(DType::f32, {3, 1})), ct = Literal::of<float>({4, 1}, {1, 2, 4, 8}),
                                       rows = Literal::of<std::int32_t>({4, 1}, {1, 1, 7, -2});
  Literal y = testing::run({x, rows, ct}, [](Builder& b, const Values& v) {
    const Op& op = *gather(b, v[0], v[1], kRows, {1, 1})->op();
    Values operands{nullptr, v[1]}, cotangents{v[2]};
    return Values{(*def(op).transpose)(b, op, operands, {true, false}, cotangents)[0]};
  })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({3, 1}, {8, 3, 4})));
}

TEST(Gather, RefusesBrokenConstraints) {
  auto with = [](const IndexDims& dims, const Ints& sizes,
                 const Type& indices = Type(DType::i32, {4, 1})) {
    testing::build({Type(DType::f32, {3, 5}), indices},
                   [&](Builder& b, const Values& v) { return gathered(b, v, dims, sizes); });
  };
  with(kRows, {1, 5});
  EXPECT_THROW(with(kRows, {2, 5}), Error);  // C9
  EXPECT_THROW(with(kRows, {1, 6}), Error);  // C21
  EXPECT_THROW(with(kRows, {1}), Error);     // C20
  EXPECT_THROW(with(kRows, {1, 5}, Type(DType::f32, {4, 1})), Error);
  EXPECT_THROW(with(kRows, {1, 5}, Type(DType::i32, {4, 2})), Error);  // C3
  EXPECT_THROW(with({{1}, {}, {}, {}, {0}, 1}, {1, 5}), Error);        // C1
  EXPECT_THROW(with({{1}, {0}, {}, {}, {0}, 3}, {1, 5}), Error);       // C2
  EXPECT_THROW(with({{2}, {0}, {}, {}, {0}, 1}, {1, 5}), Error);       // C5
  EXPECT_THROW(with({{1}, {0}, {}, {}, {2}, 1}, {1, 5}), Error);       // C19
  EXPECT_THROW(with({{1}, {}, {0}, {}, {0}, 1}, {1, 5}), Error);       // C16
  EXPECT_THROW(with({{1}, {}, {0}, {0}, {1}, 1}, {1, 5}), Error);      // C17
}

}  // namespace
}  // namespace strata::op
