#include "strata/optim/rules/sgd.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/rules/trace.h"
#include "strata/optim/schedule/learning_rate.h"

namespace strata::optim {

GradientTransformation sgd(Rate learning_rate, SgdOptions o) {
  return chain(
      o.momentum.has_value() ? trace(o.momentum, o.nesterov, o.accumulator_dtype) : identity(),
      scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation scale_by_sign() {
  return detail::leafwise("scale_by_sign()", [](const Array& g) { return numpy::sign(g); });
}
GradientTransformation sign_sgd(Rate learning_rate) {
  return chain(scale_by_sign(), scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation signum(Rate learning_rate, Rate beta,
                              std::optional<DType> accumulator_dtype) {
  return chain(ema(std::move(beta), false, accumulator_dtype), scale_by_sign(),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation add_noise(Rate eta, Rate gamma, random::Key key) {
  return detail::rule(
      "add_noise(" + eta.text() + ", " + gamma.text() + ")",
      [=](const Tree&) {
        return detail::state_of(detail::field("count", detail::no_count()),
                                detail::field("rng_key", random::key_data(key)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array count = safe_increment(s["count"]);
        const Array t = numpy::astype(count, DType::f32);
        const Array deviation = numpy::sqrt(eta / numpy::power(t, gamma.array()));
        const auto [next, now] = random::split2(random::wrap_key_data(s["rng_key"]));
        const Tree noise =
            trees::random_like(now, u, [](const random::Key& k, const Sizes& shape, DType dtype) {
              return random::normal(k, shape, dtype);
            });
        return std::pair(trees::add_scale(u, deviation, noise),
                         detail::state_of(detail::field("count", count),
                                          detail::field("rng_key", random::key_data(next))));
      });
}
GradientTransformation noisy_sgd(Rate learning_rate, Rate eta, Rate gamma, random::Key key) {
  return chain(add_noise(std::move(eta), std::move(gamma), std::move(key)),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_optimistic_gradient(Rate alpha, Rate beta) {
  return detail::rule(
      "scale_by_optimistic_gradient(" + alpha.text() + ", " + beta.text() + ")",
      [](const Tree& params) {
        return detail::state_of(detail::field("is_initial_step", numpy::full({}, true)),
                                detail::field("previous_gradient", trees::zeros_like(params)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array first = s["is_initial_step"];
        const Rate both = alpha + beta;
        return std::pair(trees::map(
                             [&](const Array& g, const Array& before) {
                               return both * g - beta * numpy::where(first, g, before);
                             },
                             u, s.subtree("previous_gradient")),
                         detail::state_of(detail::field("is_initial_step", numpy::full({}, false)),
                                          detail::field("previous_gradient", u)));
      });
}
GradientTransformation optimistic_gradient_descent(Rate learning_rate, Rate alpha, Rate beta) {
  return chain(scale_by_optimistic_gradient(std::move(alpha), std::move(beta)),
               scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation optimistic_adam(Rate learning_rate, OptimisticAdamOptions o) {
  if (learning_rate.is_schedule())
    throw Error("optimistic_adam", "takes no schedule; optimistic_adam_v2 does");
  const Rate optimism = o.optimism.has_value() ? o.optimism : learning_rate;
  return chain(scale_by_adam({.b1 = o.b1,
                              .b2 = o.b2,
                              .eps = o.eps,
                              .eps_root = o.eps_root,
                              .mu_dtype = o.mu_dtype,
                              .nesterov = o.nesterov}),
               scale_by_optimistic_gradient(learning_rate, optimism), scale_by_learning_rate(1.0));
}
GradientTransformation optimistic_adam_v2(Rate learning_rate, OptimisticAdamV2Options o) {
  return chain(scale_by_adam({.b1 = o.b1,
                              .b2 = o.b2,
                              .eps = o.eps,
                              .eps_root = o.eps_root,
                              .mu_dtype = o.mu_dtype,
                              .nesterov = o.nesterov}),
               scale_by_optimistic_gradient(o.alpha, o.beta),
               scale_by_learning_rate(std::move(learning_rate)));
}

namespace detail {
void add_sgd(Rules& r) {
  const std::string sign = "Bernstein et al., signSGD (2018)", noise = "Neelakantan et al. (2015)",
                    optimism = "Mokhtari et al. (2019)", gans = "Daskalakis et al. (2017)";
  r.add("sgd", {"learning_rate"}, &sgd, "", "Gradients, or their trace, times the rate.");
  r.add("scale_by_sign", {}, &scale_by_sign, sign, "Signs of updates.");
  r.add("sign_sgd", {"learning_rate"}, &sign_sgd, sign, "Signs of gradients times the rate.");
  r.add("signum", {"learning_rate", "beta=0.9", "accumulator_dtype="}, &signum, sign,
        "Signs of the gradients' moving mean.");
  r.add("add_noise", {"eta", "gamma", "key=0"}, &add_noise, noise,
        "Adds normal noise that falls with the step.");
  r.add("noisy_sgd", {"learning_rate", "eta=0.01", "gamma=0.55", "key=0"}, &noisy_sgd, noise,
        "Descent with noise.");
  r.add("scale_by_optimistic_gradient", {"alpha=1.0", "beta=1.0"}, &scale_by_optimistic_gradient,
        optimism, "Gradients corrected by how they changed.");
  r.add("optimistic_gradient_descent", {"learning_rate", "alpha=1.0", "beta=1.0"},
        &optimistic_gradient_descent, optimism, "Descent by optimistic gradients.");
  r.add("optimistic_adam", {"learning_rate"}, &optimistic_adam, gans, "Adam with optimism.");
  r.add("optimistic_adam_v2", {"learning_rate"}, &optimistic_adam_v2, gans,
        "Adam with optimism, with schedules.");
}
}  // namespace detail

}  // namespace strata::optim
