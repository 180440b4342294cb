#include "strata/op/linalg/gmm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "strata/loop/kernel/grouped_product.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

Literal sizes_of(std::vector<std::int32_t> sizes) {
  Literal out(Type(DType::i32, {static_cast<std::int64_t>(sizes.size())}));
  std::copy(sizes.begin(), sizes.end(), out.mutable_span<std::int32_t>().data());
  return out;
}
Literal numbers(DType dtype, Shape shape, std::uint64_t seed) {
  return random_literal(Type(dtype, std::move(shape)), seed, -2, 2);
}

const bool gmm_samples = add_samples("strata.gmm", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
    out.push_back(
        {.what = "an empty group, and rows of none",
         .operands = {numbers(t, {7, 3}, 1), numbers(t, {3, 3, 4}, 2), sizes_of({2, 0, 4})}});
  const auto sample = [&](const char* what, Shape lhs, Shape rhs, std::vector<std::int32_t> sizes,
                          Attrs attrs = {}) {
    out.push_back({.what = what,
                   .operands = {numbers(DType::f32, std::move(lhs), 3),
                                numbers(DType::f32, std::move(rhs), 4), sizes_of(std::move(sizes))},
                   .attrs = std::move(attrs)});
  };
  sample("rhs turned", {5, 3}, {2, 4, 3}, {3, 2}, {{"transpose_rhs", true}});
  sample("sizes below zero and beyond the end", {5, 3}, {3, 3, 2}, {-2, 3, 90});
  sample("more rows than a block", {401, 5}, {2, 5, 3}, {398, 2});
  sample("more columns than a block", {3, 2}, {2, 2, 300}, {1, 2});
  sample("nothing to add", {3, 0}, {2, 0, 4}, {1, 2});
  sample("no rows", {0, 3}, {2, 3, 4}, {0, 0});
  sample("no columns", {3, 2}, {2, 2, 0}, {1, 2});
  sample("no groups", {3, 2}, {0, 2, 2}, {});
  out.push_back(
      {.what = "a batch",
       .operands = {numbers(DType::f32, {2, 5, 3}, 7), numbers(DType::f32, {2, 2, 3, 4}, 8),
                    Literal::of<std::int32_t>({2, 2}, {1, 3, 5, 0})}});
  out.push_back(
      {.what = "a batch, rhs turned",
       .operands = {numbers(DType::f32, {2, 5, 3}, 7), numbers(DType::f32, {2, 2, 4, 3}, 8),
                    Literal::of<std::int32_t>({2, 2}, {1, 3, 5, 0})},
       .attrs = {{"transpose_rhs", true}}});
  out.push_back({.what = "sizes of 64 bits",
                 .operands = {numbers(DType::f32, {4, 2}, 5), numbers(DType::f32, {2, 2, 3}, 6),
                              Literal::of<std::int64_t>({2}, {1, 3})}});
});

const bool tgmm_samples = add_samples("strata.tgmm", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
    out.push_back(
        {.what = "an empty group, and rows of none",
         .operands = {numbers(t, {7, 3}, 1), numbers(t, {7, 4}, 2), sizes_of({2, 0, 4})}});
  const auto sample = [&](const char* what, Shape lhs, Shape rhs, std::vector<std::int32_t> sizes) {
    out.push_back(
        {.what = what,
         .operands = {numbers(DType::f32, std::move(lhs), 3),
                      numbers(DType::f32, std::move(rhs), 4), sizes_of(std::move(sizes))}});
  };
  sample("sizes below zero and beyond the end", {5, 3}, {5, 2}, {-2, 3, 90});
  sample("more terms than are packed together", {301, 2}, {301, 3}, {300, 1});
  sample("more rows and columns than a block", {3, 201}, {3, 300}, {1, 2});
  sample("no rows", {0, 3}, {0, 4}, {0, 0});
  sample("no columns", {3, 2}, {3, 0}, {1, 2});
  sample("no groups", {3, 2}, {3, 2}, {});
  out.push_back({.what = "a batch",
                 .operands = {numbers(DType::f32, {2, 5, 3}, 7), numbers(DType::f32, {2, 5, 4}, 8),
                              Literal::of<std::int32_t>({2, 2}, {1, 3, 5, 0})}});
});

