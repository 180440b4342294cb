// First values of weights: jax.nn.initializers.
//
//   nn::Initializer init = nn::initializers::lecun_normal();
//   Array kernel = init(random::key(0), {256, 128});
//
// Values equal JAX's as far as its random numbers do: zeros, ones, constants and uniform ones bit
// for bit, normal ones within 4 ulp, truncated normal ones within 4 ulp of the largest (their
// bounds are erf's, which JAX rounds 5 ulp from the truth). Floats only.
#pragma once

#include <concepts>
#include <functional>
#include <vector>

#include "strata/api/random.h"

namespace strata::nn {

/// From a key, a shape and a dtype to values. Without a dtype its own is taken, f32 (f64 under x64)
/// unless it was made with another one.
class Initializer {
 public:
  Initializer() = default;
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, const random::Key&, const Sizes&, DType> &&
                 (!std::same_as<F, Initializer>)
  Initializer(F f, DType dtype = default_float)
      : f_(std::move(f)), dtype_(dtype) {}  // NOLINT: implicit by intent
  Array operator()(const random::Key& key, const Sizes& shape,
                   std::optional<DType> dtype = {}) const {
    return f_(key, shape, canonical(dtype.value_or(dtype_), x64_enabled()));
  }

 private:
  std::function<Array(const random::Key&, const Sizes&, DType)> f_;
  DType dtype_ = default_float;
};

namespace initializers {

/// Initialisers themselves: `Initializer init = initializers::zeros;`. The key is not used.
Array zeros(const random::Key& key, const Sizes& shape, DType dtype = default_float);
/// Ones. The key is not looked at.
Array ones(const random::Key& key, const Sizes& shape, DType dtype = default_float);
/// The initializer `zeros`, as upstream also names it.
inline Initializer zeros_init() { return zeros; }
/// The initializer `ones`, as upstream also names it.
inline Initializer ones_init() { return ones; }
/// An initializer that gives `value`, which broadcasts to the shape, everywhere.
Initializer constant(const Operand& value, DType dtype = default_float);
/// Uniform in [0, scale).
Initializer uniform(double scale = 1e-2, DType dtype = default_float);
/// Of mean 0 and the given standard deviation.
Initializer normal(double stddev = 1e-2, DType dtype = default_float);
/// Normal numbers between `lower` and `upper`, times `stddev`, which is that of the distribution
/// before it was cut.
Initializer truncated_normal(double stddev = 1e-2, DType dtype = default_float, double lower = -2.0,
                             double upper = 2.0);

/// What the variance is divided by: inputs, outputs, their arithmetic or their geometric mean.
enum class Fan { in, out, average, geometric };
/// What `variance_scaling` draws from.
enum class Distribution { truncated_normal, normal, uniform };
/// Which axes of a weight are its inputs, which its outputs, and which only count copies (the
/// layers of a stacked weight). Negative ones count from the end. The axes that are left are a
/// receptive field, which multiplies inputs and outputs. And the dtype of its own.
struct FanAxes {
  internal::Named named = internal::Named();
  std::int64_t in_axis = -2, out_axis = -1;
  std::vector<std::int64_t> batch_axis = {};
  DType dtype = default_float;
};
/// Mean 0 and variance `scale` / fan; the truncated normal distribution is cut at two standard
/// deviations and stretched to that variance. Throws Error for a shape without those axes or
/// without elements.
Initializer variance_scaling(double scale, Fan fan, Distribution distribution, FanAxes axes = {});

/// Variance 1 / inputs. Source: LeCun et al., Efficient BackProp (1998).
Initializer lecun_normal(FanAxes axes = {});
/// Uniform with variance 1 / fan_in (LeCun et al. 1998).
Initializer lecun_uniform(FanAxes axes = {});
/// Variance 2 / (inputs + outputs). Source: Glorot and Bengio (2010).
Initializer glorot_normal(FanAxes axes = {});
/// Uniform with variance 2 / (fan_in + fan_out) (Glorot and Bengio 2010).
Initializer glorot_uniform(FanAxes axes = {});
inline Initializer xavier_normal(FanAxes axes = {}) { return glorot_normal(std::move(axes)); }
inline Initializer xavier_uniform(FanAxes axes = {}) { return glorot_uniform(std::move(axes)); }
/// Variance 2 / inputs. Source: He et al., Delving Deep into Rectifiers (2015).
Initializer he_normal(FanAxes axes = {});
/// Uniform with variance 2 / fan_in (He et al. 2015).
Initializer he_uniform(FanAxes axes = {});
inline Initializer kaiming_normal(FanAxes axes = {}) { return he_normal(std::move(axes)); }
inline Initializer kaiming_uniform(FanAxes axes = {}) { return he_uniform(std::move(axes)); }

/// `scale` times a matrix, in which the axis `column_axis` counts columns and the others rows, with
/// orthonormal columns, or rows where there are fewer (random::orthogonal). Two axes at least;
/// without elements, zeros. Source: Saxe et al. (2014).
Initializer orthogonal(double scale = 1.0, std::int64_t column_axis = -1,
                       DType dtype = default_float);
/// An orthogonal matrix [in, out] in the middle of a kernel [..., in, out] of one to three spatial
/// axes, zeros elsewhere; in <= out. Source: Xiao et al. (2018).
Initializer delta_orthogonal(double scale = 1.0, std::int64_t column_axis = -1,
                             DType dtype = default_float);

}  // namespace initializers
}  // namespace strata::nn
