// Deprecated spellings: they compute what their successors do.
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

Literal numbers(DType t, Shape shape, std::uint64_t seed) {
  return random_literal(Type(t, std::move(shape)), seed, -3, 4);
}

const bool dots = add_samples("stablehlo.dot", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, DType t, Shape l, Shape r, Shape result, DType to) {
    out.push_back({.what = what,
                   .operands = {numbers(t, l, 1), numbers(t, r, 2)},
                   .results = {Type(to, result)}});
  };
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8})
    sample("matrices", t, {2, 3}, {3, 4}, {2, 4}, t);
  sample("vectors", DType::f32, {3}, {3}, Shape{}, DType::f32);
  sample("matrix and vector, wider", DType::bf16, {2, 3}, {3}, {2}, DType::f64);
  sample("vector and matrix", DType::f32, {3}, {3, 2}, {2}, DType::f32);
  sample("empty", DType::f32, {2, 0}, {0, 4}, {2, 4}, DType::f32);
});

const bool broadcasts = add_samples("stablehlo.broadcast", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i1, DType::ui16})
    out.push_back({.what = "two dimensions",
                   .operands = {numbers(t, {3}, 1)},
                   .attrs = {{"broadcast_sizes", Ints{2, 1}}}});
  out.push_back({.what = "of a scalar",
                 .operands = {numbers(DType::f32, Shape{}, 2)},
                 .attrs = {{"broadcast_sizes", Ints{4}}}});
  out.push_back({.what = "empty",
                 .operands = {numbers(DType::f32, {3}, 2)},
                 .attrs = {{"broadcast_sizes", Ints{0}}}});
});

const bool selections = add_samples("stablehlo.torch_index_select", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, DType t, Shape x, Literal index, std::int64_t dim,
                    std::int64_t batch) {
    out.push_back({.what = what,
                   .operands = {numbers(t, x, 1), std::move(index)},
                   .attrs = {{"dim", dim}, {"batch_dims", batch}}});
  };
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32})
    sample("rows", t, {3, 2}, Literal::of<std::int32_t>({4}, {2, 0, 2, 1}), 0, 0);
  sample("inner, a matrix of positions", DType::f32, {2, 3, 2},
         Literal::of<std::int64_t>({2, 2}, {2, 0, 1, 1}), 1, 0);
  sample("batches", DType::f32, {2, 2, 3}, Literal::of<std::int32_t>({2, 2}, {2, 0, 1, 5}), 2, 1);
  sample("empty", DType::f32, {3, 0}, Literal::of<std::int32_t>({2}, {1, 1}), 0, 0);
});

const Literal kAlone = Literal::of<std::int64_t>({1, 1}, {0});
const bool sums = add_samples("stablehlo.cross-replica-sum", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i8})
    out.push_back({.what = "alone",
                   .operands = {numbers(t, {2, 3}, 1)},
                   .attrs = {{"replica_groups", kAlone}}});
  out.push_back({.what = "a scalar",
                 .operands = {numbers(DType::f32, Shape{}, 1)},
                 .attrs = {{"replica_groups", kAlone}}});
  out.push_back({.what = "empty",
                 .operands = {numbers(DType::f32, {0}, 1)},
                 .attrs = {{"replica_groups", kAlone}}});
});
const bool tokens = add_samples("stablehlo.create_token", [](std::vector<Sample>& out) {
  for (const char* what : {"a token", "another", "a third"})
    out.push_back({.what = what, .operands = {}});
});

struct Einsum {
  const char* config;
  std::vector<std::vector<std::int64_t>> operands;
  std::vector<std::int64_t> result;
};
const Einsum kEinsums[] = {
    {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 2}}, {2, 3, 2}},
    {"ab,bc->ca", {{2, 3}, {3, 4}}, {4, 2}},
    {"ab,c->ac", {{2, 3}, {4}}, {2, 4}},
    {"...ij,...jk", {{5, 2, 3}, {5, 3, 2}}, {5, 2, 2}},
    {"aa,ab->b", {{3, 3}, {3, 2}}, {2}},
    {"a,a->", {{3}, {3}}, {}},
    {"i...,j->j...i", {{2, 3}, {4}}, {4, 3, 2}},
    {"ab,ab->ab", {{0, 2}, {0, 2}}, {0, 2}},
};
const Einsum kUnary[] = {{"ab->ba", {{2, 3}}, {3, 2}},
                         {"abc->b", {{2, 3, 2}}, {3}},
                         {"aa->a", {{3, 3}}, {3}},
                         {"aa", {{3, 3}}, {}},
                         {"...a->a...", {{2, 2, 3}}, {3, 2, 2}}};

MakeSamples einsum_samples(std::span<const Einsum> cases) {
  return [cases](std::vector<Sample>& out) {
    for (const Einsum& e : cases)
      for (DType t : {DType::f32, DType::bf16, DType::i32}) {
        Sample s{.what = e.config,
                 .operands = {},
                 .attrs = {{"einsum_config", std::string(e.config)}},
                 .results = {Type(t, Shape::of(e.result))}};
        for (const auto& sizes : e.operands)
          s.operands.push_back(numbers(t, Shape::of(sizes), 1 + s.operands.size()));
        out.push_back(std::move(s));
      }
  };
}
const bool einsums = add_samples("stablehlo.einsum", einsum_samples(kEinsums));
const bool unary_einsums = add_samples("stablehlo.unary_einsum", einsum_samples(kUnary));

