// Quantised tensors: what types are sound, which go together in an operation, and what comes out.
#include "strata/op/quantized/quantized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/base/error.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

/// i8 or another storage in its full range, per tensor.
Type per_tensor(Shape shape, double scale, std::int64_t zero = 0, DType storage = DType::i8) {
  auto [low, high] = storage_bounds(storage);
  return Type(storage, std::move(shape))
      .with(Quantization{.expressed = DType::f32,
                         .storage_min = low,
                         .storage_max = high,
                         .axis = -1,
                         .scales = {scale},
                         .zero_points = {zero}});
}
Type per_axis(Shape shape, int axis, std::vector<double> scales, std::vector<std::int64_t> zeros) {
  return Type(DType::i8, std::move(shape))
      .with(Quantization{.expressed = DType::f32,
                         .storage_min = -128,
                         .storage_max = 127,
                         .axis = axis,
                         .scales = std::move(scales),
                         .zero_points = std::move(zeros)});
}
Type f32(Shape shape) { return Type(DType::f32, std::move(shape)); }

Literal stored(const Type& type, const std::vector<std::int64_t>& integers) {
  Literal out(type);
  for (std::size_t i = 0; i < integers.size(); ++i)
    out.set_integer(static_cast<std::int64_t>(i), integers[i]);
  return out;
}
std::vector<std::int64_t> integers(const Literal& x) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < x.count(); ++i) out.push_back(x.integer(i));
  return out;
}

/// One operation on arguments of given types; verified before it runs.
class Program {
 public:
  Program(const char* name, std::vector<Type> operands, Attrs attrs, Type result,
          std::vector<std::unique_ptr<Block>> regions = {}) {
    Values values;
    for (Type& t : operands) values.push_back(block_.add_argument(std::move(t)));
    op_ = block_.append(std::make_unique<Op>(def(name).info, values, std::move(attrs),
                                             std::move(regions),
                                             std::vector<Type>{std::move(result)}, ir::Location()));
    block_.results = op_->results();
  }
  std::string refusal() const { return ir::verify(block_).message(); }
  Literal run(const Literals& operands) const { return evaluate(block_, operands)[0]; }

 private:
  Block block_;
  Op* op_;
};

Program unary(const char* name, Type from, Type to, Attrs attrs = {}) {
  return Program(name, {std::move(from)}, std::move(attrs), std::move(to));
}
Program binary(const char* name, Type x, Type y, Type z, Attrs attrs = {}) {
  return Program(name, {std::move(x), std::move(y)}, std::move(attrs), std::move(z));
}

// ---- types -------------------------------------------------------------------------------------

TEST(QuantizedType, prints_as_upstream) {
  EXPECT_EQ(per_tensor({2}, 0.0039215452530804804).to_string(),
            "tensor<2x!quant.uniform<i8:f32, 0.0039215452530804804>>");
  EXPECT_EQ(per_tensor({}, 2, 15).to_string(), "tensor<!quant.uniform<i8:f32, 2.000000e+00:15>>");
  EXPECT_EQ(per_axis({1, 2}, 1, {0.5, 0.25}, {0, 3}).to_string(),
            "tensor<1x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:3}>>");
  Type narrow = Type(DType::i8, {1})
                    .with(Quantization{.expressed = DType::f32,
                                       .storage_min = -127,
                                       .storage_max = 127,
                                       .axis = -1,
                                       .scales = {1},
                                       .zero_points = {0}});
  EXPECT_EQ(narrow.to_string(), "tensor<1x!quant.uniform<i8<-127:127>:f32, 1.000000e+00>>");
}

std::string unsound(Quantization q, DType storage = DType::i8) {
  try {
    quantized::expect_type("op", Type(storage, {2}).with(std::move(q)));
  } catch (const Error& e) {
    return e.what();
  }
  return "sound";
}

