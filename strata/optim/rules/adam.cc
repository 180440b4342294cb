#include "strata/optim/rules/adam.h"

#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

GradientTransformation scale_by_adam(AdamOptions o) {
  return detail::rule(
      detail::call_text("scale_by_adam", o),
      [=](const Tree& params) {
        return detail::state_of(detail::field("count", detail::no_count()),
                                detail::field("mu", trees::zeros_like(params, o.mu_dtype)),
                                detail::field("nu", trees::zeros_like(params)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree old = s.subtree("nu");
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
        const Tree nu = trees::update_moment_per_elem_norm(u, old, o.b2, 2);
        const Array count = safe_increment(s["count"]);
        const Tree mu_hat = detail::corrected(mu, u, o.b1, count, o.nesterov);
        const Tree nu_hat = trees::bias_correction(nu, o.b2, count);
        return std::pair(detail::over_root(mu_hat, nu_hat, o.eps, o.eps_root),
                         detail::state_of(detail::field("count", count),
                                          detail::field("mu", trees::cast(mu, o.mu_dtype)),
                                          detail::field("nu", trees::cast_like(nu, old))));
      });
}
GradientTransformation adam(Rate learning_rate, AdamOptions o) {
  return chain(scale_by_adam(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation nadam(Rate learning_rate, AdamOptions o) {
  o.nesterov = true;
  return adam(std::move(learning_rate), std::move(o));
}
GradientTransformation adamw(Rate learning_rate, AdamWOptions o) {
  return chain(scale_by_adam({.b1 = o.b1,
                              .b2 = o.b2,
                              .eps = o.eps,
                              .eps_root = o.eps_root,
                              .mu_dtype = o.mu_dtype,
                              .nesterov = o.nesterov}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation nadamw(Rate learning_rate, AdamWOptions o) {
  o.nesterov = true;
  return adamw(std::move(learning_rate), std::move(o));
}

namespace detail {
void add_adam(Rules& r) {
  const std::string paper = "Kingma and Ba, Adam (2015)", dozat = "Dozat (2016)",
                    decoupled = "Loshchilov and Hutter (2019)";
  r.add("scale_by_adam", {}, &scale_by_adam, paper, "Means of gradients over means of squares.");
  r.add("adam", {"learning_rate"}, &adam, paper, "Steps of about the rate in each weight.");
  r.add("nadam", {"learning_rate"}, &nadam, dozat, "Adam with Nesterov's momentum.");
  r.add("adamw", {"learning_rate"}, &adamw, decoupled, "Adam with decay apart from gradients.");
  r.add("nadamw", {"learning_rate"}, &nadamw, dozat, "AdamW with Nesterov's momentum.");
}
}  // namespace detail

}  // namespace strata::optim
