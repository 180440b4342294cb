// A stream's samplers and initializers are those of random and initializers with its next key.
#include "strata/nn/random/sampler.h"

#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::nn {
namespace {

/// What one method gives, and the function that it stands for with a key.
struct Method {
  const char* name;
  std::function<Array(const Sampler&)> of_stream;
  std::function<Array(const random::Key&)> of_key;
};
/// A method whose arguments are the function's without the key.
#define STRATA_SAMPLES(NAME, ...)                               \
  {#NAME, [](const Sampler& s) { return s.NAME(__VA_ARGS__); }, \
   [](const random::Key& k) { return random::NAME(k __VA_OPT__(, ) __VA_ARGS__); }}
#define STRATA_FILLS(NAME, SHAPE, ...)                                 \
  {#NAME, [](const Sampler& s) { return s.NAME(__VA_ARGS__)(SHAPE); }, \
   [](const random::Key& k) { return initializers::NAME(__VA_ARGS__)(k, SHAPE); }}

std::vector<Method> methods() {
  static const Sizes shape{2, 3};
  static const Sizes square{3, 3, 4};
  static const Array p = array({0.2f, 0.3f, 0.5f}), a = array({1.0f, 2.0f, 3.0f});
  static const Array identity = numpy::eye(3);
  return {
      STRATA_SAMPLES(bits, shape),
      STRATA_SAMPLES(uniform, shape, DType::f32, -1, 2),
      STRATA_SAMPLES(randint, shape, 2, 9),
      STRATA_SAMPLES(permutation, a),
      STRATA_SAMPLES(choice, a, random::Choice{.shape = shape, .p = p}),
      STRATA_SAMPLES(normal, shape),
      STRATA_SAMPLES(multivariate_normal, a, identity),
      STRATA_SAMPLES(truncated_normal, -1, 2, shape),
      STRATA_SAMPLES(bernoulli, p),
      STRATA_SAMPLES(beta, a, p),
      STRATA_SAMPLES(cauchy, shape),
      STRATA_SAMPLES(dirichlet, a),
      STRATA_SAMPLES(exponential, shape),
      STRATA_SAMPLES(gamma, a),
      STRATA_SAMPLES(loggamma, a),
      STRATA_SAMPLES(poisson, a),
      STRATA_SAMPLES(gumbel, shape),
      STRATA_SAMPLES(categorical, a),
      STRATA_SAMPLES(laplace, shape),
      STRATA_SAMPLES(logistic, shape),
      STRATA_SAMPLES(pareto, a),
      STRATA_SAMPLES(t, a),
      STRATA_SAMPLES(chisquare, a),
      STRATA_SAMPLES(f, a, a),
      STRATA_SAMPLES(rademacher, shape),
      STRATA_SAMPLES(maxwell, shape),
      STRATA_SAMPLES(double_sided_maxwell, a, p),
      STRATA_SAMPLES(weibull_min, a, p),
      STRATA_SAMPLES(orthogonal, 3),
      STRATA_SAMPLES(generalized_normal, 2.0f, shape),
      STRATA_SAMPLES(ball, 3),
      STRATA_SAMPLES(rayleigh, a),
      STRATA_SAMPLES(wald, a),
      STRATA_SAMPLES(geometric, p),
      STRATA_SAMPLES(triangular, -1, p, 2),
      STRATA_SAMPLES(lognormal, a),
      STRATA_SAMPLES(binomial, a, p),
      STRATA_SAMPLES(multinomial, 5, p),
      STRATA_FILLS(delta_orthogonal, square),
      STRATA_FILLS(glorot_normal, shape),
      STRATA_FILLS(glorot_uniform, shape),
      STRATA_FILLS(he_normal, shape),
      STRATA_FILLS(he_uniform, shape),
      STRATA_FILLS(kaiming_normal, shape),
      STRATA_FILLS(kaiming_uniform, shape),
      STRATA_FILLS(lecun_normal, shape),
      STRATA_FILLS(lecun_uniform, shape),
      STRATA_FILLS(variance_scaling, shape, 2.0, initializers::Fan::average,
                   initializers::Distribution::uniform),
      STRATA_FILLS(xavier_normal, shape),
      STRATA_FILLS(xavier_uniform, shape),
  };
}

TEST(Samplers, TakeTheNextKeyAndNothingElse) {
  compile::register_cpu();
  const std::vector<Method> all = methods();
  EXPECT_EQ(all.size(), 38u + 12u);
  RngStream stream(7, "default");
  Rngs rngs(7);
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].name);
    const Array want = all[i].of_key(random::fold_in(random::key(7), static_cast<int>(i)));
    for (const Array& got : {all[i].of_stream(stream.sample()), all[i].of_stream(rngs.sample())}) {
      ASSERT_EQ(got.type(), want.type());
      EXPECT_TRUE(got.literal().same_bits(want.literal()));
    }
    EXPECT_EQ(stream.count.item<std::size_t>(), i + 1);
    EXPECT_EQ(rngs["default"].count.item<std::size_t>(), i + 1);
    names += fmt::format("nnx.RngStream.{0} nnx.Rngs.{0} ", all[i].name);
  }
  testing::shows_names(names);
}

TEST(Samplers, InitializersHaveOtherNames) {
  compile::register_cpu();
  testing::shows_names("nnx.initializers.zeros_init nnx.initializers.ones_init");
  EXPECT_EQ(initializers::zeros_init()(random::key(0), {2}).to_vector<float>(),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(initializers::ones_init()(random::key(0), {2}).to_vector<float>(),
            (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace strata::nn
