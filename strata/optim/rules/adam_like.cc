#include "strata/optim/rules/adam_like.h"

#include "strata/optim/registry.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/rules/layers.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

using detail::field;
using detail::no_count;
using detail::state_of;

namespace {
Tree count_mu_nu(const Array& count, const Tree& mu, const Tree& nu) {
  return state_of(field("count", count), field("mu", mu), field("nu", nu));
}
Tree zero_moments(const Tree& params) {
  return count_mu_nu(no_count(), trees::zeros_like(params), trees::zeros_like(params));
}
}  // namespace

GradientTransformation scale_by_amsgrad(AmsgradOptions o) {
  return detail::rule(
      detail::call_text("scale_by_amsgrad", o),
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state_of(field("count", no_count()),
                        field("mu", trees::zeros_like(params, o.mu_dtype)), field("nu", zeros),
                        field("nu_max", zeros));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
        const Tree nu = trees::update_moment_per_elem_norm(u, s.subtree("nu"), o.b2, 2);
        const Array count = safe_increment(s["count"]);
        const Tree m = o.bias_correction_mu ? trees::bias_correction(mu, o.b1, count) : mu;
        const Tree v = o.bias_correction_nu ? trees::bias_correction(nu, o.b2, count) : nu;
        const Tree greatest =
            trees::map([](const Array& a, const Array& b) { return numpy::maximum(a, b); },
                       s.subtree("nu_max"), v);
        return std::pair(detail::over_root(m, greatest, o.eps, o.eps_root),
                         state_of(field("count", count), field("mu", trees::cast(mu, o.mu_dtype)),
                                  field("nu", nu), field("nu_max", greatest)));
      });
}
GradientTransformation amsgrad(Rate learning_rate, AmsgradOptions o) {
  return chain(scale_by_amsgrad(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_adamax(AdamaxOptions o) {
  return detail::rule(detail::call_text("scale_by_adamax", o), zero_moments,
                      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
                        const Array count = safe_increment(s["count"]);
                        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
                        const Tree nu =
                            trees::update_infinity_moment(u, s.subtree("nu"), o.b2, o.eps);
                        return std::pair(trees::div(trees::bias_correction(mu, o.b1, count), nu),
                                         count_mu_nu(count, mu, nu));
                      });
}
GradientTransformation adamax(Rate learning_rate, AdamaxOptions o) {
  return chain(scale_by_adamax(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation adamaxw(Rate learning_rate, AdamaxWOptions o) {
  return chain(scale_by_adamax({.b1 = o.b1, .b2 = o.b2, .eps = o.eps}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_belief(BeliefOptions o) {
  return detail::rule(
      detail::call_text("scale_by_belief", o), zero_moments,
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
        const Tree nu = trees::map(
            [&](const Array& v) { return v + o.eps_root; },
            trees::update_moment_per_elem_norm(trees::sub(u, mu), s.subtree("nu"), o.b2, 2));
        const Array count = safe_increment(s["count"]);
        const Tree m = detail::corrected(mu, u, o.b1, count, o.nesterov);
        return std::pair(detail::over_root(m, trees::bias_correction(nu, o.b2, count), o.eps),
                         count_mu_nu(count, mu, nu));
      });
}
GradientTransformation adabelief(Rate learning_rate, BeliefOptions o) {
  return chain(scale_by_belief(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_yogi(ScaleByYogiOptions o) {
  return detail::rule(
      detail::call_text("scale_by_yogi", o),
      [=](const Tree& params) {
        const Tree begin = trees::full_like(params, o.initial_accumulator_value);
        return count_mu_nu(no_count(), begin, begin);
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
        const Rate rest = 1.0 - o.b2;
        const Tree nu = trees::map(
            [&](const Array& g, const Array& v) {
              const Array square = abs_sq(g);
              return v - rest * numpy::sign(v - square) * square;
            },
            u, s.subtree("nu"));
        const Array count = safe_increment(s["count"]);
        return std::pair(
            detail::over_root(trees::bias_correction(mu, o.b1, count),
                              trees::bias_correction(nu, o.b2, count), o.eps, o.eps_root),
            count_mu_nu(count, mu, nu));
      });
}
GradientTransformation yogi(Rate learning_rate, YogiOptions o) {
  return chain(scale_by_yogi({.b1 = o.b1, .b2 = o.b2, .eps = o.eps}),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_radam(RadamOptions o) {
  return detail::rule(
      detail::call_text("scale_by_radam", o), zero_moments,
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.b1, 1);
        const Tree nu = trees::update_moment_per_elem_norm(u, s.subtree("nu"), o.b2, 2);
        const Array count = safe_increment(s["count"]);
        const Rate limit = 2.0 / (1.0 - o.b2) - 1.0;
        const Array b2t = detail::raised_by_products(o.b2, count);
        const Array rho = limit - numpy::astype(2 * count, DType::f32) * b2t / (1.0 - b2t);
        const Tree m = detail::corrected(mu, u, o.b1, count, o.nesterov);
        const Tree v = trees::bias_correction(nu, o.b2, count);
        const Array r = numpy::sqrt((rho - 4.0) * (rho - 2.0) * limit /
                                    (((limit - 4.0) * (limit - 2.0)) * rho));
        const Array enough = rho >= o.threshold.array();
        return std::pair(trees::map(
                             [&](const Array& a, const Array& b) {
                               const Array scaled = numpy::astype(r, a.dtype()) * a /
                                                    (numpy::sqrt(b + o.eps_root) + o.eps);
                               return numpy::where(enough, scaled, a);
                             },
                             m, v),
                         count_mu_nu(count, mu, nu));
      });
}
GradientTransformation radam(Rate learning_rate, RadamOptions o) {
  return chain(scale_by_radam(std::move(o)), scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_adan(ScaleByAdanOptions o) {
  const auto state = [](const Tree& m, const Tree& v, const Tree& n, const Tree& g,
                        const Array& t) {
    return state_of(field("m", m), field("v", v), field("n", n), field("g", g), field("t", t));
  };
  return detail::rule(
      detail::call_text("scale_by_adan", o),
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state(zeros, zeros, zeros, zeros, no_count());
      },
      [=](const Tree& g, const Tree& s, const Tree*, const Extra&) {
        const Rate rest = 1.0 - o.b2;
        const Tree d = trees::where(numpy::equal(s["t"], 0), trees::zeros_like(g),
                                    trees::sub(g, s.subtree("g")));
        const Tree m = trees::update_moment(g, s.subtree("m"), o.b1, 1);
        const Tree v = trees::update_moment(d, s.subtree("v"), o.b2, 1);
        const Tree n = trees::update_moment_per_elem_norm(trees::add_scale(g, rest, d),
                                                          s.subtree("n"), o.b3, 2);
        const Array t = safe_increment(s["t"]);
        const Tree u = trees::add_scale(trees::bias_correction(m, o.b1, t), rest,
                                        trees::bias_correction(v, o.b2, t));
        return std::pair(
            detail::over_root(u, trees::bias_correction(n, o.b3, t), o.eps, o.eps_root),
            state(m, v, n, g, t));
      });
}
GradientTransformation adan(Rate learning_rate, AdanOptions o) {
  return chain(
      scale_by_adan({.b1 = o.b1, .b2 = o.b2, .b3 = o.b3, .eps = o.eps, .eps_root = o.eps_root}),
      add_decayed_weights(o.weight_decay, o.mask),
      scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_lion(ScaleByLionOptions o) {
  if (o.mode != "hard" && o.mode != "smooth" && o.mode != "refined")
    throw Error("scale_by_lion", "mode is hard, smooth or refined, got {}", o.mode);
  return detail::rule(
      detail::call_text("scale_by_lion", o),
      [=](const Tree& params) {
        return state_of(field("count", no_count()),
                        field("mu", trees::zeros_like(params, o.mu_dtype)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree old = s.subtree("mu");
        const Rate rest = 1.0 - o.b1;
        const Tree out = trees::map(
            [&](const Array& g, const Array& m) {
              const Array x = rest * g + o.b1 * m;
              if (o.mode == "smooth") return numpy::tanh(o.smooth_beta * x);
              if (o.mode == "refined") return numpy::where(numpy::abs(x) < 1.0, x, numpy::sign(x));
              return numpy::sign(x);
            },
            u, old);
        return std::pair(
            out,
            state_of(field("count", safe_increment(s["count"])),
                     field("mu", trees::cast(trees::update_moment(u, old, o.b2, 1), o.mu_dtype))));
      });
}
GradientTransformation lion(Rate learning_rate, LionOptions o) {
  return chain(scale_by_lion({.b1 = o.b1, .b2 = o.b2, .mu_dtype = o.mu_dtype}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation lamb(Rate learning_rate, LambOptions o) {
  return chain(scale_by_adam({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root}),
               add_decayed_weights(o.weight_decay, o.mask), scale_by_trust_ratio(),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_novograd(ScaleByNovogradOptions o) {
  return detail::rule(
      detail::call_text("scale_by_novograd", o), {.params = true},
      [=](const Tree& params) {
        return count_mu_nu(
            no_count(), trees::zeros_like(params, o.mu_dtype),
            trees::map([](const Array& p) { return numpy::zeros({}, p.dtype()); }, params));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Array count = safe_increment(s["count"]), first = numpy::equal(count, 1);
        const Tree old = s.subtree("nu");
        const Tree squares = trees::map(
            [](const Array& g) {
              const Array norm = numpy::sqrt(numpy::sum(abs_sq(g)));
              return norm * norm;
            },
            u);
        const Tree nu = trees::where(first, trees::cast_like(squares, old),
                                     trees::update_moment(squares, old, o.b2, 1));
        const Tree mu = trees::map(
            [&](const Array& g, const Array& p, const Array& m, const Array& v) {
              const Array now = g / (numpy::sqrt(v + o.eps_root) + o.eps) + o.weight_decay * p;
              return numpy::where(first, now, o.b1 * m + now);
            },
            u, *params, s.subtree("mu"), nu);
        const Tree kept = trees::cast(mu, o.mu_dtype);
        return std::pair(kept, count_mu_nu(count, kept, nu));
      });
}
GradientTransformation novograd(Rate learning_rate, NovogradOptions o) {
  return chain(scale_by_novograd({.b1 = o.b1,
                                  .b2 = o.b2,
                                  .eps = o.eps,
                                  .eps_root = o.eps_root,
                                  .weight_decay = o.weight_decay}),
               scale_by_learning_rate(std::move(learning_rate)));
}

namespace detail {
void add_adam_like(Rules& r) {
  r.add("scale_by_amsgrad", {}, &scale_by_amsgrad, "Reddi et al. (2018)",
        "Adam by the largest second moment so far.");
  r.add("amsgrad", {"learning_rate"}, &amsgrad, "Reddi et al. (2018)",
        "Adam whose rates never rise.");
  r.add("scale_by_adamax", {}, &scale_by_adamax, "Kingma and Ba (2015)",
        "Adam by the infinity norm.");
  r.add("adamax", {"learning_rate"}, &adamax, "Kingma and Ba (2015)", "Adam by the infinity norm.");
  r.add("adamaxw", {"learning_rate"}, &adamaxw, "Kingma and Ba (2015)", "AdaMax with decay.");
  r.add("scale_by_belief", {}, &scale_by_belief, "Zhuang et al. (2020)",
        "Means of gradients over how far they were from their mean.");
  r.add("adabelief", {"learning_rate"}, &adabelief, "Zhuang et al. (2020)",
        "Long steps where gradients are as expected.");
  r.add("scale_by_yogi", {}, &scale_by_yogi, "Zaheer et al. (2018)",
        "Adam whose second moment moves by additive steps.");
  r.add("yogi", {"learning_rate"}, &yogi, "Zaheer et al. (2018)",
        "Adam whose second moment moves by additive steps.");
  r.add("scale_by_radam", {}, &scale_by_radam, "Liu et al. (2020)",
        "Adam with rectified variance.");
  r.add("radam", {"learning_rate"}, &radam, "Liu et al. (2020)",
        "Adam that needs no warm-up, by a rectified variance.");
  r.add("scale_by_adan", {}, &scale_by_adan, "Xie et al. (2022)",
        "Nesterov's momentum by differences of gradients.");
  r.add("adan", {"learning_rate"}, &adan, "Xie et al. (2022)",
        "Nesterov's momentum by differences of gradients.");
  r.add("scale_by_lion", {}, &scale_by_lion, "Chen et al. (2023)",
        "Signs of a mixture of gradient and momentum.");
  r.add("lion", {"learning_rate"}, &lion, "Chen et al. (2023)",
        "Signs of a mixture of gradient and momentum.");
  r.add("lamb", {"learning_rate"}, &lamb, "You et al. (2020)",
        "Adam with each leaf's step scaled by the norm of its weights.");
  r.add("scale_by_novograd", {}, &scale_by_novograd, "Ginsburg et al. (2019)",
        "Gradients normalised leaf by leaf.");
  r.add("novograd", {"learning_rate"}, &novograd, "Ginsburg et al. (2019)",
        "Gradients normalised leaf by leaf, with momentum.");
}
}  // namespace detail

}  // namespace strata::optim
