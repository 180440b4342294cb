// Facts of derivatives that the laws' samples do not reach: what happens at ties, and left of zero.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

using ::testing::ElementsAre;

Literal list(std::vector<float> values) {
  return Literal::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

/// The tangent of f at xs along vs.
template <class F>
std::vector<float> tangent(const std::vector<Literal>& xs, const std::vector<Literal>& vs, F&& f) {
  Block primal;
  Builder pb(primal);
  for (const Literal& x : xs) primal.add_argument(x.type());
  primal.results = {f(pb, primal.argument_values())};
  Block block;
  Builder b(block);
  Values operands, tangents;
  for (const Literal& x : xs) operands.push_back(block.add_argument(x.type()));
  for (const Literal& v : vs) tangents.push_back(block.add_argument(v.type()));
  block.results = {jvp(b, primal, operands, tangents).tangents[0]};
  Literals inputs(xs);
  inputs.insert(inputs.end(), vs.begin(), vs.end());
  Literal out = evaluate(block, inputs)[0];
  return {out.span<float>().begin(), out.span<float>().end()};
}

// jax.lax.max: jnp.maximum at equal operands gives each half (jax/_src/lax/lax.py, _balanced_eq).
TEST(DerivativeFacts, EqualSidesOfAMaximumShare) {
  auto maximum = [](Builder& b, const Values& v) { return max(b, v[0], v[1]); };
  EXPECT_THAT(
      tangent({list({3, 3, 3}), list({3, 2, 4})}, {list({8, 8, 8}), list({2, 2, 2})}, maximum),
      ElementsAre(5, 8, 2));
}
TEST(DerivativeFacts, EqualSidesOfAMinimumShare) {
  auto minimum = [](Builder& b, const Values& v) { return min(b, v[0], v[1]); };
  EXPECT_THAT(
      tangent({list({3, 3, 3}), list({3, 2, 4})}, {list({8, 8, 8}), list({2, 2, 2})}, minimum),
      ElementsAre(5, 2, 8));
}
TEST(DerivativeFacts, RemainderByItsDivisorLosesTheTruncatedQuotient) {
  auto remainder = [](Builder& b, const Values& v) { return rem(b, v[0], v[1]); };
  EXPECT_THAT(tangent({list({7.5, -7.5, 7.5}), list({2, 2, -2})},
                      {list({0, 0, 0}), list({1, 1, 1})}, remainder),
              ElementsAre(-3, 3, 3));
}

}  // namespace
}  // namespace strata::op
