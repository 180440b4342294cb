// Operations on dynamic shapes: samples and constraints.
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/shape/refine.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

Literal sizes(std::vector<std::int32_t> values) {
  return Literal::of<std::int32_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}
Literal f32_of(Shape shape, std::uint64_t seed = 1) {
  return random_literal(Type(DType::f32, std::move(shape)), seed);
}

/// Samples state their result; what the shape operand says must not be batched, and derivatives
/// need it known.
void add(std::vector<Sample>& out, const char* what, Literals operands, Attrs attrs, Type result,
         bool smooth) {
  out.push_back({.what = what,
                 .operands = std::move(operands),
                 .attrs = std::move(attrs),
                 .results = {std::move(result)},
                 .smooth = smooth,
                 .batchable = false});
}

void reshapes(std::vector<Sample>& out) {
  add(out, "a matrix", {f32_of({2, 3}), sizes({3, 2})}, {}, Type(DType::f32, {3, 2}), true);
  add(out, "to a scalar", {f32_of({1, 1}), Literal(Type(DType::i32, {0}))}, {},
      Type(DType::f32, Shape{}), true);
  add(out, "no elements", {f32_of({0, 3}), sizes({0})}, {}, Type(DType::f32, {0}), true);
}
const bool reshape_registered = add_samples("stablehlo.dynamic_reshape", reshapes) &&
                                add_samples("chlo.dynamic_reshape", reshapes);

const bool broadcast_registered =
    add_samples("stablehlo.dynamic_broadcast_in_dim", [](std::vector<Sample>& out) {
      auto dims = [](Ints list) { return Attrs{{"broadcast_dimensions", std::move(list)}}; };
      add(out, "a stretched dimension", {f32_of({1, 3}), sizes({2, 4, 3})}, dims({0, 2}),
          Type(DType::f32, {2, 4, 3}), true);
      add(out, "a scalar", {f32_of({}), sizes({5})}, dims({}), Type(DType::f32, {5}), true);
      add(out, "no elements", {f32_of({1}), sizes({0})}, dims({0}), Type(DType::f32, {0}), true);
    });

const bool iota_registered = add_samples("stablehlo.dynamic_iota", [](std::vector<Sample>& out) {
  for (std::int64_t d : {0, 1})
    add(out, "a matrix", {sizes({3, 4})}, {{"iota_dimension", d}}, Type(DType::i64, {3, 4}), true);
  add(out, "no elements", {sizes({0})}, {{"iota_dimension", std::int64_t{0}}},
      Type(DType::f32, {0}), true);
});

const bool pad_registered = add_samples("stablehlo.dynamic_pad", [](std::vector<Sample>& out) {
  add(out, "on both sides and between",
      {f32_of({2, 3}), f32_of({}, 2), sizes({1, 0}), sizes({0, 2}), sizes({1, 0})}, {},
      Type(DType::f32, {4, 5}), false);
  add(out, "negative", {f32_of({4}), f32_of({}, 2), sizes({-1}), sizes({-1}), sizes({0})}, {},
      Type(DType::f32, {2}), false);
  add(out, "no elements", {f32_of({0}), f32_of({}, 2), sizes({1}), sizes({1}), sizes({0})}, {},
      Type(DType::f32, {2}), false);
});

const bool slice_registered =
    add_samples("stablehlo.real_dynamic_slice", [](std::vector<Sample>& out) {
      add(out, "strided", {f32_of({7, 3}), sizes({1, 0}), sizes({6, 2}), sizes({2, 1})}, {},
          Type(DType::f32, {3, 2}), false);
      add(out, "whole", {f32_of({4}), sizes({0}), sizes({4}), sizes({1})}, {},
          Type(DType::f32, {4}), false);
      add(out, "nothing", {f32_of({4}), sizes({2}), sizes({2}), sizes({1})}, {},
          Type(DType::f32, {0}), false);
    });

const bool gather_registered =
    add_samples("stablehlo.dynamic_gather", [](std::vector<Sample>& out) {
      Attrs attrs{{"offset_dims", Ints{1}},
                  {"collapsed_slice_dims", Ints{0}},
                  {"start_index_map", Ints{0}},
                  {"index_vector_dim", std::int64_t{1}}};
      add(out, "rows", {f32_of({5, 3}), sizes({4, 0}), sizes({1, 3})}, attrs,
          Type(DType::f32, {2, 3}), false);
      add(out, "out of bounds", {f32_of({5, 3}), sizes({9, -2}), sizes({1, 2})}, attrs,
          Type(DType::f32, {2, 2}), false);
      add(out, "nothing", {f32_of({5, 3}), Literal(Type(DType::i32, {0})), sizes({1, 3})}, attrs,
          Type(DType::f32, {0, 3}), false);
    });

const bool conv_registered = add_samples("stablehlo.dynamic_conv", [](std::vector<Sample>& out) {
  Attrs attrs{{"input_batch_dimension", std::int64_t{0}},
              {"input_feature_dimension", std::int64_t{2}},
              {"input_spatial_dimensions", Ints{1}},
              {"kernel_input_feature_dimension", std::int64_t{1}},
              {"kernel_output_feature_dimension", std::int64_t{2}},
              {"kernel_spatial_dimensions", Ints{0}},
              {"output_batch_dimension", std::int64_t{0}},
              {"output_feature_dimension", std::int64_t{2}},
              {"output_spatial_dimensions", Ints{1}},
              {"feature_group_count", std::int64_t{1}},
              {"batch_group_count", std::int64_t{1}}};
  auto padding = [](std::int32_t low, std::int32_t high) {
    return Literal::of<std::int32_t>(Shape{1, 2}, {low, high});
  };
  add(out, "both sides", {f32_of({1, 5, 2}), f32_of({3, 2, 4}, 2), padding(1, 1)}, attrs,
      Type(DType::f32, {1, 5, 4}), false);
  add(out, "negative", {f32_of({1, 5, 2}), f32_of({3, 2, 4}, 2), padding(-1, 0)}, attrs,
      Type(DType::f32, {1, 2, 4}), false);
  add(out, "no batch", {f32_of({0, 5, 2}), f32_of({3, 2, 4}, 2), padding(0, 0)}, attrs,
      Type(DType::f32, {0, 3, 4}), false);
});

