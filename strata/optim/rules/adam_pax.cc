#include "strata/optim/rules/adam_pax.h"

#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {
namespace {

/// Behind `before` steps, f32.
Array corrected_decay(const Rate& b, const Array& before) {
  const Array past = detail::raised(b, before), now = detail::raised(b, before + 1);
  return b * (1.0f - past) / (1.0f - now);
}

}  // namespace

GradientTransformation scale_by_adam_pax(ScaleByAdamPaxOptions o) {
  return detail::rule(
      detail::call_text("scale_by_adam_pax", o),
      [](const Tree& params) {
        const Tree zero = trees::zeros_like(params);
        return detail::state_of(detail::field("count", detail::no_count()),
                                detail::field("mu", zero), detail::field("nu", zero));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array first = corrected_decay(o.b1, s["count"]),
                    second = corrected_decay(o.b2, s["count"]);
        const Tree mu = trees::map(
            [&](const Array& m, const Array& g) {
              const Array d = numpy::astype(first, g.dtype());
              return (1.0f - d) * g + d * m;
            },
            s.subtree("mu"), u);
        const Tree nu = trees::map(
            [&](const Array& v, const Array& g) {
              const Array d = numpy::astype(second, g.dtype());
              return (1.0f - d) * (g * g) + d * v;
            },
            s.subtree("nu"), u);
        return std::pair(detail::over_root(mu, nu, o.eps, o.eps_root),
                         detail::state_of(detail::field("count", safe_increment(s["count"])),
                                          detail::field("mu", mu), detail::field("nu", nu)));
      });
}

GradientTransformation adam_pax(Rate learning_rate, AdamPaxOptions o) {
  const GradientTransformation scaled =
      scale_by_adam_pax({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root});
  return detail::rule(
      detail::call_text("adam_pax", o), {.params = true},
      [=](const Tree& params) { return scaled.init(params); },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const GradientTransformation rest =
            chain(add_decayed_weights(o.weight_decay.at(s["count"]), o.mask),
                  scale_by_learning_rate(learning_rate.at(s["count"])));
        const auto [moved, next] = scaled.update(u, s);
        return std::pair(rest.update(moved, rest.init(*params), params).first, next);
      });
}

namespace detail {
void add_adam_pax(Rules& r) {
  const std::string paper = "Shazeer and Stern (2018)";
  r.add("scale_by_adam_pax", {}, &scale_by_adam_pax, paper, "Adam's by decays that grow.");
  r.add("adam_pax", {"learning_rate"}, &adam_pax, paper, "AdamW by decays that grow.");
}
}  // namespace detail

}  // namespace strata::optim
