#include "strata/optim/contrib/momenta.h"

#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim::contrib {

using optim::detail::field;
using optim::detail::no_count;
using optim::detail::rule;
using optim::detail::state_of;

namespace {
Tree count_mu_nu(const Array& count, const Tree& mu, const Tree& nu) {
  return state_of(field("count", count), field("mu", mu), field("nu", nu));
}
}  // namespace

GradientTransformation scale_by_acprop(ScaleByAcpropOptions o) {
  return rule(
      optim::detail::call_text("scale_by_acprop", o),
      [](const Tree& params) {
        return count_mu_nu(no_count(), trees::zeros_like(params), trees::zeros_like(params));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree old_mu = s.subtree("mu"), old_nu = s.subtree("nu");
        const Tree mu = trees::update_moment(u, old_mu, o.b1, 1);
        const Tree nu =
            trees::map([&](const Array& v) { return v + o.eps_root; },
                       trees::update_moment_per_elem_norm(trees::sub(u, old_mu), old_nu, o.b2, 2));
        const Array count = safe_increment(s["count"]), first = numpy::equal(s["count"], 0);
        const Array t = numpy::where(first, count, s["count"]);
        const Tree hat =
            trees::map([&](const Array& v) { return numpy::where(first, numpy::ones_like(v), v); },
                       trees::bias_correction(old_nu, o.b2, t));
        return std::pair(optim::detail::over_root(u, hat, o.eps), count_mu_nu(count, mu, nu));
      });
}
GradientTransformation acprop(Rate learning_rate, AcpropOptions o) {
  return chain(scale_by_acprop({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_ademamix(ScaleByAdemamixOptions o) {
  const auto state = [](const Array& count, const Array& count_m2, const Tree& m1, const Tree& m2,
                        const Tree& nu) {
    return state_of(field("count", count), field("count_m2", count_m2), field("m1", m1),
                    field("m2", m2), field("nu", nu));
  };
  return rule(
      optim::detail::call_text("scale_by_ademamix", o),
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params, o.mu_dtype);
        return state(no_count(), no_count(), zeros, zeros, zeros);
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Rate b3 = o.b3.at(s["count_m2"]), alpha = o.alpha.at(s["count_m2"]);
        const Tree m1 = trees::update_moment(u, s.subtree("m1"), o.b1, 1);
        const Tree m2 = trees::update_moment(u, s.subtree("m2"), b3, 1);
        const Tree nu = trees::update_moment_per_elem_norm(u, s.subtree("nu"), o.b2, 2);
        const Array count = safe_increment(s["count"]);
        const Tree both = trees::map([&](const Array& a, const Array& b) { return a + alpha * b; },
                                     trees::bias_correction(m1, o.b1, count), m2);
        return std::pair(optim::detail::over_root(both, trees::bias_correction(nu, o.b2, count),
                                                  o.eps, o.eps_root),
                         state(count, safe_increment(s["count_m2"]), m1, m2, nu));
      });
}
GradientTransformation ademamix(Rate learning_rate, AdemamixOptions o) {
  return chain(scale_by_ademamix({.b1 = o.b1,
                                  .b2 = o.b2,
                                  .b3 = o.b3,
                                  .alpha = o.alpha,
                                  .eps = o.eps,
                                  .eps_root = o.eps_root,
                                  .mu_dtype = o.mu_dtype}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_simplified_ademamix(ScaleBySimplifiedAdemamixOptions o) {
  const auto state = [](const Array& t, const Tree& m, const Tree& n) {
    return state_of(field("t", t), field("m", m), field("n", n));
  };
  return rule(
      optim::detail::call_text("scale_by_simplified_ademamix", o),
      [=](const Tree& params) {
        return state(no_count(), trees::zeros_like(params), trees::zeros_like(params));
      },
      [=](const Tree& g, const Tree& s, const Tree*, const Extra&) {
        const Rate alpha = o.alpha.at(s["t"]);
        const Tree m = trees::add_scale(g, o.b1, s.subtree("m"));
        const Tree square = trees::mul(g, g);
        const Tree n = trees::add_scale(square, o.b2, trees::sub(s.subtree("n"), square));
        const Array t = safe_increment(s["t"]);
        return std::pair(
            optim::detail::over_root(trees::add_scale(m, alpha, g),
                                     trees::bias_correction(n, o.b2, t), o.eps, o.eps_root),
            state(t, m, n));
      });
}
GradientTransformation simplified_ademamix(Rate learning_rate, SimplifiedAdemamixOptions o) {
  return chain(
      scale_by_simplified_ademamix(
          {.b1 = o.b1, .b2 = o.b2, .alpha = o.alpha, .eps = o.eps, .eps_root = o.eps_root}),
      add_decayed_weights(o.weight_decay, o.mask),
      scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_adopt(AdoptOptions o) {
  return rule(
      optim::detail::call_text("scale_by_adopt", o),
      [=](const Tree& params) {
        return count_mu_nu(no_count(), trees::zeros_like(params, o.mu_dtype),
                           trees::zeros_like(params));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array count = s["count"], later = count > 0;
        const Rate b1 = numpy::where(later, o.b1.array(), 1.0),
                   b2 = numpy::where(later, o.b2.array(), 0.0);
        const Tree old = s.subtree("nu");
        const Array bound = o.clip_value_fn ? o.clip_value_fn(count)
                                            : numpy::power(numpy::astype(count, DType::f32), 0.25);
        const Tree scaled = trees::map(
            [&](const Array& g, const Array& v) {
              const Array x = g / numpy::maximum(numpy::sqrt(v), o.eps.array());
              return o.use_clipping ? numpy::clip(x, -bound, bound) : x;
            },
            u, old);
        const Tree mu = trees::update_moment(scaled, s.subtree("mu"), b1, 1);
        return std::pair(o.nesterov ? trees::update_moment(scaled, mu, b1, 1) : mu,
                         count_mu_nu(safe_increment(count), trees::cast(mu, o.mu_dtype),
                                     trees::update_moment_per_elem_norm(u, old, b2, 2)));
      });
}
GradientTransformation adopt(Rate learning_rate, AdoptOptions o) {
  return chain(scale_by_adopt(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_cocob(Rate alpha, Rate eps) {
  const auto state = [](const Tree& start, const Tree& sum, const Tree& scale, const Tree& sizes,
                        const Tree& reward) {
    return state_of(field("init_particles", start), field("cumulative_gradients", sum),
                    field("scale", scale), field("subgradients", sizes), field("reward", reward));
  };
  return rule(
      "scale_by_cocob(" + alpha.text() + ", " + eps.text() + ")", {.params = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state(params, zeros, trees::scale(eps, trees::ones_like(params)), zeros, zeros);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Tree start = s.subtree("init_particles");
        const Tree scale = trees::map(
            [](const Array& L, const Array& c) { return numpy::maximum(L, numpy::abs(c)); },
            s.subtree("scale"), u);
        const Tree sizes =
            trees::map([](const Array& G, const Array& c) { return G + numpy::abs(c); },
                       s.subtree("subgradients"), u);
        const Tree reward =
            trees::map([](const Array& R, const Array& c, const Array& p,
                          const Array& p0) { return numpy::maximum(R - c * (p - p0), 0); },
                       s.subtree("reward"), u, *params, start);
        const Tree sum = trees::sub(s.subtree("cumulative_gradients"), u);
        const Tree out = trees::map(
            [&](const Array& p, const Array& p0, const Array& C, const Array& L, const Array& G,
                const Array& R) {
              return -p + (p0 + C / (L * numpy::maximum(G + L, alpha * L)) * (L + R));
            },
            *params, start, sum, scale, sizes, reward);
        return std::pair(out, state(start, sum, scale, sizes, reward));
      });
}
GradientTransformation cocob(Rate learning_rate, CocobOptions o) {
  return chain(add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate), false),
               scale_by_cocob(o.alpha, o.eps));
}

GradientTransformation scale_by_madgrad(Rate learning_rate, Rate momentum, Rate eps) {
  const auto state = [](const Array& count, const Tree& squares, const Tree& sum,
                        const Tree& start) {
    return state_of(field("count", count), field("grad_sum_sq", squares), field("s", sum),
                    field("x0", start));
  };
  return rule(
      "scale_by_madgrad(" + learning_rate.text() + ", " + momentum.text() + ")", {.params = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state(no_count(), zeros, zeros, params);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Array count = s["count"];
        const Rate stable = learning_rate.at(count) + eps;
        const Array lambda = stable * numpy::sqrt(numpy::astype(count + 1, DType::f32));
        const Tree squares = trees::map(
            [&](const Array& v, const Array& g) {
              return v + numpy::astype(lambda * (g * g), g.dtype());
            },
            s.subtree("grad_sum_sq"), u);
        const Tree sum =
            trees::map([&](const Array& v,
                           const Array& g) { return v + numpy::astype(lambda * g, g.dtype()); },
                       s.subtree("s"), u);
        const Tree start = s.subtree("x0");
        const Rate rest = 1.0 - momentum;
        const Tree out = trees::map(
            [&](const Array& p0, const Array& v, const Array& square, const Array& p) {
              const Array z = p0 - v / (numpy::cbrt(square) + eps);
              return rest * z + momentum * p - p;
            },
            start, sum, squares, *params);
        return std::pair(out, state(safe_increment(count), squares, sum, start));
      });
}
GradientTransformation madgrad(Rate learning_rate, Rate momentum, Rate weight_decay, Rate eps) {
  return chain(add_decayed_weights(std::move(weight_decay)),
               scale_by_madgrad(std::move(learning_rate), std::move(momentum), std::move(eps)));
}

}  // namespace strata::optim::contrib

namespace strata::optim::detail {
void add_contrib_momenta(Rules& r) {
  r.add("contrib.scale_by_acprop", {}, &contrib::scale_by_acprop, "Zhuang et al. (2021)",
        "Gradients by the second moment of the step before.");
  r.add("contrib.acprop", {"learning_rate"}, &contrib::acprop, "Zhuang et al. (2021)",
        "Gradients by the second moment of the step before.");
  r.add("contrib.scale_by_ademamix", {}, &contrib::scale_by_ademamix, "Pagliardini et al. (2024)",
        "Adam with a second, slower mean.");
  r.add("contrib.ademamix", {"learning_rate"}, &contrib::ademamix, "Pagliardini et al. (2024)",
        "AdamW with a second, slower mean.");
  r.add("contrib.scale_by_simplified_ademamix", {}, &contrib::scale_by_simplified_ademamix,
        "Morwani et al. (2025)", "AdEMAMix with one mean.");
  r.add("contrib.simplified_ademamix", {"learning_rate"}, &contrib::simplified_ademamix,
        "Morwani et al. (2025)", "AdEMAMix with one mean.");
  r.add("contrib.scale_by_adopt", {}, &contrib::scale_by_adopt, "Taniguchi et al. (2024)",
        "Adam that converges with any b2.");
  r.add("contrib.adopt", {"learning_rate"}, &contrib::adopt, "Taniguchi et al. (2024)",
        "Adam that converges with any b2.");
  r.add("contrib.scale_by_cocob", {"alpha=100.0", "eps=1e-8"}, &contrib::scale_by_cocob,
        "Orabona and Tommasi (2017)", "Steps by betting on coins.");
  r.add("contrib.cocob", {"learning_rate=1.0"}, &contrib::cocob, "Orabona and Tommasi (2017)",
        "Descent without a rate, by betting on coins.");
  r.add("contrib.scale_by_madgrad", {"learning_rate", "momentum=0.9", "eps=1e-6"},
        &contrib::scale_by_madgrad, "Defazio and Jelassi (2021)",
        "Dual averaging with rates by the cube root.");
  r.add("contrib.madgrad", {"learning_rate", "momentum=0.9", "weight_decay=0.0", "eps=1e-6"},
        &contrib::madgrad, "Defazio and Jelassi (2021)",
        "Dual averaging with rates by the cube root.");
}
}  // namespace strata::optim::detail