TEST(Gmm, RowsMeetTheirGroupsMatrix) {
  const Literal y =
      run({Literal::of<float>({4, 1}, {1, 2, 3, 4}), Literal::of<float>({2, 1, 1}, {10, 100}),
           sizes_of({1, 2})},
          [](Builder& b, const Values& v) { return Values{gmm(b, v[0], v[1], v[2], false)}; })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({4, 1}, {10, 200, 300, 0})))
      << testing::to_text(y);
}

TEST(Gmm, WhatIsInNoGroupIsNotRead) {
  const float inf = std::numeric_limits<float>::infinity();
  const Literal y =
      run({Literal::of<float>({3, 1}, {1, 2, inf}), Literal::of<float>({3, 1}, {1, 10, inf}),
           sizes_of({1, 1})},
          [](Builder& b, const Values& v) { return Values{tgmm(b, v[0], v[1], v[2])}; })[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({2, 1, 1}, {1, 20}))) << testing::to_text(y);
}

/// A kernel's result for sizes that are drawn, by one instruction set, in pieces of the grid.
template <class Run>
std::vector<float> result_of(Run run, const loop::grouped::GroupedParams& p,
                             const std::vector<float>& lhs, const std::vector<float>& rhs,
                             const std::vector<std::int32_t>& sizes, std::size_t results,
                             std::int64_t grid, std::int64_t piece) {
  std::vector<float> y(results, -7);
  std::vector<std::int64_t> params = p.numbers();
  void* buffers[] = {const_cast<float*>(lhs.data()), const_cast<float*>(rhs.data()),
                     const_cast<std::int32_t*>(sizes.data()), y.data(), params.data()};
  for (std::int64_t at = 0; at < grid; at += piece) run(buffers, at, std::min(grid, at + piece));
  return y;
}

TEST(Gmm, InstructionsAndPiecesOfTheGridGiveTheSameBits) {
  std::mt19937 random(3);
  const auto drawn = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  for (int round = 0; round < 30; ++round) {
    loop::grouped::GroupedParams p{.dtype = DType::f32,
                                   .sizes = DType::i32,
                                   .rows = drawn(500),
                                   .in = drawn(300),
                                   .out = drawn(300),
                                   .groups = drawn(9),
                                   .turned = drawn(1) == 1,
                                   .batch = 1 + drawn(2)};
    std::vector<std::int32_t> sizes;
    for (std::int64_t g = 0; g < p.batch * p.groups; ++g)
      sizes.push_back(static_cast<std::int32_t>(drawn(p.rows / 2) - drawn(3)));
    const auto floats = [&](std::int64_t count) {
      std::vector<float> out(static_cast<std::size_t>(count));
      for (float& x : out) x = static_cast<float>(drawn(2000) - 1000) / 777.0f;
      return out;
    };
    const auto lhs = floats(p.batch * p.rows * p.in),
               rhs = floats(p.batch * p.groups * p.in * p.out),
               other = floats(p.batch * p.rows * p.out);
    const auto check = [&](auto run, const std::vector<float>& right, std::int64_t results,
                           std::int64_t grid, const char* what) {
      const auto by = [&](const loop::product::InstructionSet& set, std::int64_t piece) {
        return result_of(
            [&](void* const* b, std::int64_t from, std::int64_t to) { run(set, b, from, to); }, p,
            lhs, right, sizes, static_cast<std::size_t>(results), grid, piece);
      };
      const std::vector<float> whole =
          by(loop::product::kPortable, std::max<std::int64_t>(grid, 1));
      for (const auto* set :
           {&loop::product::kPortable, &loop::product::kAvx2, &loop::product::kAvx512})
        if (set->present()) {
          EXPECT_EQ(by(*set, 1), whole) << what << " " << set->name << " round " << round;
          EXPECT_EQ(by(*set, 3), whole) << what << " " << set->name << " round " << round;
        }
    };
    check(loop::grouped::run_gmm, rhs, p.batch * p.rows * p.out, p.gmm_grid(), "gmm");
    check(loop::grouped::run_tgmm, other, p.batch * p.groups * p.in * p.out, p.tgmm_grid(), "tgmm");
  }
}

