// First values of weights: jax.nn.initializers.
//
//   nn::Initializer init = nn::initializers::lecun_normal();
//   Array kernel = init(random::key(0), {256, 128}, DType::f32);
//
// Values equal JAX's as far as its random numbers do: zeros, ones, constants and uniform ones bit for bit, normal ones within 4 ulp,
// truncated normal ones within 4 ulp of the largest (their bounds are erf's, which JAX rounds 5 ulp from the truth).
#pragma once

#include <functional>
#include <vector>

#include "strata/api/random.h"

namespace strata::nn {

/// From a key, a shape and a dtype to values.
using Initializer = std::function<Array(const Array& key, const Sizes& shape, DType dtype)>;

namespace initializers {

Initializer zeros();
Initializer ones();
Initializer constant(double value);
/// Uniform in [0, scale).
Initializer uniform(double scale = 1e-2);
/// Of mean 0 and the given standard deviation.
Initializer normal(double stddev = 1e-2);
/// Normal numbers between `lower` and `upper`, times `stddev`, which is that of the distribution before it was cut.
Initializer truncated_normal(double stddev = 1e-2, double lower = -2.0, double upper = 2.0);

/// What the variance is divided by: inputs, outputs, their arithmetic or their geometric mean.
enum class Fan { in, out, average, geometric };
enum class Distribution { truncated_normal, normal, uniform };
/// Which axes of a weight are its inputs, which its outputs, and which only count copies (the layers of a stacked weight). Negative
/// ones count from the end. The axes that are left are a receptive field, which multiplies inputs and outputs.
struct FanAxes {
  internal::Named named = internal::Named();
  std::int64_t in_axis = -2, out_axis = -1;
  std::vector<std::int64_t> batch_axis = {};
};
/// Mean 0 and variance `scale` / fan; the truncated normal distribution is cut at two standard deviations and stretched to that
/// variance. Throws Error for a shape without those axes.
Initializer variance_scaling(double scale, Fan fan, Distribution distribution, FanAxes axes = {});

/// Variance 1 / inputs. Source: LeCun et al., Efficient BackProp (1998).
Initializer lecun_normal(FanAxes axes = {});
Initializer lecun_uniform(FanAxes axes = {});
/// Variance 2 / (inputs + outputs). Source: Glorot and Bengio (2010).
Initializer glorot_normal(FanAxes axes = {});
Initializer glorot_uniform(FanAxes axes = {});
/// Variance 2 / inputs. Source: He et al., Delving Deep into Rectifiers (2015).
Initializer he_normal(FanAxes axes = {});
Initializer he_uniform(FanAxes axes = {});

}  // namespace initializers
}  // namespace strata::nn
