// How the functions of random.h are called: the first argument of a call is a seed.
#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

random::Implementation generator(const Call& c) {
  return random::implementation(c.text("impl", "threefry2x32"));
}
random::Key key(const Call& c) { return random::key(c.x(0), generator(c)); }
Sizes shape(const Call& c) { return c.integers("shape"); }
random::SampleShape sample(const Call& c) {
  return c.has("shape") ? random::SampleShape(shape(c)) : random::SampleShape();
}
DType dtype(const Call& c, DType otherwise = float32) { return c.dtype().value_or(otherwise); }
std::string mode(const Call& c) { return c.text("mode", "low"); }
Array option(const Call& c, const char* name, const Array& otherwise) {
  return c.array(name).value_or(otherwise);
}

STRATA_GOLDEN("random.key", key(c).words);
STRATA_GOLDEN("random.key_data", random::key_data(key(c)));
STRATA_GOLDEN("random.PRNGKey", random::PRNGKey(c.x(0), generator(c)));
STRATA_GOLDEN("random.wrap_key_data", random::wrap_key_data(c.x(0), generator(c)).words);
STRATA_GOLDEN("random.clone", random::clone(key(c)).words);
STRATA_GOLDEN("random.split", random::split(key(c), c.integers("num", {2})).words);
STRATA_GOLDEN("random.fold_in", random::fold_in(key(c), c.x(1)).words);
STRATA_GOLDEN("random.bits", random::bits(key(c), shape(c), dtype(c, uint32)));

STRATA_GOLDEN("random.uniform",
              random::uniform(key(c), shape(c), dtype(c), option(c, "minval", 0.0f),
                              option(c, "maxval", 1.0f)));
STRATA_GOLDEN("random.gumbel", random::gumbel(key(c), shape(c), dtype(c), mode(c)));
#define STRATA_PLAIN_SAMPLER(name, otherwise) \
  STRATA_GOLDEN("random." #name, random::name(key(c), shape(c), dtype(c, otherwise)))
STRATA_PLAIN_SAMPLER(normal, float32);
STRATA_PLAIN_SAMPLER(exponential, float32);
STRATA_PLAIN_SAMPLER(laplace, float32);
STRATA_PLAIN_SAMPLER(logistic, float32);
STRATA_PLAIN_SAMPLER(cauchy, float32);
STRATA_PLAIN_SAMPLER(maxwell, float32);
STRATA_PLAIN_SAMPLER(rademacher, int32);

#define STRATA_SAMPLER(name, otherwise) \
  STRATA_GOLDEN("random." #name, random::name(key(c), c.x(1), sample(c), dtype(c, otherwise)))
STRATA_SAMPLER(pareto, float32);
STRATA_SAMPLER(rayleigh, float32);
STRATA_SAMPLER(wald, float32);
STRATA_SAMPLER(chisquare, float32);
STRATA_SAMPLER(t, float32);
STRATA_SAMPLER(gamma, float32);
STRATA_SAMPLER(loggamma, float32);
STRATA_SAMPLER(lognormal, float32);
STRATA_SAMPLER(dirichlet, float32);
STRATA_SAMPLER(geometric, int32);
STRATA_SAMPLER(poisson, int32);

#define STRATA_SAMPLER_2(name) \
  STRATA_GOLDEN("random." #name, random::name(key(c), c.x(1), c.x(2), sample(c), dtype(c)))
STRATA_SAMPLER_2(beta);
STRATA_SAMPLER_2(f);
STRATA_SAMPLER_2(truncated_normal);
STRATA_SAMPLER_2(binomial);
STRATA_SAMPLER_2(multinomial);
STRATA_GOLDEN("random.triangular",
              random::triangular(key(c), c.x(1), c.x(2), c.x(3), sample(c), dtype(c)));
STRATA_GOLDEN("random.double_sided_maxwell",
              random::double_sided_maxwell(key(c), c.x(1), c.x(2), shape(c), dtype(c)));
STRATA_GOLDEN("random.weibull_min",
              random::weibull_min(key(c), c.x(1), c.x(2), shape(c), dtype(c)));
STRATA_GOLDEN("random.generalized_normal",
              random::generalized_normal(key(c), c.x(1), shape(c), dtype(c)));
STRATA_GOLDEN("random.ball",
              random::ball(key(c), c.integer("d"), option(c, "p", 2), shape(c), dtype(c)));
STRATA_GOLDEN("random.bernoulli",
              random::bernoulli(key(c), c.count() > 1 ? c.x(1) : Array(0.5f), sample(c), mode(c)));
STRATA_GOLDEN("random.randint", random::randint(key(c), shape(c), *c.array("minval"),
                                                *c.array("maxval"), dtype(c, int32)));
STRATA_GOLDEN("random.categorical", random::categorical(key(c), c.x(1),
                                                        {.axis = c.integer("axis", -1),
                                                         .shape = sample(c),
                                                         .replace = c.flag("replace", true),
                                                         .mode = mode(c)}));
STRATA_GOLDEN("random.multivariate_normal",
              random::multivariate_normal(key(c), c.x(1), c.x(2), sample(c), c.dtype(),
                                          c.text("method", "cholesky")));
STRATA_GOLDEN("random.permutation", random::permutation(key(c), c.x(1),
                                                        {.axis = c.integer("axis"),
                                                         .independent = c.flag("independent")}));
STRATA_GOLDEN("random.choice", random::choice(key(c), c.x(1),
                                              {.shape = shape(c),
                                               .replace = c.flag("replace", true),
                                               .p = c.array("p"),
                                               .axis = c.integer("axis"),
                                               .mode = mode(c)}));

}  // namespace
}  // namespace strata