TEST(QuantizedType, constraints) {
  Quantization sound{.expressed = DType::f32,
                     .storage_min = -128,
                     .storage_max = 127,
                     .axis = -1,
                     .scales = {1},
                     .zero_points = {0}};
  auto with = [&](auto change) {
    Quantization q = sound;
    change(q);
    return unsound(q);
  };
  EXPECT_EQ(unsound(sound), "sound");
  EXPECT_THAT(unsound(sound, DType::f32), HasSubstr("the storage type must be an integer"));
  EXPECT_THAT(with([](auto& q) { q.storage_max = 128; }),
              HasSubstr("bounds -128 and 128 are not in order within i8"));                  // C3
  EXPECT_THAT(with([](auto& q) { q.storage_min = 127; }), HasSubstr("bounds 127 and 127"));  // C3
  EXPECT_THAT(with([](auto& q) { q.expressed = DType::i32; }),
              HasSubstr("the expressed type must be a float"));  // C4
  EXPECT_THAT(with([](auto& q) { q.scales = {0}; }),
              HasSubstr("scale 0 is not positive and finite"));  // C5
  EXPECT_THAT(with([](auto& q) { q.scales = {INFINITY}; }),
              HasSubstr("scale inf is not positive and finite"));  // C6
  EXPECT_THAT(with([](auto& q) { q.zero_points = {200}; }),
              HasSubstr("zero point 200 is outside of the bounds -128 and 127"));  // C7
  EXPECT_THAT(with([](auto& q) { q.scales = {1, 2}; }),
              HasSubstr("2 scales and 1 zero points"));  // C9
  EXPECT_THAT(with([](auto& q) { q.scales = {1, 2}, q.zero_points = {0, 0}; }),
              HasSubstr("2 scales without an axis"));                                   // C10
  EXPECT_THAT(with([](auto& q) { q.axis = 1; }), HasSubstr("axis 1 is no dimension"));  // C12
  EXPECT_THAT(with([](auto& q) { q.axis = 0; }), HasSubstr("1 scales along axis 0"));   // C13
}

// ---- between numbers and stored integers -------------------------------------------------------

TEST(UniformQuantize, rounds_to_even_and_clamps) {
  Program q = unary("stablehlo.uniform_quantize", f32({6}), per_tensor({6}, 0.5, 3));
  EXPECT_EQ(q.refusal(), "");
  EXPECT_EQ(integers(q.run({Literal::of<float>({6}, {0.25f, 0.75f, 1e9f, -INFINITY, -0.25f, 4})})),
            (std::vector<std::int64_t>{4, 4, 127, -128, 2, 11}));
}

TEST(UniformQuantize, keeps_bounds_within_its_storage) {
  Type narrow = Type(DType::i8, {4})
                    .with(Quantization{.expressed = DType::f32,
                                       .storage_min = -7,
                                       .storage_max = 8,
                                       .axis = -1,
                                       .scales = {0.5},
                                       .zero_points = {1}});
  EXPECT_EQ(integers(unary("stablehlo.uniform_quantize", f32({4}), narrow)
                         .run({Literal::of<float>({4}, {-40, -4, 3.5f, 40})})),
            (std::vector<std::int64_t>{-7, -7, 8, 8}));
}

TEST(UniformQuantize, per_axis_and_from_one_quantisation_to_another) {
  Type from = per_axis({2}, 0, {0.1, 0.5}, {-30, -20});
  EXPECT_EQ(integers(unary("stablehlo.uniform_quantize", f32({2}), from)
                         .run({Literal::of<float>({2}, {4, 15})})),
            (std::vector<std::int64_t>{10, 10}));
  Type to = per_axis({2}, 0, {0.1, 0.2}, {-20, -30});
  EXPECT_EQ(integers(unary("stablehlo.uniform_quantize", from, to).run({stored(from, {10, 10})})),
            (std::vector<std::int64_t>{20, 45}));
}

TEST(UniformDequantize, differences_do_not_wrap) {
  Type from = per_tensor({2}, 2, -128);
  Literal y =
      unary("stablehlo.uniform_dequantize", from, f32({2})).run({stored(from, {127, -128})});
  EXPECT_EQ(y.number(0), 510);
  EXPECT_EQ(y.number(1), 0);
}

