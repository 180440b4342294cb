// Derivatives of sorts and of reductions by general regions: forward against differences, reverse
// against the inner product, batched against a loop, and the same for their gradients. No two keys
// are near each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/samples.h"
#include "strata/op/sort/sort.h"
#include "strata/op/testing/block_laws.h"
#include "strata/op/testing/run.h"

namespace strata::op::testing {
namespace {

const Type kScalar = Type::scalar(DType::f64);
const Type kMatrix(DType::f64, {4, 3});

Literal random(const Type& type, std::uint64_t seed) { return random_literal(type, seed, -1, 1); }

/// A permutation of 0, 0.1, 0.2 ..., without its mean.
Literal apart(const Type& type, std::uint64_t seed) {
  Literal order = random(type, seed), out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    int before = 0;
    for (std::int64_t j = 0; j < out.count(); ++j) before += order.number(j) < order.number(i);
    out.set_number(i, 0.1 * before - 0.05 * static_cast<double>(out.count()));
  }
  return out;
}

/// (arguments..., cotangents of the results...) -> cotangents of the arguments that get any.
std::unique_ptr<Block> gradient(const Block& f) {
  std::vector<Type> types;
  for (const auto& a : f.arguments()) types.push_back(a->type());
  std::size_t count = types.size();
  for (Value* r : f.results) types.push_back(r->type());
  return build(types, [&](Builder& b, const Values& v) {
    std::span<Value* const> all(v);
    LinearBlock l = linearize(b, f, all.first(count), std::vector<bool>(count, true));
    Values out;
    for (Value* back : transpose(b, *l.linear, all.subspan(count)))
      if (back) out.push_back(back);
    return out;
  });
}

/// The laws of f at x and those of its gradient.
void expect_laws(const Block& f, const Literals& at, std::uint64_t seed) {
  EXPECT_EQ(check_laws(f, at, seed), "");
  Literals more = at;
  for (Value* r : f.results) more.push_back(random(r->type(), ++seed));
  EXPECT_EQ(check_laws(*gradient(f), more, seed), "") << "of the gradient";
}

std::unique_ptr<Block> region(std::size_t arguments, const Program& program) {
  return build(std::vector<Type>(arguments, kScalar), program);
}

TEST(SortLaws, KeysAndPayload) {
  for (std::int64_t dimension : {0, 1})
    for (const char* direction : {"LT", "GT", "GE"}) {
      SCOPED_TRACE(fmt::format("{} along {}", direction, dimension));
      auto f = build({kMatrix, kMatrix}, [&](Builder& b, const Values& v) {
        Values sorted = sort(b, v, dimension, comparator({DType::f64, DType::f64}, direction));
        return Values{mul(b, sorted[0], sorted[1]), sin(b, sorted[1])};
      });
      expect_laws(*f, {apart(kMatrix, 1), random(kMatrix, 2)}, 3);
    }
}

/// Compares what no operand is: l0 + l1^2 < r0 + r1^2, where the second operand moves the sums by
/// less than their distance.
TEST(SortLaws, ComparatorsOfBothOperands) {
  auto f = build({kMatrix, kMatrix}, [](Builder& b, const Values& v) {
    return sort(b, v, 1, region(4, [](Builder& rb, const Values& a) {
                  return Values{op::compare(rb, add(rb, a[0], mul(rb, a[2], a[2])),
                                            add(rb, a[1], mul(rb, a[3], a[3])), "LT")};
                }));
  });
  Literal small = random(kMatrix, 5);
  for (std::int64_t i = 0; i < small.count(); ++i) small.set_number(i, 0.1 * small.number(i));
  expect_laws(*f, {apart(kMatrix, 4), small}, 6);
}

TEST(SortLaws, TopKTakesItsElements) {
  auto f = build({kMatrix}, [](Builder& b, const Values& v) {
    Values top = b.create("chlo.top_k", {v[0]}, {{"k", std::int64_t{2}}}).results();
    return Values{mul(b, top[0], top[0])};
  });
  expect_laws(*f, {apart(kMatrix, 7)}, 8);
}

struct General {
  const char* what;
  std::size_t values;
  Program program;  // (accumulated..., elements...) -> accumulated...
};

std::vector<General> general_regions() {
  return {{"neither commutative nor associative", 1,
           [](Builder& b, const Values& v) {
             return Values{sub(b, mul(b, v[0], scalar(b, DType::f64, 0.5)), v[1])};
           }},
          {"polynomial", 1,
           [](Builder& b, const Values& v) {
             return Values{mul(b, add(b, v[0], v[1]), sin(b, v[1]))};
           }},
          {"two sums of which one feeds the other", 2,
           [](Builder& b, const Values& v) {
             return Values{add(b, v[0], mul(b, v[2], v[3])),
                           add(b, mul(b, v[1], cos(b, v[0])), v[2])};
           }},
          {"the greatest and what stands beside it", 2,
           [](Builder& b, const Values& v) {
             Value* better = op::compare(b, v[2], v[0], "GT");
             return Values{select(b, better, v[2], v[0]), select(b, better, v[3], v[1])};
           }},
          {"log of a sum of exponentials", 2, [](Builder& b, const Values& v) {
             Value* most = max(b, v[0], v[2]);
             return Values{most, add(b, mul(b, v[1], exp(b, sub(b, v[0], most))),
                                     mul(b, v[3], exp(b, sub(b, v[2], most))))};
           }}};
}

TEST(ReduceLaws, GeneralRegions) {
  for (const General& g : general_regions())
    for (const Ints& dims : {Ints{0}, Ints{1}, Ints{0, 1}}) {
      SCOPED_TRACE(fmt::format("{} over {}", g.what, fmt::join(dims, ", ")));
      std::vector<Type> types(g.values, kMatrix);
      types.insert(types.end(), g.values, kScalar);
      auto f = build(types, [&](Builder& b, const Values& v) {
        std::vector<std::unique_ptr<Block>> regions;
        regions.push_back(region(2 * g.values, g.program));
        return b
            .create("stablehlo.reduce", v,
                    {{"dimensions", dims}, {"combiner", std::string("region")}}, std::move(regions))
            .results();
      });
      Literals at{apart(kMatrix, 9)};
      if (g.values == 2) at.push_back(random(kMatrix, 10));
      at.push_back(Literal::scalar(-1.234));
      if (g.values == 2) at.push_back(Literal::scalar(0.4321));
      expect_laws(*f, at, 11);
    }
}

}  // namespace
}  // namespace strata::op::testing
