// dynamic_slice, dynamic_update_slice and optimization_barrier.
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run_both;

Literal i32(std::int32_t v) { return Literal::scalar(v); }
Literal iota_literal(const Type& type) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) out.set_integer(i, i);
  return out;
}

const bool slices = add_samples("stablehlo.dynamic_slice", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8,
                  DType::ui64, DType::i1})
    out.push_back({.what = "inside",
                   .operands = {random_literal(Type(t, {4, 5}), 1), i32(1), i32(2)},
                   .attrs = {{"slice_sizes", Ints{2, 3}}}});
  Literal x = random_literal(Type(DType::f32, {4, 5}), 2);
  out.push_back({.what = "clamped",
                 .operands = {x, i32(-3), i32(9)},
                 .attrs = {{"slice_sizes", Ints{2, 3}}}});
  out.push_back(
      {.what = "whole", .operands = {x, i32(1), i32(1)}, .attrs = {{"slice_sizes", Ints{4, 5}}}});
  out.push_back(
      {.what = "empty", .operands = {x, i32(1), i32(1)}, .attrs = {{"slice_sizes", Ints{0, 5}}}});
  out.push_back(
      {.what = "unsigned starts",
       .operands = {x, Literal::scalar(std::uint64_t{1} << 63), Literal::scalar(std::uint64_t{1})},
       .attrs = {{"slice_sizes", Ints{2, 3}}}});
  out.push_back(
      {.what = "narrow starts",
       .operands = {random_literal(Type(DType::f32, {300}), 2), Literal::scalar(std::int8_t{100})},
       .attrs = {{"slice_sizes", Ints{3}}}});
  out.push_back({.what = "a scalar",
                 .operands = {Literal::scalar(2.5f)},
                 .attrs = {{"slice_sizes", Ints{}}}});
});

const bool updates = add_samples("stablehlo.dynamic_update_slice", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8,
                  DType::ui64, DType::i1})
    out.push_back({.what = "inside",
                   .operands = {random_literal(Type(t, {4, 5}), 1),
                                random_literal(Type(t, {2, 3}), 2), i32(1), i32(2)}});
  Literal x = random_literal(Type(DType::f32, {4, 5}), 3),
          u = random_literal(Type(DType::f32, {2, 3}), 4);
  out.push_back({.what = "clamped", .operands = {x, u, i32(-3), i32(9)}});
  out.push_back({.what = "whole",
                 .operands = {x, random_literal(Type(DType::f32, {4, 5}), 5), i32(1), i32(1)}});
  out.push_back({.what = "empty",
                 .operands = {x, random_literal(Type(DType::f32, {0, 5}), 5), i32(1), i32(1)}});
  out.push_back(
      {.what = "narrow starts",
       .operands = {random_literal(Type(DType::f32, {300}), 2),
                    random_literal(Type(DType::f32, {3}), 2), Literal::scalar(std::int8_t{100})}});
  out.push_back({.what = "a scalar", .operands = {Literal::scalar(2.5f), Literal::scalar(1.5f)}});
});

const bool barriers = add_samples("stablehlo.optimization_barrier", [](std::vector<Sample>& out) {
  out.push_back({.what = "two values",
                 .operands = {random_literal(Type(DType::f32, {3}), 1),
                              random_literal(Type(DType::i32, {2, 2}), 2)}});
});

Values sliced(Builder& b, const Values& v, const Ints& sizes) {
  return {dynamic_slice(b, v[0], Values(v.begin() + 1, v.end()), sizes)};
}
Values updated(Builder& b, const Values& v) {
  return {dynamic_update_slice(b, v[0], v[1], Values(v.begin() + 2, v.end()))};
}

TEST(DynamicSlice, ClampsItsStart) {
  Literal x = iota_literal(Type(DType::i32, {5}));
  auto f = [](Builder& b, const Values& v) { return sliced(b, v, {2}); };
  EXPECT_EQ(run_both({x, i32(2)}, f)[0].integer(0), 2);
  EXPECT_EQ(run_both({x, i32(-7)}, f)[0].integer(0), 0);
  EXPECT_EQ(run_both({x, i32(7)}, f)[0].integer(0), 3);
  EXPECT_EQ(run_both({x, Literal::scalar(~std::uint64_t{0})}, f)[0].integer(0),
            3);  // unsigned: large, not negative
  EXPECT_EQ(run_both({x, Literal::scalar(std::uint8_t{255})}, f)[0].integer(0), 3);
}

TEST(DynamicSlice, LoweringAgreesOnAllSamples) {
  for (const Sample& s : registered_samples_of("stablehlo.dynamic_slice"))
    run_both(s.operands, [&](Builder& b, const Values& v) {
      return sliced(b, v, s.attrs.get<Ints>("slice_sizes"));
    });
}

TEST(DynamicUpdateSlice, ReplacesTheClampedWindow) {
  Literal x = Literal(Type(DType::i32, {3, 4})),
          u = Literal::of<std::int32_t>({2, 2}, {1, 2, 3, 4});
  Literal y = run_both({x, u, i32(5), i32(1)}, updated)[0];
  EXPECT_TRUE(
      testing::same(y, Literal::of<std::int32_t>({3, 4}, {0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0})));
}

TEST(DynamicUpdateSlice, LoweringAgreesOnAllSamples) {
  for (const Sample& s : registered_samples_of("stablehlo.dynamic_update_slice"))
    run_both(s.operands, updated);
}

TEST(DynamicUpdateSlice, LongRowsAreCutIntoPieces) {
  Literal x = iota_literal(Type(DType::i32, {2, 10007})),
          u = random_literal(Type(DType::i32, {1, 9001}), 3, -100, 100);
  auto block = testing::build(
      {x.type(), u.type(), Type::scalar(DType::i32), Type::scalar(DType::i32)}, updated);
  const Op& op = *block->ops().back();
  EXPECT_EQ(std::get<Update>(def(op).lowering).grid(op), 3);
  run_both({x, u, i32(1), i32(500)}, updated);
}

TEST(DynamicUpdateSlice, RefusesBrokenConstraints) {
  auto with = [](const std::vector<Type>& types) { testing::build(types, updated); };
  Type x(DType::f32, {4}), s = Type::scalar(DType::i32);
  EXPECT_THROW(with({x, Type(DType::f64, {2}), s}), Error);                         // C2
  EXPECT_THROW(with({x, Type(DType::f32, {2, 1}), s}), Error);                      // C3
  EXPECT_THROW(with({x, Type(DType::f32, {2})}), Error);                            // C4
  EXPECT_THROW(with({x, Type(DType::f32, {2}), Type::scalar(DType::f32)}), Error);  // C5
  EXPECT_THROW(with({x, Type(DType::f32, {5}), s}), Error);                         // C6
}

TEST(OptimizationBarrier, IsTheIdentity) {
  Literal x = random_literal(Type(DType::f32, {3, 5}), 1);
  Literals y =
      run_both({x, i32(4)}, [](Builder& b, const Values& v) { return optimization_barrier(b, v); });
  EXPECT_TRUE(testing::same(y[0], x));
  EXPECT_TRUE(def("stablehlo.optimization_barrier").traits.barrier);
}

}  // namespace
}  // namespace strata::op
