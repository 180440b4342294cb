// Programs on dynamic shapes, made static by their arguments.
#include "strata/op/shape/refine.h"

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

Dim open() { return Dim::unknown(); }

TEST(refine, follows_sizes_through_arithmetic) {
  Block block;
  Builder b(block);
  Value* n = block.add_argument(Type::scalar(DType::i64));
  Value* twice = reshape(b, convert(b, mul(b, n, scalar(b, DType::i64, 2)), DType::i32), Shape{1});
  Type out(DType::f32, Shape({open()}));
  Value* count = b.create(def("stablehlo.dynamic_iota").info, {twice},
                          {{"iota_dimension", std::int64_t{0}}}, {}, {out})
                     .result();
  block.results = {mul(b, count, count)};
  Literal three = Literal::scalar(std::int64_t{3});
  auto made = refine(block, {{three.type(), three}});
  EXPECT_FALSE(is_dynamic(*made));
  EXPECT_EQ(made->results[0]->type().to_string(), "tensor<6xf32>");
  EXPECT_EQ(evaluate(*made, std::vector<Literal>{three})[0].number(5), 25);
  EXPECT_TRUE(evaluate(block, std::vector<Literal>{three})[0].same_bits(
      evaluate(*made, std::vector<Literal>{three})[0]));
}

TEST(refine, asks_for_what_is_not_known) {
  Block block;
  Builder b(block);
  Value* n = block.add_argument(Type(DType::i32, {1}));
  Type out(DType::f32, Shape({open()}));
  block.results = b.create(def("stablehlo.dynamic_iota").info, {n},
                           {{"iota_dimension", std::int64_t{0}}}, {}, {out})
                      .results();
  EXPECT_REFUSED(refine(block, {{n->type(), std::nullopt}}),
                 "depends on values that are not known before the program runs");
}

TEST(refine, asks_for_shapes_that_fit) {
  Block block;
  block.results = {block.add_argument(Type(DType::f32, Shape({open(), Dim(3)})))};
  EXPECT_EQ(
      refine(block, {{Type(DType::f32, {2, 3}), std::nullopt}})->results[0]->type().to_string(),
      "tensor<2x3xf32>");
  EXPECT_REFUSED(refine(block, {{Type(DType::f32, {2, 4}), std::nullopt}}),
                 "argument 0 is tensor<?x3xf32>, but tensor<2x4xf32> is given");
}

}  // namespace
}  // namespace strata::op