testing::Program called(const char* name, const Attrs& attrs) {
  return [=](Builder& b, const Values& v) { return b.create(name, v, attrs).results(); };
}

TEST(Einsum, InfersTheShapesInItsSamples) {
  for (std::span<const Einsum> cases :
       {std::span<const Einsum>(kEinsums), std::span<const Einsum>(kUnary)})
    for (const Einsum& e : cases) {
      std::vector<Type> types;
      for (const auto& sizes : e.operands) types.emplace_back(DType::f32, Shape::of(sizes));
      auto block = testing::build(
          types, called("stablehlo.einsum", {{"einsum_config", std::string(e.config)}}));
      EXPECT_EQ(block->results[0]->type().to_string(),
                Type(DType::f32, Shape::of(e.result)).to_string())
          << e.config;
    }
}

TEST(Einsum, DiagonalsSumsAndProducts) {
  Literal x = Literal::of<std::int32_t>({2, 2}, {1, 2, 3, 4});
  auto einsum = [&](const char* config, const Literals& in) {
    return run(in, called("stablehlo.einsum", {{"einsum_config", std::string(config)}}))[0];
  };
  EXPECT_TRUE(testing::same(einsum("aa->a", {x}), Literal::of<std::int32_t>({2}, {1, 4})));
  EXPECT_EQ(einsum("aa", {x}).integer(0), 5);
  EXPECT_TRUE(testing::same(einsum("ab->b", {x}), Literal::of<std::int32_t>({2}, {4, 6})));
  EXPECT_TRUE(testing::same(einsum("ab,cb->ca", {x, x}),
                            Literal::of<std::int32_t>({2, 2}, {5, 11, 11, 25})));
  EXPECT_TRUE(testing::same(einsum("ab,ab->a", {x, x}), Literal::of<std::int32_t>({2}, {5, 25})));
}

TEST(TorchIndexSelect, TakesSlices) {
  Literal x = Literal::of<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  auto taken = [&](const Literal& index, std::int64_t dim, std::int64_t batch) {
    return run({x, index},
               called("stablehlo.torch_index_select", {{"dim", dim}, {"batch_dims", batch}}))[0];
  };
  EXPECT_TRUE(testing::same(taken(Literal::of<std::int32_t>({2}, {2, 0}), 1, 0),
                            Literal::of<std::int32_t>({2, 2}, {3, 1, 6, 4})));
  EXPECT_TRUE(testing::same(taken(Literal::of<std::int32_t>({2, 1}, {2, 0}), 1, 1),
                            Literal::of<std::int32_t>({2, 1}, {3, 4})));
}

void expect_error(const char* name, const std::vector<Type>& types, Attrs attrs,
                  const std::string& message) {
  try {
    testing::build(types, called(name, attrs));
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(Deprecated, RefuseBrokenConstraints) {
  auto f32 = [](Shape shape) { return Type(DType::f32, std::move(shape)); };
  auto config = [](const char* text) { return Attrs{{"einsum_config", std::string(text)}}; };
  expect_error(
      "stablehlo.dot", {f32({2, 3}), f32({2})}, {},
      "the last dimension of tensor<2x3xf32> and the first of tensor<2xf32> differ in size");
  expect_error("stablehlo.dot", {f32({2, 3, 4}), f32({4})}, {}, "must have rank 1 or 2");
  expect_error("stablehlo.broadcast", {f32({2})}, {{"broadcast_sizes", Ints{-1}}},
               "negative entry -1");
  expect_error("stablehlo.einsum", {f32({2, 3}), f32({2, 3})}, config("ab,bc->ac"),
               "another size than an equal letter");
  expect_error("stablehlo.einsum", {f32({2, 3}), f32({3})}, config("ab->a"),
               "names 1 operands, but there are 2");
  expect_error("stablehlo.einsum", {f32({2, 3})}, config("a->a"),
               "'a' does not name the 2 dimensions");
  expect_error("stablehlo.einsum", {f32({2})}, config("a->b"), "each letter of the result");
  expect_error("stablehlo.einsum", {f32({2})}, config("1->1"), "'1' is no letter");
  Type i(DType::i32, {2});
  expect_error("stablehlo.torch_index_select", {f32({2, 3}), f32({2})},
               {{"dim", std::int64_t{0}}, {"batch_dims", std::int64_t{0}}},
               "positions must be integers");
  expect_error("stablehlo.torch_index_select", {f32({2, 3}), i},
               {{"dim", std::int64_t{2}}, {"batch_dims", std::int64_t{0}}},
               "dim 2 is out of range");
  expect_error("stablehlo.torch_index_select", {f32({2, 3}), i},
               {{"dim", std::int64_t{0}}, {"batch_dims", std::int64_t{1}}},
               "batch_dims 1 must be at most dim 0");
}

}  // namespace
}  // namespace strata::op
