#include "strata/api/random/gamma.h"

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/continuous.h"
#include "strata/api/random/draw.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/api/transform/vmap.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;

struct Draw {
  Key key;
  Array x2, v, u;  // the square of the normal number, the cube, the uniform number
  STRATA_FIELDS(key, x2, v, u)
};
struct Cubed {
  Key key;
  Array x, v;
  STRATA_FIELDS(key, x, v)
};

/// A normal number of which 1 + c x is positive, and that.
Cubed positive(const Key& key, const Array& c, DType dtype) {
  auto next = [&](const Cubed& s) {
    const auto [k, sub] = split2(s.key);
    const Array x = normal(sub, {}, dtype);
    return Cubed{k, x, 1 + x * c};
  };
  return while_loop([](const Cubed& s) { return s.v <= 0; }, next,
                    Cubed{key, number(dtype, 0), number(dtype, -1)});
}

/// One sample. Below 1 the number is made for a + 1 and multiplied by a power of a uniform one.
Array one_gamma(const Key& first, const Array& a, bool logarithm) {
  const DType dtype = a.dtype();
  const Array large = a >= 1, boosted = numpy::where(large, a, a + 1);
  const Array d = boosted - number(dtype, 1.0 / 3), c = number(dtype, 1.0 / 3) / numpy::sqrt(d);
  auto rejected = [&](const Draw& s) {
    const Array outside = s.u >= 1 - number(dtype, 0.0331) * (s.x2 * s.x2);
    return outside & (numpy::log(s.u) >= s.x2 * 0.5 + d * ((1 - s.v) + numpy::log(s.v)));
  };
  auto again = [&](const Draw& s) {
    const Key keys = split(s.key, 3);
    const Cubed p = positive(at(keys, 1), c, dtype);
    return Draw{at(keys, 0), p.x * p.x, p.v * p.v * p.v, uniform(at(keys, 2), {}, dtype)};
  };
  const auto [key, boost_key] = split2(first);
  const Array v =
      while_loop(rejected, again, Draw{key, number(dtype, 0), number(dtype, 1), number(dtype, 2)})
          .v;
  if (logarithm) {
    const Array below = -exponential(boost_key, {}, dtype);
    return numpy::log(d) + numpy::log(v) + numpy::where(large | (below == 0), 0, below * (1 / a));
  }
  const Array power = numpy::power(1 - uniform(boost_key, {}, dtype), 1 / a);
  return d * v * numpy::where(large, 1, power);
}

/// a, of which derivatives stop with an error: no second derivative of a sample is known, and none
/// shall be read off the loops.
Array only_once(const Array& a) {
  return custom_vjp([](const Array& x) { return x; },
                    [](const Array& x) { return std::pair(x, std::tuple<>()); },
                    [](std::tuple<>, const Array& ct) { return std::tuple(ct); })(a);
}

/// A sample for each alpha. What its probability to be less depends on alpha by is made up for by
/// the sample.
Array sampled(const Key& keys, const Array& alphas, bool logarithm) {
  auto one = [=](const Key& k, const Array& alpha) { return one_gamma(k, alpha, logarithm); };
  auto value = [=](const Array& a) { return vmap(one)(keys, a); };
  auto rule = [=](const std::tuple<Array>& at, const std::tuple<Array>& along) {
    const Array a = only_once(std::get<0>(at)), y = value(a);
    const Array x = logarithm ? numpy::maximum(numpy::exp(y), number(y.dtype(), tiny(y.dtype())))
                              : y,
                slope = lax::random_gamma_grad(a, x);
    return std::pair(y, (logarithm ? slope / x : slope) * std::get<0>(along));
  };
  return custom_jvp(value, rule)(alphas);
}

Array gammas(const char* name, const KeyOperand& key, const Operand& a, const SampleShape& given,
             DType wanted, bool logarithm) {
  const Use use(name, key);
  const DType dtype = float_type(name, wanted);
  const Sizes shape = sample_shape(name, given, {a->shape()});
  const Array flat = broadcast(as(a, dtype), shape).reshape(Sizes(-1));
  if (flat.size() == 0) return zeros(shape, dtype);
  return sampled(split(key.key, flat.size()), flat, logarithm).reshape(shape);
}

}  // namespace