/// Sizes at which matrices are read in several blocks of k and of columns, and sums over rows go
/// past the caches.
TEST(Gmm, LargeMatricesOfFewAndManyRowsGiveTheChainsInOrder) {
  loop::grouped::GroupedParams p{
      .dtype = DType::f32, .sizes = DType::i32, .rows = 460, .in = 530, .out = 528, .groups = 17};
  std::vector<std::int32_t> sizes = {33, 0, 290, 1, 70, 8};
  sizes.resize(static_cast<std::size_t>(p.groups), 5);
  std::vector<std::int64_t> starts =
      loop::grouped::starts(sizes.data(), DType::i32, p.groups, p.rows);
  const auto floats = [](std::int64_t count, int seed) {
    std::vector<float> out(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>((i * 7919 + static_cast<std::size_t>(seed)) % 2003) / 777 - 1;
    return out;
  };
  const auto at = [](const std::vector<float>& x, std::int64_t i) {
    return x[static_cast<std::size_t>(i)];
  };
  const std::vector<float> lhs = floats(p.rows * p.in, 1), other = floats(p.rows * p.out, 3),
                           rhs = floats(p.groups * p.in * p.out, 2);
  const auto by = [&](auto run, const std::vector<float>& right, std::int64_t results,
                      std::int64_t grid) {
    std::vector<float> first;
    for (const auto* set :
         {&loop::product::kAvx512, &loop::product::kAvx2, &loop::product::kPortable}) {
      if (!set->present() || (set == &loop::product::kPortable && !first.empty())) continue;
      const std::vector<float> y = result_of(
          [&](void* const* b, std::int64_t from, std::int64_t to) { run(*set, b, from, to); }, p,
          lhs, right, sizes, static_cast<std::size_t>(results), grid, 5);
      if (first.empty()) first = y;
      EXPECT_EQ(y, first) << set->name;
    }
    return first;
  };
  for (const bool turned : {false, true}) {
    p.turned = turned;
    const std::vector<float> y = by(loop::grouped::run_gmm, rhs, p.rows * p.out, p.gmm_grid());
    for (std::int64_t g = 0; g < p.groups; ++g)
      for (std::int64_t r = starts[static_cast<std::size_t>(g)];
           r < starts[static_cast<std::size_t>(g) + 1]; ++r)
        for (std::int64_t o = r % 31; o < p.out; o += 31) {
          float sum = 0;
          for (std::int64_t k = 0; k < p.in; ++k)
            sum = std::fma(
                at(lhs, r * p.in + k),
                at(rhs, turned ? (g * p.out + o) * p.in + k : (g * p.in + k) * p.out + o), sum);
          ASSERT_EQ(at(y, r * p.out + o), sum) << "row " << r << " column " << o;
        }
    for (std::int64_t i = starts.back() * p.out; i < p.rows * p.out; ++i) ASSERT_EQ(at(y, i), 0);
  }
  const std::vector<float> y =
      by(loop::grouped::run_tgmm, other, p.groups * p.in * p.out, p.tgmm_grid());
  for (std::int64_t g = 0; g < p.groups; ++g)
    for (std::int64_t k = 0; k < p.in; ++k)
      for (std::int64_t o = k % 31; o < p.out; o += 31) {
        float sum = 0;
        for (std::int64_t r = starts[static_cast<std::size_t>(g)];
             r < starts[static_cast<std::size_t>(g) + 1]; ++r)
          sum = std::fma(at(lhs, r * p.in + k), at(other, r * p.out + o), sum);
        ASSERT_EQ(at(y, (g * p.in + k) * p.out + o), sum) << "group " << g << " row " << k;
      }
}

}  // namespace
}  // namespace strata::op
