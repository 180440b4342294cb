#include "strata/optim/rules/squares.h"

#include "strata/api/lax.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/trace.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim {

using detail::field;
using detail::state_of;

namespace {
/// g / sqrt(s + eps), 0 where s is 0.
Array by_root(const Array& g, const Array& s, const Rate& eps) {
  return numpy::where(s > 0.0, lax::rsqrt(s + eps), 0.0) * g;
}
/// g by v, with eps inside of the root or outside.
Array scaled(const Array& g, const Array& v, const RmsOptions& o) {
  return o.eps_in_sqrt ? lax::rsqrt(v + o.eps) * g : 1.0 / (numpy::sqrt(v) + o.eps) * g;
}
/// A vector along one axis, in the shape of g with 1 elsewhere.
Array along(const Array& v, const Array& g, int axis) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(g.ndim()), 1);
  shape[static_cast<std::size_t>(axis)] = g.shape(axis);
  return numpy::reshape(v, shape);
}
std::vector<std::int64_t> other_axes(const Array& g, int axis) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < g.ndim(); ++i)
    if (i != axis) out.push_back(i);
  return out;
}
}  // namespace

GradientTransformation scale_by_rss(Rate initial, Rate eps) {
  return detail::rule(
      "scale_by_rss(" + initial.text() + ", " + eps.text() + ")",
      [=](const Tree& params) {
        return field("sum_of_squares", trees::full_like(params, initial));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree sums = trees::map([](const Array& g, const Array& t) { return abs_sq(g) + t; },
                                     u, s.subtree("sum_of_squares"));
        return std::pair(
            trees::map([&](const Array& g, const Array& t) { return by_root(g, t, eps); }, u, sums),
            field("sum_of_squares", sums));
      });
}
GradientTransformation adagrad(Rate learning_rate, Rate initial, Rate eps) {
  return chain(scale_by_rss(std::move(initial), std::move(eps)),
               scale_by_learning_rate(std::move(learning_rate)));
}

namespace {
GradientTransformation by_moments(const char* name, bool centered, const RmsOptions& o) {
  const auto state = [=](const Array& count, const Tree& mu, const Tree& nu) {
    Tree out = centered ? state_of(field("mu", mu), field("nu", nu)) : field("nu", nu);
    return o.bias_correction ? state_of(field("count", count), out) : out;
  };
  return detail::rule(
      detail::call_text(name, o),
      [=](const Tree& params) {
        return state(detail::no_count(), trees::zeros_like(params),
                     trees::full_like(params, o.initial_scale));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        Tree mu;
        if (centered) mu = trees::update_moment(u, s.subtree("mu"), o.decay, 1);
        const Tree nu = trees::update_moment_per_elem_norm(u, s.subtree("nu"), o.decay, 2);
        Array count;
        Tree m = mu, v = nu;
        if (o.bias_correction) {
          count = safe_increment(s["count"]);
          if (centered) m = trees::bias_correction(mu, o.decay, count);
          v = trees::bias_correction(nu, o.decay, count);
        }
        if (centered)
          v = trees::map([](const Array& a, const Array& b) { return b - abs_sq(a); }, m, v);
        return std::pair(
            trees::map([&](const Array& g, const Array& b) { return scaled(g, b, o); }, u, v),
            state(count, mu, nu));
      });
}
}  // namespace

GradientTransformation scale_by_rms(RmsOptions o) { return by_moments("scale_by_rms", false, o); }
GradientTransformation scale_by_stddev(RmsOptions o) {
  return by_moments("scale_by_stddev", true, o);
}
GradientTransformation rmsprop(Rate learning_rate, RmspropOptions o) {
  const RmsOptions inner{.decay = o.decay,
                         .eps = o.eps,
                         .initial_scale = o.initial_scale,
                         .eps_in_sqrt = o.eps_in_sqrt,
                         .bias_correction = o.bias_correction};
  return chain(o.centered ? scale_by_stddev(inner) : scale_by_rms(inner),
               scale_by_learning_rate(std::move(learning_rate)),
               o.momentum.has_value() ? trace(o.momentum, o.nesterov) : identity());
}