Array gamma(const KeyOperand& key, const Operand& a, const SampleShape& shape, DType dtype) {
  return gammas("gamma", key, a, shape, dtype, false);
}
Array loggamma(const KeyOperand& key, const Operand& a, const SampleShape& shape, DType dtype) {
  return gammas("loggamma", key, a, shape, dtype, true);
}

Array beta(const KeyOperand& key, const Operand& left, const Operand& right,
           const SampleShape& given, DType wanted) {
  const Use use("beta", key);
  const DType dtype = float_type("beta", wanted);
  const Array a = safely_as("beta", left, dtype), b = safely_as("beta", right, dtype);
  const Sizes shape = sample_shape("beta", given, {a.shape(), b.shape()});
  const auto [k1, k2] = split2(key.key);
  const Array log_a = loggamma(k1, a, shape, dtype), log_b = loggamma(k2, b, shape, dtype),
              most = numpy::maximum(log_a, log_b);
  const Array part_a = numpy::exp(log_a - most), part_b = numpy::exp(log_b - most);
  return part_a / (part_a + part_b);
}

Array dirichlet(const KeyOperand& key, const Operand& alpha, const SampleShape& given,
                DType wanted) {
  const Use use("dirichlet", key);
  const DType dtype = float_type("dirichlet", wanted);
  if (alpha->ndim() < 1)
    fail("dirichlet", "alpha is a vector or a batch of them, got {}", describe(alpha->type()));
  std::vector<std::int64_t> batch = alpha->shape().sizes();
  const std::int64_t n = batch.back();
  batch.pop_back();
  std::vector<std::int64_t> all = sample_shape("dirichlet", given, {Shape::of(batch)});
  all.push_back(n);
  return nn::softmax(loggamma(key.key, alpha, all, dtype), -1);
}

Array chisquare(const KeyOperand& key, const Operand& df, const SampleShape& given, DType wanted) {
  const Use use("chisquare", key);
  const DType dtype = float_type("chisquare", wanted);
  return numpy::exp(loggamma(key.key, safely_as("chisquare", df, dtype) / 2, given, dtype)) * 2;
}

Array t(const KeyOperand& key, const Operand& df, const SampleShape& given, DType wanted) {
  const Use use("t", key);
  const DType dtype = float_type("t", wanted);
  const Sizes shape = sample_shape("t", given, {df->shape()});
  const Array half = safely_as("t", df, dtype) / 2;
  const auto [k1, k2] = split2(key.key);
  const Array n = normal(k1, shape, dtype);
  return n * numpy::sqrt(half / gamma(k2, half, shape, dtype));
}

Array f(const KeyOperand& key, const Operand& dfnum, const Operand& dfden, const SampleShape& given,
        DType wanted) {
  const Use use("f", key);
  const DType dtype = float_type("f", wanted);
  const Sizes shape = sample_shape("f", given, {dfnum->shape(), dfden->shape()});
  const Array above = safely_as("f", dfnum, dtype), below = safely_as("f", dfden, dtype);
  const auto [k_below, k_above] = split2(key.key);
  const Array numerator = chisquare(k_above, above, shape, dtype) / above;
  return numerator / (chisquare(k_below, below, shape, dtype) / below);
}

Array generalized_normal(const KeyOperand& key, const Operand& p, const Sizes& shape,
                         DType wanted) {
  const Use use("generalized_normal", key);
  const DType dtype = float_type("generalized_normal", wanted);
  const auto [k1, k2] = split2(key.key);
  const Array inverse = 1 / p.array, g = gamma(k1, inverse, shape, dtype);
  return rademacher(k2, shape, dtype) * numpy::power(g, inverse);
}

Array ball(const KeyOperand& key, std::int64_t d, const Operand& p, const Sizes& shape,
           DType wanted) {
  const Use use("ball", key);
  if (d < 0) fail("ball", "the number of dimensions is at least 0, got {}", d);
  const DType dtype = float_type("ball", wanted);
  std::vector<std::int64_t> all = shape;
  all.push_back(d);
  const auto [k1, k2] = split2(key.key);
  const Array g = generalized_normal(k1, p, all, dtype), e = exponential(k2, shape, dtype);
  const Array size = numpy::power(numpy::sum(numpy::power(numpy::abs(g), p), -1) + e, 1 / p.array);
  return g / numpy::expand_dims(size, -1);
}

}  // namespace strata::random