TEST(UniformQuantize, constraints) {
  EXPECT_THAT(unary("stablehlo.uniform_quantize", f32({2}), per_tensor({3}, 1)).refusal(),
              HasSubstr("have different shapes"));  // C1
  EXPECT_THAT(
      unary("stablehlo.uniform_quantize", Type(DType::f64, {2}), per_tensor({2}, 1)).refusal(),
      HasSubstr("tensor<2xf64> holds no numbers of type f32"));  // C2
  EXPECT_THAT(unary("stablehlo.uniform_dequantize", per_tensor({2}, 1), f32({3})).refusal(),
              HasSubstr("have different shapes"));  // C1
  EXPECT_THAT(
      unary("stablehlo.uniform_dequantize", per_tensor({2}, 1), Type(DType::f64, {2})).refusal(),
      HasSubstr("are no tensor<2xf64>"));  // C2
}

// ---- operations --------------------------------------------------------------------------------

TEST(Quantized, arithmetic_is_that_of_the_numbers) {
  Type x = per_tensor({2}, 0.1, -30), y = per_tensor({2}, 0.5, -20);
  Program sum = binary("stablehlo.add", x, y, y);
  EXPECT_EQ(sum.refusal(), "");
  EXPECT_EQ(integers(sum.run({stored(x, {-20, -10}), stored(y, {-14, -12})})),
            (std::vector<std::int64_t>{-12, -8}));
  Type coarse = per_tensor({2}, 2);
  EXPECT_EQ(integers(binary("stablehlo.multiply", coarse, coarse, coarse)
                         .run({stored(coarse, {3, 100}), stored(coarse, {-5, 100})})),
            (std::vector<std::int64_t>{-30, 127}));
}

TEST(Quantized, comparisons_and_choices) {
  Type x = per_tensor({2}, 1), y = per_tensor({2}, 2, 1);
  Program less = binary("stablehlo.compare", x, y, Type(DType::i1, {2}),
                        {{"comparison_direction", std::string("LT")}});
  EXPECT_EQ(less.refusal(), "");
  EXPECT_EQ(integers(less.run({stored(x, {3, 5}), stored(y, {3, 3})})),
            (std::vector<std::int64_t>{1, 0}));
  Program choice("stablehlo.select", {Type(DType::i1, {2}), x, y}, {}, y);
  EXPECT_EQ(choice.refusal(), "");
  EXPECT_EQ(integers(choice.run(
                {stored(Type(DType::i1, {2}), {1, 0}), stored(x, {8, 8}), stored(y, {9, 9})})),
            (std::vector<std::int64_t>{5, 9}));
}

Attrs matrix_product() {
  return {{"lhs_batching_dimensions", ir::Ints{}},
          {"rhs_batching_dimensions", ir::Ints{}},
          {"lhs_contracting_dimensions", ir::Ints{1}},
          {"rhs_contracting_dimensions", ir::Ints{0}}};
}

TEST(Quantized, products_hybrid_or_not) {
  Type lhs = per_tensor({1, 2}, 0.5, 1), rhs = per_axis({2, 2}, 1, {1, 2}, {0, 0}),
       result = per_tensor({1, 2}, 0.5, 0, DType::i32);
  Program both = binary("stablehlo.dot_general", lhs, rhs, result, matrix_product());
  EXPECT_EQ(both.refusal(), "");
  EXPECT_EQ(integers(both.run({stored(lhs, {3, 5}), stored(rhs, {1, 2, 3, 4})})),
            (std::vector<std::int64_t>{14, 40}));
  Program hybrid = binary("stablehlo.dot_general", f32({1, 2}), rhs, f32({1, 2}), matrix_product());
  EXPECT_EQ(hybrid.refusal(), "");
  EXPECT_EQ(hybrid.run({Literal::of<float>({1, 2}, {1, 2}), stored(rhs, {1, 2, 3, 4})}).number(1),
            20);
}