const bool get_registered =
    add_samples("stablehlo.get_dimension_size", [](std::vector<Sample>& out) {
      for (std::int64_t d : {0, 1})
        add(out, "a matrix", {f32_of({3, 0})}, {{"dimension", d}}, Type::scalar(DType::i32), true);
      out.push_back({.what = "of booleans",
                     .operands = {Literal(Type(DType::i1, {4}))},
                     .attrs = {{"dimension", std::int64_t{0}}},
                     .results = {Type::scalar(DType::i32)},
                     .batchable = false});
    });

const bool set_registered =
    add_samples("stablehlo.set_dimension_size", [](std::vector<Sample>& out) {
      auto size = [](std::int32_t n) { return Literal::scalar(n); };
      Attrs attrs{{"dimension", std::int64_t{1}}};
      add(out, "smaller", {f32_of({3, 4}), size(2)}, attrs, Type(DType::f32, {3, 2}), false);
      add(out, "the same", {f32_of({3, 4}), size(4)}, attrs, Type(DType::f32, {3, 4}), false);
      add(out, "none", {f32_of({3, 4}), size(0)}, attrs, Type(DType::f32, {3, 0}), false);
    });

// ---- constraints -------------------------------------------------------------------------------

using Dynamic = testing::Constraint;
TEST_F(Dynamic, reshape_c2) {
  EXPECT_REFUSED(
      create("stablehlo.dynamic_reshape", {f32({2, 3}), i32({1})}, {}, {Type(DType::f32, {5})}),
      "dynamic_reshape: (C2) cannot reshape");
}
TEST_F(Dynamic, reshape_c3) {
  EXPECT_REFUSED(
      create("stablehlo.dynamic_reshape", {f32({2, 3}), i32({2})}, {}, {Type(DType::f32, {6})}),
      "(C4) output_shape must have 1 entries");
}
TEST_F(Dynamic, broadcast_in_dim_c2_to_c7) {
  auto make = [&](Value* x, Ints dims, Shape out, std::int64_t count) {
    create("stablehlo.dynamic_broadcast_in_dim", {x, i32({count})},
           {{"broadcast_dimensions", std::move(dims)}}, {Type(DType::f32, std::move(out))});
  };
  EXPECT_REFUSED(make(f32({2}), {}, {2}, 1), "(C2)");
  EXPECT_REFUSED(make(f32({2}), {1}, {2}, 1), "(C3)");
  EXPECT_REFUSED(make(f32({2, 2}), {0, 0}, {2}, 1), "(C4)");
  EXPECT_REFUSED(make(f32({2}), {0}, {3}, 1), "(C5)");
  EXPECT_REFUSED(make(f32({2}), {0}, {2}, 3), "(C7)");
}
TEST_F(Dynamic, iota_c1) {
  EXPECT_REFUSED(create("stablehlo.dynamic_iota", {i32({1})}, {{"iota_dimension", std::int64_t{1}}},
                        {Type(DType::f32, {2})}),
                 "dynamic_iota: (C1)");
}
TEST_F(Dynamic, pad_c1_c2) {
  EXPECT_REFUSED(create("stablehlo.dynamic_pad", {f32({2}), i32({}), i32({1}), i32({1}), i32({1})},
                        {}, {Type(DType::f32, {2})}),
                 "(C1)");
  EXPECT_REFUSED(create("stablehlo.dynamic_pad", {f32({2}), f32({}), i32({2}), i32({1}), i32({1})},
                        {}, {Type(DType::f32, {2})}),
                 "(C2)");
}
TEST_F(Dynamic, slice_c3) {
  EXPECT_REFUSED(create("stablehlo.real_dynamic_slice", {f32({2}), i32({2}), i32({1}), i32({1})},
                        {}, {Type(DType::f32, {2})}),
                 "(C3)");
}
TEST_F(Dynamic, gather_c1) {
  EXPECT_REFUSED(create("stablehlo.dynamic_gather", {f32({2}), i32({1}), i32({2})}, {},
                        {Type(DType::f32, {2})}),
                 "dynamic_gather: (C1)");
}
TEST_F(Dynamic, conv_c4) {
  EXPECT_REFUSED(create("stablehlo.dynamic_conv", {f32({1, 2, 3}), f32({1, 2, 3}), i32({2, 2})}, {},
                        {Type(DType::f32, {1, 2, 3})}),
                 "dynamic_conv: (C4)");
}
TEST_F(Dynamic, dimension_sizes) {
  Attrs second{{"dimension", std::int64_t{1}}};
  EXPECT_REFUSED(
      create("stablehlo.get_dimension_size", {f32({2})}, second, {Type::scalar(DType::i32)}),
      "get_dimension_size: (C1) dimension 1");
  EXPECT_REFUSED(
      create("stablehlo.set_dimension_size", {f32({2}), i32({})}, second, {Type(DType::f32, {2})}),
      "set_dimension_size: (C2)");
}

}  // namespace
}  // namespace strata::op
