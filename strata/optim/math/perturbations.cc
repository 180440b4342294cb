#include "strata/optim/math/perturbations.h"

#include "strata/api/lax.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"

namespace strata::optim {

namespace perturbations {

Noise Gumbel() {
  return {[](const random::Key& key, const Sizes& shape, DType dtype) {
            return random::gumbel(key, shape, dtype);
          },
          [](const Array& x) { return -x - numpy::exp(-x); }};
}
Noise Normal() {
  return {[](const random::Key& key, const Sizes& shape, DType dtype) {
            return random::normal(key, shape, dtype);
          },
          [](const Array& x) { return -0.5 * (x * x); }};
}

std::function<Tree(const random::Key&, const Tree&)> make_perturbed_fun(
    std::function<Tree(const Tree&)> fun, PerturbedOptions o) {
  if (o.num_samples < 1)
    throw Error("make_perturbed_fun", "num_samples is 1 or more, got {}", o.num_samples);
  return [fun = std::move(fun), o](const random::Key& key, const Tree& x) {
    const auto stopped = [](const Array& a) { return lax::stop_gradient(a); };
    Tree baseline;
    if (o.use_baseline) baseline = fun(trees::map(stopped, x));
    const auto one = [&](const Array& words, const Tree& at) {
      const Tree drawn = trees::random_like(random::wrap_key_data(words), at, o.noise.sample);
      const Tree moved = trees::map(stopped, trees::add_scale(at, o.sigma, drawn));
      const Tree noise =
          trees::map([&](const Array& a, const Array& b) { return (b - a) / o.sigma; }, at, moved);
      const Array log_prob = trees::sum(trees::map(o.noise.log_prob, noise));
      // 1, whose derivative is that of the logarithm.
      const Array box = numpy::exp(log_prob - lax::stop_gradient(log_prob));
      Tree out = trees::scale(box, fun(moved));
      if (o.use_baseline) out = trees::add_scale(out, 1.0 - box, baseline);
      return out;
    };
    const Array keys = random::key_data(random::split(key, Sizes{o.num_samples}));
    const Tree all = vmap(one, {.in_axes = {0, std::nullopt}})(keys, x);
    return trees::map([](const Array& a) { return numpy::mean(a, 0); }, all);
  };
}

}  // namespace perturbations

namespace second_order {

namespace {
Array raveled(const Tree& t) {
  std::vector<Array> parts;
  for (const Array& x : t.values()) parts.push_back(numpy::ravel(x));
  return numpy::concatenate(parts);
}
Tree unraveled(const Array& v, const Tree& like) {
  std::vector<Array> values;
  std::int64_t at = 0;
  for (const Array& x : like.values()) {
    values.push_back(
        numpy::astype(numpy::reshape(v[slice(at, at + x.size())], x.shape().sizes()), x.dtype()));
    at += x.size();
  }
  return like.with_values(std::move(values));
}
}  // namespace

Tree hvp(const LossFn& loss, const Array& v, const Tree& params, const Array& inputs,
         const Array& targets) {
  const auto of_params = [&](const Tree& p) { return loss(p, inputs, targets); };
  const auto gradient = [&](const Tree& p) { return strata::grad(of_params)(p); };
  return strata::jvp(gradient, std::tuple(params), std::tuple(unraveled(v, params))).second;
}
Array hessian_diag(const LossFn& loss, const Tree& params, const Array& inputs,
                   const Array& targets) {
  const auto one = [&](const Array& v) {
    return numpy::sum(v * raveled(hvp(loss, v, params, inputs, targets)));
  };
  return vmap(one)(numpy::eye(trees::size(params)));
}
Array fisher_diag(const LossFn& negative_log_likelihood, const Tree& params, const Array& inputs,
                  const Array& targets) {
  const auto of_params = [&](const Tree& p) { return negative_log_likelihood(p, inputs, targets); };
  return numpy::square(raveled(strata::grad(of_params)(params)));
}

}  // namespace second_order
}  // namespace strata::optim