TEST(Quantized, movers_keep_the_stored_integers) {
  Type from = per_axis({2, 3}, 0, {1, 2}, {0, 5}), to = per_axis({3, 2}, 1, {1, 2}, {0, 5});
  Program turned = unary("stablehlo.transpose", from, to, {{"permutation", ir::Ints{1, 0}}});
  EXPECT_EQ(turned.refusal(), "");
  EXPECT_EQ(integers(turned.run({stored(from, {1, 2, 3, 4, 5, 6})})),
            (std::vector<std::int64_t>{1, 4, 2, 5, 3, 6}));
  Program seen = unary("stablehlo.bitcast_convert", per_tensor({2}, 0.1), Type(DType::i8, {2}));
  EXPECT_EQ(seen.refusal(), "");
  EXPECT_EQ(integers(seen.run({stored(per_tensor({2}, 0.1), {-7, 9})})),
            (std::vector<std::int64_t>{-7, 9}));
}

TEST(Quantized, a_region_rounds_and_clamps_each_time) {
  Type x = per_tensor({3}, 1), s = x.with(Shape{});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>());
  Block& body = *regions[0];
  Values v{body.add_argument(s), body.add_argument(s)};
  Builder b(body);
  body.results = b.create(def("stablehlo.add").info, v, {}, {}, {s}).results();
  Program sum(
      "stablehlo.all_reduce", {x},
      {{"combiner", std::string("region")}, {"replica_groups", Literal(Type(DType::i64, {0, 0}))}},
      x, std::move(regions));
  EXPECT_EQ(sum.refusal(), "");
  EXPECT_EQ(integers(sum.run({stored(x, {1, 2, 127})})), (std::vector<std::int64_t>{1, 2, 127}));
}

TEST(Quantized, formats_and_linear_algebra) {
  Type x = per_tensor({2}, 1), m = per_tensor({2, 2}, 1), v = per_tensor({2, 1}, 1);
  Program coarse = unary("stablehlo.reduce_precision", x, x,
                         {{"exponent_bits", std::int64_t{5}}, {"mantissa_bits", std::int64_t{1}}});
  EXPECT_EQ(coarse.refusal(), "");
  EXPECT_EQ(integers(coarse.run({stored(x, {5, 7})})), (std::vector<std::int64_t>{4, 8}));
  Program root = unary("stablehlo.cholesky", m, m, {{"lower", true}});
  EXPECT_EQ(root.refusal(), "");
  std::vector<std::int64_t> lower = integers(root.run({stored(m, {4, 2, 2, 10})}));
  EXPECT_EQ((std::vector<std::int64_t>{lower[0], lower[2], lower[3]}),
            (std::vector<std::int64_t>{2, 1, 3}));
  Attrs flags{{"left_side", true},
              {"lower", true},
              {"unit_diagonal", false},
              {"transpose_a", std::string("NO_TRANSPOSE")}};
  Program solved = binary("stablehlo.triangular_solve", m, v, v, flags);
  EXPECT_EQ(solved.refusal(), "");
  EXPECT_EQ(integers(solved.run({stored(m, {2, 0, 1, 3}), stored(v, {4, 11})})),
            (std::vector<std::int64_t>{2, 3}));
}

