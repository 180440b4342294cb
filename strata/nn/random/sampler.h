// Random numbers and first values straight from a stream: each call takes the stream's next key.
//
//   Array x = rngs.sample().normal({2, 3});                  // of "default"
//   Array keep = rngs.sample("dropout").bernoulli(0.9f, {8});
//   Array kernel = rngs.sample("params").lecun_normal()({256, 128});
//
// Arguments and results are those of strata/api/random.h and strata/api/initializers.h without the
// key. Source: the methods of Flax NNX's RngStream and Rngs.
#pragma once

#include "strata/api/initializers.h"
#include "strata/api/random.h"
#include "strata/nn/random/rngs.h"

namespace strata::nn {

/// An initializer that takes its key from a stream, one for each call.
class KeylessInitializer {
 public:
  KeylessInitializer(RngStream& stream, Initializer init)
      : stream_(&stream), init_(std::move(init)) {}
  Array operator()(const Sizes& shape, std::optional<DType> dtype = {}) const {
    return init_((*stream_)(), shape, dtype);
  }

 private:
  RngStream* stream_;
  Initializer init_;
};

/// A stream's samplers and initializers: each is the function of its name in random.h or
/// initializers.h, given the stream's next key at every call. The stream must outlive it.
class Sampler {
 public:
  explicit Sampler(RngStream& stream) : stream_(&stream) {}

  Array bits(const Sizes& shape = {}, std::optional<DType> dtype = {}) const {
    return random::bits(next(), shape, dtype);
  }
  Array uniform(const Sizes& shape = {}, DType dtype = default_float, const Operand& minval = 0.0f,
                const Operand& maxval = 1.0f) const {
    return random::uniform(next(), shape, dtype, minval, maxval);
  }
  Array randint(const Sizes& shape, const Operand& minval, const Operand& maxval,
                DType dtype = default_int) const {
    return random::randint(next(), shape, minval, maxval, dtype);
  }
  Array permutation(const Operand& x, const random::Permutation& options = {}) const {
    return random::permutation(next(), x, options);
  }
  Array choice(const Operand& a, const random::Choice& options = {}) const {
    return random::choice(next(), a, options);
  }
  Array normal(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::normal(next(), shape, dtype);
  }
  Array multivariate_normal(const Operand& mean, const Operand& cov,
                            const random::SampleShape& shape = {}, std::optional<DType> dtype = {},
                            const std::string& method = "cholesky") const {
    return random::multivariate_normal(next(), mean, cov, shape, dtype, method);
  }
  Array truncated_normal(const Operand& lower, const Operand& upper,
                         const random::SampleShape& shape = {}, DType dtype = default_float) const {
    return random::truncated_normal(next(), lower, upper, shape, dtype);
  }
  Array bernoulli(const Operand& p = 0.5f, const random::SampleShape& shape = {},
                  const std::string& mode = "low") const {
    return random::bernoulli(next(), p, shape, mode);
  }
  Array beta(const Operand& a, const Operand& b, const random::SampleShape& shape = {},
             DType dtype = default_float) const {
    return random::beta(next(), a, b, shape, dtype);
  }
  Array cauchy(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::cauchy(next(), shape, dtype);
  }
  Array dirichlet(const Operand& alpha, const random::SampleShape& shape = {},
                  DType dtype = default_float) const {
    return random::dirichlet(next(), alpha, shape, dtype);
  }
  Array exponential(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::exponential(next(), shape, dtype);
  }
  Array gamma(const Operand& a, const random::SampleShape& shape = {},
              DType dtype = default_float) const {
    return random::gamma(next(), a, shape, dtype);
  }
  Array loggamma(const Operand& a, const random::SampleShape& shape = {},
                 DType dtype = default_float) const {
    return random::loggamma(next(), a, shape, dtype);
  }
  Array poisson(const Operand& lam, const random::SampleShape& shape = {},
                DType dtype = default_int) const {
    return random::poisson(next(), lam, shape, dtype);
  }
  Array gumbel(const Sizes& shape = {}, DType dtype = default_float,
               const std::string& mode = "low") const {
    return random::gumbel(next(), shape, dtype, mode);
  }
  Array categorical(const Operand& logits, const random::Categorical& options = {}) const {
    return random::categorical(next(), logits, options);
  }
  Array laplace(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::laplace(next(), shape, dtype);
  }
  Array logistic(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::logistic(next(), shape, dtype);
  }
  Array pareto(const Operand& b, const random::SampleShape& shape = {},
               DType dtype = default_float) const {
    return random::pareto(next(), b, shape, dtype);
  }
  Array t(const Operand& df, const random::SampleShape& shape = {},
          DType dtype = default_float) const {
    return random::t(next(), df, shape, dtype);
  }
  Array chisquare(const Operand& df, const random::SampleShape& shape = {},
                  DType dtype = default_float) const {
    return random::chisquare(next(), df, shape, dtype);
  }
  Array f(const Operand& dfnum, const Operand& dfden, const random::SampleShape& shape = {},
          DType dtype = default_float) const {
    return random::f(next(), dfnum, dfden, shape, dtype);
  }
  Array rademacher(const Sizes& shape = {}, DType dtype = default_int) const {
    return random::rademacher(next(), shape, dtype);
  }
  Array maxwell(const Sizes& shape = {}, DType dtype = default_float) const {
    return random::maxwell(next(), shape, dtype);
  }
  Array double_sided_maxwell(const Operand& loc, const Operand& scale, const Sizes& shape = {},
                             DType dtype = default_float) const {
    return random::double_sided_maxwell(next(), loc, scale, shape, dtype);
  }
  Array weibull_min(const Operand& scale, const Operand& concentration, const Sizes& shape = {},
                    DType dtype = default_float) const {
    return random::weibull_min(next(), scale, concentration, shape, dtype);
  }
  Array orthogonal(std::int64_t n, const Sizes& shape = {}, DType dtype = default_float,
                   std::optional<std::int64_t> m = {}) const {
    return random::orthogonal(next(), n, shape, dtype, m);
  }
  Array generalized_normal(const Operand& p, const Sizes& shape = {},
                           DType dtype = default_float) const {
    return random::generalized_normal(next(), p, shape, dtype);
  }
  Array ball(std::int64_t d, const Operand& p = 2.0f, const Sizes& shape = {},
             DType dtype = default_float) const {
    return random::ball(next(), d, p, shape, dtype);
  }
  Array rayleigh(const Operand& scale, const random::SampleShape& shape = {},
                 DType dtype = default_float) const {
    return random::rayleigh(next(), scale, shape, dtype);
  }
  Array wald(const Operand& mean, const random::SampleShape& shape = {},
             DType dtype = default_float) const {
    return random::wald(next(), mean, shape, dtype);
  }
  Array geometric(const Operand& p, const random::SampleShape& shape = {},
                  DType dtype = default_int) const {
    return random::geometric(next(), p, shape, dtype);
  }
  Array triangular(const Operand& left, const Operand& mode, const Operand& right,
                   const random::SampleShape& shape = {}, DType dtype = default_float) const {
    return random::triangular(next(), left, mode, right, shape, dtype);
  }
  Array lognormal(const Operand& sigma = 1.0f, const random::SampleShape& shape = {},
                  DType dtype = default_float) const {
    return random::lognormal(next(), sigma, shape, dtype);
  }
  Array binomial(const Operand& n, const Operand& p, const random::SampleShape& shape = {},
                 DType dtype = default_float) const {
    return random::binomial(next(), n, p, shape, dtype);
  }
  Array multinomial(const Operand& n, const Operand& p, const random::SampleShape& shape = {},
                    DType dtype = default_float) const {
    return random::multinomial(next(), n, p, shape, dtype);
  }

