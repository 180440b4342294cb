// New parameters from old ones, gradients scaled, and normal distributions by their logarithms.
#pragma once

#include "strata/optim/math/trees.h"

namespace strata::optim {

/// step_size new + (1 - step_size) old: Polyak averaging.
Tree incremental_update(const Tree& new_tensors, const Tree& old_tensors, const Rate& step_size);
/// The new ones where steps is a multiple of update_period, else the old ones.
Tree periodic_update(const Tree& new_tensors, const Tree& old_tensors, const Array& steps,
                     std::int64_t update_period);
/// The inputs, whose gradients are multiplied by `scale` on their way back.
Tree scale_gradient(const Tree& inputs, double scale);

/// A normal distribution with a diagonal covariance, by the logarithms of its deviations.
class MultiNormal {
 public:
  MultiNormal(Array loc, Array log_scale);
  /// Draws of a shape in front of the distribution's own.
  Array sample(const Sizes& shape, const random::Key& key) const;
  /// The logarithm of the density, summed over the distribution's axes.
  Array log_prob(const Array& x) const;
  /// The logarithms of deviations.
  const Array& log_scale() const { return log_scale_; }
  /// The mean and the logarithms of deviations.
  std::pair<Array, Array> params() const { return {loc_, log_scale_}; }

 private:
  Array loc_, log_scale_;
};
/// The distribution of a mean and logarithms of deviations.
inline MultiNormal multi_normal(Array loc, Array log_scale) {
  return {std::move(loc), std::move(log_scale)};
}

}  // namespace strata::optim