/// Sizes along one dimension that is not known.
Shape unknown() { return Shape(std::vector<Dim>{Dim::unknown()}); }
Literal sizes(const std::vector<std::int32_t>& values) {
  return Literal::of<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Quantized, dynamic_shapes) {
  Type x = per_tensor({2, 3}, 0.5, 1), any = x.with(unknown()), row = x.with(Shape{3}),
       one = x.with(Shape{}), i32s(DType::i32, {1});
  Program flat = binary("stablehlo.dynamic_reshape", x, i32s, any);
  EXPECT_EQ(flat.refusal(), "");
  EXPECT_EQ(integers(flat.run({stored(x, {1, 2, 3, 4, 5, 6}), sizes({6})})),
            (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  Program padded("stablehlo.dynamic_pad", {row, one, i32s, i32s, i32s}, {}, any);
  EXPECT_EQ(padded.refusal(), "");
  EXPECT_EQ(integers(padded.run(
                {stored(row, {1, 2, 3}), stored(one, {7}), sizes({1}), sizes({0}), sizes({0})})),
            (std::vector<std::int64_t>{7, 1, 2, 3}));
  Program spread = binary("stablehlo.dynamic_broadcast_in_dim", one, i32s, any,
                          {{"broadcast_dimensions", ir::Ints{}}});
  EXPECT_EQ(spread.refusal(), "");
  EXPECT_EQ(integers(spread.run({stored(one, {4}), sizes({2})})),
            (std::vector<std::int64_t>{4, 4}));
  Program counted =
      unary("stablehlo.dynamic_iota", i32s, any, {{"iota_dimension", std::int64_t{0}}});
  EXPECT_EQ(counted.refusal(), "");
  EXPECT_EQ(integers(counted.run({sizes({3})})), (std::vector<std::int64_t>{1, 3, 5}));
  Program sum = binary("stablehlo.add", any, any, any);
  EXPECT_EQ(sum.refusal(), "");
  EXPECT_EQ(integers(sum.run({stored(row, {1, 3, 5}), stored(row, {3, 3, 3})})),
            (std::vector<std::int64_t>{3, 5, 7}));
  EXPECT_THAT(
      binary("stablehlo.dynamic_reshape", x, i32s, any.with(*per_tensor({2}, 2).quantization()))
          .refusal(),
      HasSubstr("do not go together (C1)"));
}

TEST(Quantized, refusals) {
  Type x = per_tensor({2}, 1), wide = per_tensor({2}, 1, 0, DType::i16);
  EXPECT_THAT(
      binary("stablehlo.and", x, x, x).refusal(),
      HasSubstr(
          "stablehlo.and: is not defined for tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>"));
  EXPECT_THAT(binary("stablehlo.add", x, f32({2}), x).refusal(), HasSubstr("add: "));  // C2
  EXPECT_THAT(binary("stablehlo.add", x, wide, x).refusal(),
              HasSubstr("do not go together"));  // C3
  Type half = x.with(Quantization{.expressed = DType::f16,
                                  .storage_min = -128,
                                  .storage_max = 127,
                                  .axis = -1,
                                  .scales = {1},
                                  .zero_points = {0}});
  EXPECT_THAT(binary("stablehlo.add", half, half, x).refusal(), HasSubstr("add: "));  // C4
  Type axis = per_axis({2}, 0, {1, 2}, {0, 0});
  EXPECT_THAT(binary("stablehlo.add", axis, x, x).refusal(),
              HasSubstr("do not go together"));  // C5, C6
  EXPECT_EQ(binary("stablehlo.add", axis, x, axis).refusal(), "");
  EXPECT_THAT(unary("stablehlo.abs", x, wide).refusal(), HasSubstr("do not go together"));  // C1
  EXPECT_THAT(unary("stablehlo.transpose", per_axis({2, 2}, 0, {1, 2}, {0, 0}),
                    per_axis({2, 2}, 0, {1, 2}, {0, 0}), {{"permutation", ir::Ints{1, 0}}})
                  .refusal(),
              HasSubstr("do not go together"));  // C4
  EXPECT_THAT(unary("stablehlo.reshape", per_axis({2, 3}, 0, {1, 2}, {0, 0}),
                    per_axis({3, 2}, 1, {1, 2}, {0, 0}))
                  .refusal(),
              HasSubstr("do not go together"));  // C3
  EXPECT_THAT(unary("stablehlo.broadcast_in_dim", per_axis({2}, 0, {1, 2}, {0, 0}),
                    per_axis({2, 2}, 0, {1, 2}, {0, 0}), {{"broadcast_dimensions", ir::Ints{1}}})
                  .refusal(),
              HasSubstr("do not go together"));  // C6
  EXPECT_THAT(unary("stablehlo.slice", x, per_tensor({1}, 2),
                    {{"start_indices", ir::Ints{0}},
                     {"limit_indices", ir::Ints{1}},
                     {"strides", ir::Ints{1}}})
                  .refusal(),
              HasSubstr("do not go together"));
  EXPECT_THAT(unary("stablehlo.abs",
                    x.with(Quantization{.expressed = DType::f32,
                                        .storage_min = -128,
                                        .storage_max = 127,
                                        .axis = -1,
                                        .scales = {-1},
                                        .zero_points = {0}}),
                    x)
                  .refusal(),
              HasSubstr("scale -1 is not positive"));
}

TEST(Quantized, refused_products) {
  Type lhs = per_tensor({1, 2}, 0.5, 1), rhs = per_tensor({2, 2}, 1),
       result = per_tensor({1, 2}, 1);
  auto refusal = [](Type x, Type y, Type z) {
    return binary("stablehlo.dot_general", std::move(x), std::move(y), std::move(z),
                  matrix_product())
        .refusal();
  };
  EXPECT_EQ(refusal(lhs, rhs, result), "");
  EXPECT_THAT(refusal(lhs, rhs, f32({1, 2})), HasSubstr("do not go together"));  // C14
  EXPECT_THAT(refusal(lhs, per_tensor({2, 2}, 1, 4), result),
              HasSubstr("zero points of rhs must be 0"));  // C15
  EXPECT_THAT(refusal(lhs, per_axis({2, 2}, 0, {1, 2}, {0, 0}), result),
              HasSubstr("contracted along its quantisation's axis"));  // C16
  EXPECT_THAT(refusal(per_tensor({1, 2}, 1, 0, DType::i16), rhs, result),
              HasSubstr("do not go together"));  // C17
  EXPECT_THAT(refusal(lhs, rhs, per_axis({1, 2}, 1, {1, 2}, {0, 0})),
              HasSubstr("do not go together"));  // C19
}

// ---- samples for the laws ----------------------------------------------------------------------

const bool quantizes = add_samples("stablehlo.uniform_quantize", [](std::vector<Sample>& out) {
  out.push_back({.what = "per tensor",
                 .operands = {random_literal(f32({2, 3}), 1, -20, 20)},
                 .results = {per_tensor({2, 3}, 0.1, 4)}});
  out.push_back({.what = "per axis",
                 .operands = {random_literal(f32({2, 3}), 1, -20, 20)},
                 .results = {per_axis({2, 3}, 0, {0.1, 0.2}, {0, -7})}});
  out.push_back({.what = "a scalar that is no number",
                 .operands = {Literal::scalar(NAN)},
                 .results = {per_tensor({}, 0.1)}});
  out.push_back({.what = "from another quantisation",
                 .operands = {stored(per_tensor({3}, 0.5, 1), {-128, 0, 127})},
                 .results = {per_tensor({3}, 0.25, 2, DType::i16)}});
  out.push_back(
      {.what = "empty", .operands = {Literal(f32({0}))}, .results = {per_tensor({0}, 1)}});
});
const bool dequantizes = add_samples("stablehlo.uniform_dequantize", [](std::vector<Sample>& out) {
  out.push_back({.what = "per tensor",
                 .operands = {stored(per_tensor({3}, 0.5, 1), {-128, 0, 127})},
                 .results = {f32({3})}});
  Type axis = per_axis({2, 2}, 1, {0.5, 0.25}, {0, 3});
  out.push_back(
      {.what = "per axis", .operands = {stored(axis, {1, 2, 3, 4})}, .results = {f32({2, 2})}});
  out.push_back({.what = "wide, scalar",
                 .operands = {stored(per_tensor({}, 1e-3, 0, DType::i32), {2147483647})},
                 .results = {f32({})}});
  out.push_back(
      {.what = "empty", .operands = {Literal(per_tensor({0, 2}, 1))}, .results = {f32({0, 2})}});
});

}  // namespace
}  // namespace strata::op
