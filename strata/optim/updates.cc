#include "strata/optim/updates.h"

#include "strata/api/lax.h"
#include "strata/api/transform/custom.h"

namespace strata::optim {

Tree incremental_update(const Tree& new_tensors, const Tree& old_tensors, const Rate& step_size) {
  const Rate rest = 1.0 - step_size;
  return trees::map([&](const Array& a, const Array& b) { return step_size * a + rest * b; },
                    new_tensors, old_tensors);
}
Tree periodic_update(const Tree& new_tensors, const Tree& old_tensors, const Array& steps,
                     std::int64_t update_period) {
  return trees::where(numpy::equal(numpy::remainder(steps, update_period), 0), new_tensors,
                      old_tensors);
}
Tree scale_gradient(const Tree& inputs, double scale) {
  if (scale == 1.0) return inputs;
  if (scale == 0.0) return trees::map([](const Array& x) { return lax::stop_gradient(x); }, inputs);
  const auto one = custom_vjp(
      [](const Array& x) { return x; }, [](const Array& x) { return std::pair(x, std::tuple<>()); },
      [=](const std::tuple<>&, const Array& g) { return std::tuple(g * scale); });
  return trees::map([&](const Array& x) { return one(x); }, inputs);
}

MultiNormal::MultiNormal(Array loc, Array log_scale)
    : loc_(std::move(loc)), log_scale_(std::move(log_scale)) {}
Array MultiNormal::sample(const Sizes& shape, const random::Key& key) const {
  std::vector<std::int64_t> all(shape.begin(), shape.end());
  const Array deviation = numpy::exp(log_scale_);
  const Array both = loc_ + deviation;  // of their common shape
  for (std::int64_t n : both.shape().sizes()) all.push_back(n);
  return random::normal(key, all) * deviation + loc_;
}
Array MultiNormal::log_prob(const Array& x) const {
  const Array deviation = numpy::exp(log_scale_);
  const Array z = (x - loc_) / deviation;
  const Array each = -0.5 * (z * z) - numpy::log(deviation) - 0.5 * std::log(2.0 * pi);
  std::vector<std::int64_t> axes;
  const int own =
      numpy::broadcast_shapes({loc_.shape().sizes(), log_scale_.shape().sizes()}).size();
  for (int i = 1; i <= own; ++i) axes.push_back(-i);
  return axes.empty() ? each : numpy::sum(each, axes);
}

}  // namespace strata::optim