GradientTransformation scale_by_adadelta(Rate rho, Rate eps) {
  return detail::rule(
      "scale_by_adadelta(" + rho.text() + ", " + eps.text() + ")",
      [](const Tree& params) {
        return state_of(field("e_g", trees::zeros_like(params)),
                        field("e_x", trees::zeros_like(params)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree before = s.subtree("e_x");
        const Tree e_g = trees::update_moment(u, s.subtree("e_g"), rho, 2);
        const Tree out = trees::map(
            [&](const Array& g, const Array& e, const Array& x) {
              return numpy::sqrt(x + eps) / numpy::sqrt(e + eps) * g;
            },
            u, e_g, before);
        return std::pair(out, state_of(field("e_g", e_g),
                                       field("e_x", trees::update_moment(out, before, rho, 2))));
      });
}
GradientTransformation adadelta(Rate learning_rate, AdadeltaOptions o) {
  return chain(add_decayed_weights(o.weight_decay, o.weight_decay_mask),
               scale_by_adadelta(o.rho, o.eps), scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation scale_by_rprop(Rate learning_rate, RpropOptions o) {
  return detail::rule(
      detail::call_text("scale_by_rprop", o),
      [=](const Tree& params) {
        return state_of(field("step_sizes", trees::full_like(params, learning_rate)),
                        field("prev_updates", trees::zeros_like(params)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree before = s.subtree("prev_updates");
        const Tree signs = trees::mul(u, before);
        const Tree sizes = trees::map(
            [&](const Array& sign, const Array& size) {
              const Array factor =
                  numpy::where(sign > 0.0, o.eta_plus.array(), o.eta_minus.array());
              return numpy::where(
                  numpy::equal(sign, 0.0), size,
                  numpy::clip(size * factor, o.min_step_size.array(), o.max_step_size.array()));
            },
            signs, s.subtree("step_sizes"));
        const Tree next = trees::map(
            [](const Array& sign, const Array& g, const Array& size) {
              return numpy::where(sign < 0.0, numpy::zeros_like(g), size * numpy::sign(g));
            },
            signs, u, sizes);
        const Tree out = trees::map(
            [](const Array& sign, const Array& old) {
              return numpy::where(sign < 0.0, numpy::zeros_like(old), old);
            },
            signs, before);
        return std::pair(out, state_of(field("step_sizes", sizes), field("prev_updates", next)));
      });
}
GradientTransformation rprop(Rate learning_rate, RpropOptions o) {
  return chain(scale_by_rprop(std::move(learning_rate), std::move(o)), scale(-1.0));
}

GradientTransformation scale_by_sm3(Rate b1, Rate b2, Rate eps) {
  const auto state = [](const std::vector<Tree>& axes, const Tree& nu) {
    return state_of(field("mu", tree::merge(axes)), field("nu", nu));
  };
  const auto place = [](const Tree& t, std::size_t i, int axis) {
    const std::string& name = t.entry(i).name;
    return (name.empty() ? "" : name + "/") + std::to_string(axis);
  };
  return detail::rule(
      "scale_by_sm3(" + b1.text() + ", " + b2.text() + ")",
      [=](const Tree& params) {
        detail::refuse_complex("scale_by_sm3", params);
        std::vector<Tree> axes;
        for (std::size_t i = 0; i < params.size(); ++i)
          for (int axis = 0; axis < params.value(i).ndim(); ++axis)
            axes.push_back(field(place(params, i, axis), numpy::zeros({params.value(i).shape(axis)},
                                                                      params.value(i).dtype())));
        return state(axes, trees::zeros_like(params));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree old = s.subtree("mu");
        std::vector<Array> scaled_updates;
        std::vector<Tree> axes;
        for (std::size_t i = 0; i < u.size(); ++i) {
          const Array& g = u.value(i);
          if (g.ndim() == 0) throw Error("scale_by_sm3", "{} has no axis", u.entry(i).name);
          Array least;
          for (int axis = 0; axis < g.ndim(); ++axis) {
            const Array v = along(old[place(u, i, axis)], g, axis);
            least = axis == 0 ? v : numpy::minimum(least, v);
          }
          const Rate own = b2.is(1.0) ? Rate(1.0) : 1.0 - b2;
          const Array sum = own * (g * g) + b2 * least;
          scaled_updates.push_back(g * numpy::where(sum > 0.0, lax::rsqrt(sum + eps), 0.0));
          for (int axis = 0; axis < g.ndim(); ++axis)
            axes.push_back(field(place(u, i, axis),
                                 g.ndim() < 2 ? sum : numpy::max(sum, other_axes(g, axis))));
        }
        const Tree nu =
            trees::update_moment(u.with_values(std::move(scaled_updates)), s.subtree("nu"), b1, 1);
        return std::pair(nu, state(axes, nu));
      });
}
GradientTransformation sm3(Rate learning_rate, Rate momentum) {
  return chain(scale_by_sm3(std::move(momentum)), scale(-learning_rate));
}

namespace detail {
void add_squares(Rules& r) {
  r.add("scale_by_rss", {"initial_accumulator_value=0.1", "eps=1e-7"}, &scale_by_rss,
        "Duchi et al. (2011)", "Updates over the root of the sum of their squares.");
  r.add("adagrad", {"learning_rate", "initial_accumulator_value=0.1", "eps=1e-7"}, &adagrad,
        "Duchi et al. (2011)", "Rates that fall with the sum of squared gradients.");
  r.add("scale_by_rms", {}, &scale_by_rms, "Tieleman and Hinton (2012)",
        "Updates over the root of the mean of their squares.");
  r.add("scale_by_stddev", {}, &scale_by_stddev, "Graves (2013)",
        "Updates over their standard deviation.");
  r.add("rmsprop", {"learning_rate"}, &rmsprop, "Tieleman and Hinton (2012)",
        "Gradients over the root of the mean of their squares.");
  r.add("scale_by_adadelta", {"rho=0.9", "eps=1e-6"}, &scale_by_adadelta, "Zeiler (2012)",
        "Updates in the units of weights.");
  r.add("adadelta", {"learning_rate="}, &adadelta, "Zeiler (2012)",
        "Steps in the units of weights, without a rate.");
  r.add("scale_by_rprop", {"learning_rate"}, &scale_by_rprop, "Riedmiller and Braun (1993)",
        "Step sizes by whether signs turn.");
  r.add("rprop", {"learning_rate"}, &rprop, "Riedmiller and Braun (1993)",
        "Step sizes by whether signs turn.");
  r.add("scale_by_sm3", {"b1=0.9", "b2=1.0", "eps=1e-8"}, &scale_by_sm3, "Anil et al. (2019)",
        "Adagrad with a vector for each axis.");
  r.add("sm3", {"learning_rate", "momentum=0.9"}, &sm3, "Anil et al. (2019)",
        "Adagrad with a vector for each axis, and momentum.");
}
}  // namespace detail

}  // namespace strata::optim