  KeylessInitializer delta_orthogonal(double scale = 1.0, std::int64_t column_axis = -1,
                                      DType dtype = default_float) const {
    return of(initializers::delta_orthogonal(scale, column_axis, dtype));
  }
  KeylessInitializer variance_scaling(double scale, initializers::Fan fan,
                                      initializers::Distribution distribution,
                                      initializers::FanAxes axes = {}) const {
    return of(initializers::variance_scaling(scale, fan, distribution, std::move(axes)));
  }
  KeylessInitializer lecun_normal(initializers::FanAxes axes = {}) const {
    return of(initializers::lecun_normal(std::move(axes)));
  }
  KeylessInitializer lecun_uniform(initializers::FanAxes axes = {}) const {
    return of(initializers::lecun_uniform(std::move(axes)));
  }
  KeylessInitializer glorot_normal(initializers::FanAxes axes = {}) const {
    return of(initializers::glorot_normal(std::move(axes)));
  }
  KeylessInitializer glorot_uniform(initializers::FanAxes axes = {}) const {
    return of(initializers::glorot_uniform(std::move(axes)));
  }
  KeylessInitializer xavier_normal(initializers::FanAxes axes = {}) const {
    return glorot_normal(std::move(axes));
  }
  KeylessInitializer xavier_uniform(initializers::FanAxes axes = {}) const {
    return glorot_uniform(std::move(axes));
  }
  KeylessInitializer he_normal(initializers::FanAxes axes = {}) const {
    return of(initializers::he_normal(std::move(axes)));
  }
  KeylessInitializer he_uniform(initializers::FanAxes axes = {}) const {
    return of(initializers::he_uniform(std::move(axes)));
  }
  KeylessInitializer kaiming_normal(initializers::FanAxes axes = {}) const {
    return he_normal(std::move(axes));
  }
  KeylessInitializer kaiming_uniform(initializers::FanAxes axes = {}) const {
    return he_uniform(std::move(axes));
  }

 private:
  random::Key next() const { return (*stream_)(); }
  KeylessInitializer of(Initializer init) const { return {*stream_, std::move(init)}; }
  RngStream* stream_;
};

inline Sampler RngStream::sample() { return Sampler(*this); }
inline Sampler Rngs::sample(std::string_view name) { return Sampler((*this)[name]); }

}  // namespace strata::nn
