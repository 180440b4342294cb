#include "strata/optim/contrib/rates.h"

#include <cmath>
#include <limits>

#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim::contrib {

using optim::detail::field;
using optim::detail::no_count;
using optim::detail::raised_by_products;
using optim::detail::rule;
using optim::detail::state_of;

namespace {
DType lowest(const Tree& params) { return trees::dtype(params, trees::Common::lowest); }
Array number(const Rate& value, DType dtype) { return numpy::astype(value.array(), dtype); }
std::pair<double, double> two(const char* name, const std::vector<double>& betas) {
  if (betas.size() != 2) throw Error(name, "betas are two numbers, got {}", betas.size());
  return {betas[0], betas[1]};
}
Array sum_of_sizes(const Tree& t) {
  return trees::sum(trees::map([](const Array& x) { return numpy::abs(x); }, t));
}
/// sqrt(1 - b2^t) / (1 - b1^t)
Array correction(double b1, double b2, const Array& count) {
  return numpy::power(1.0 - raised_by_products(b2, count), 0.5) /
         (1.0 - raised_by_products(b1, count));
}
}  // namespace

void read(const Option& given, const std::string& where, InitStep& into) {
  const auto* pair = given.as<std::vector<Option>>();
  if (!pair || pair->size() != 2)
    throw Error("optim", "{} is a pair of a kind and a number, got {}", where, given.text());
  optim::read((*pair)[0], where, into.type);
  optim::read((*pair)[1], where, into.value);
}
std::string text_of(const InitStep& value) {
  return value.type + " " + optim::text_of(value.value);
}

GradientTransformation dadapt_adamw(Rate learning_rate, DadaptAdamwOptions o) {
  const std::pair<double, double> betas = two("dadapt_adamw", o.betas);
  const double b1 = betas.first, b2 = betas.second;
  const auto state = [](const Tree& mean, const Tree& square, const Tree& sum,
                        const Array& estimate, const Array& numerator, const Array& count) {
    return state_of(field("exp_avg", mean), field("exp_avg_sq", square), field("grad_sum", sum),
                    field("estim_lr", estimate), field("numerator_weighted", numerator),
                    field("count", count));
  };
  return rule(
      optim::detail::call_text("dadapt_adamw", o) + learning_rate.text(), {.params = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        const DType dtype = lowest(params);
        return state(zeros, zeros, zeros, number(o.estim_lr0, dtype), numpy::zeros({}, dtype),
                     no_count());
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const double root = std::sqrt(b2);
        const Array count = s["count"], next_count = safe_increment(count);
        const Array old_numerator = s["numerator_weighted"], estimate = s["estim_lr"];
        const Tree old_square = s.subtree("exp_avg_sq"), old_sum = s.subtree("grad_sum");
        const Array dlr =
            numpy::astype(estimate * learning_rate.at(count) * correction(b1, b2, next_count),
                          old_numerator.dtype());
        const Tree weighted = optim::detail::over_root(old_sum, old_square, o.eps);
        const Array along = trees::vdot(u, weighted);
        const Array to_mean = (1.0 - b1) * dlr, to_sum = (1.0 - root) * dlr;
        const Tree mean =
            trees::map([&](const Array& m, const Array& g) { return b1 * m + to_mean * g; },
                       s.subtree("exp_avg"), u);
        const Tree square =
            trees::map([&](const Array& v, const Array& g) { return b2 * v + (1.0 - b2) * g * g; },
                       old_square, u);
        const Tree sum = trees::map(
            [&](const Array& k, const Array& g) { return root * k + to_sum * g; }, old_sum, u);
        const Array numerator = root * old_numerator + (1.0 - root) * dlr * along;
        const Array found = numerator / ((1.0 - root) * sum_of_sizes(sum));
        const Array decay = (-o.weight_decay) * dlr;
        const Tree out =
            trees::map([&](const Array& m, const Array& v,
                           const Array& p) { return decay * p - m / (numpy::sqrt(v) + o.eps); },
                       mean, square, *params);
        return std::pair(
            out, state(mean, square, sum, numpy::maximum(estimate, found), numerator, next_count));
      });
}

GradientTransformation prodigy(Rate learning_rate, ProdigyOptions o) {
  const std::pair<double, double> betas = two("prodigy", o.betas);
  const double b1 = betas.first, b2 = betas.second;
  const Rate b3 = o.beta3.has_value() ? o.beta3 : Rate(std::sqrt(b2));
  const auto state = [](const Tree& mean, const Tree& square, const Tree& sum, const Tree& start,
                        const Array& estimate, const Array& numerator, const Array& count) {
    return state_of(field("exp_avg", mean), field("exp_avg_sq", square), field("grad_sum", sum),
                    field("params0", start), field("estim_lr", estimate),
                    field("numerator_weighted", numerator), field("count", count));
  };
  return rule(
      optim::detail::call_text("prodigy", o) + learning_rate.text(), {.params = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        const DType dtype = lowest(params);
        return state(zeros, zeros, zeros, params, number(o.estim_lr0, dtype),
                     numpy::zeros({}, dtype), no_count());
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Array count = s["count"], next_count = safe_increment(count), d = s["estim_lr"];
        const Tree start = s.subtree("params0");
        const Array dlr =
            numpy::astype(d * learning_rate.at(count) * correction(b1, b2, next_count), d.dtype());
        const Tree dg = trees::scale(d, u);
        const Array along = trees::vdot(u, trees::sub(start, *params));
        const Tree mean =
            trees::map([&](const Array& m, const Array& g) { return b1 * m + (1.0 - b1) * g; },
                       s.subtree("exp_avg"), dg);
        const Tree square =
            trees::map([&](const Array& v, const Array& g) { return b2 * v + (1.0 - b2) * g * g; },
                       s.subtree("exp_avg_sq"), dg);
        const Array factor = o.safeguard_warmup ? d : dlr;
        const Tree sum = trees::map(
            [&](const Array& k, const Array& g) { return b3 * k + factor * g / o.estim_lr0; },
            s.subtree("grad_sum"), dg);
        const Array numerator = b3 * s["numerator_weighted"] + d / o.estim_lr0 * dlr * along;
        const Array found = o.estim_lr_coef * numerator / sum_of_sizes(sum);
        const Array next = numpy::maximum(d, found);
        const Array decay = (-o.weight_decay) * dlr, floor = next * o.eps;
        const Tree out = trees::map(
            [&](const Array& m, const Array& v, const Array& p) {
              return decay * p - dlr * m / (numpy::sqrt(v) + floor);
            },
            mean, square, *params);
        return std::pair(out, state(mean, square, sum, start, next, numerator, next_count));
      });
}

GradientTransformation scale_by_dog(InitStep init_step, Rate eps) {
  const std::string type = init_step.type;
  if (type != "distance" && type != "learning_rate" && type != "heuristic")
    throw Error("scale_by_dog", "init_step is distance, learning_rate or heuristic, got {}", type);
  const double value = init_step.value;
  const auto state = [](const Array& first, const Tree& start, const Array& distance,
                        const Array& sum) {
    return state_of(field("is_init_step", first), field("init_params", start),
                    field("max_dist", distance), field("sum_sq_norm_grads", sum));
  };
  return rule(
      "scale_by_dog(" + text_of(init_step) + ")", {.params = true},
      [=](const Tree& params) {
        const DType dtype = lowest(params);
        const Array distance = type == "distance"    ? Array(value)
                               : type == "heuristic" ? value * (1.0 + trees::norm(params))
                                                     : Array(0.0);
        return state(numpy::full({}, true), params, numpy::astype(distance, dtype),
                     numpy::zeros({}, dtype));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Tree start = s.subtree("init_params");
        const Array distance =
            numpy::maximum(s["max_dist"], trees::norm(trees::sub(start, *params)));
        const Array sum = s["sum_sq_norm_grads"] + trees::norm(u, true);
        Array rate = distance / numpy::sqrt(sum + eps);
        if (type == "learning_rate") rate = numpy::where(s["is_init_step"], value, rate);
        return std::pair(trees::scale(rate, u),
                         state(numpy::full({}, false), start, distance, sum));
      });
}
GradientTransformation dog(Rate learning_rate, DogOptions o) {
  return chain(
      o.weight_decay.has_value() ? add_decayed_weights(o.weight_decay, o.mask) : identity(),
      scale_by_dog(o.init_step, o.eps), scale_by_learning_rate(std::move(learning_rate)));
}
GradientTransformation scale_by_dowg(Rate init_estim_sq_dist, Rate eps) {
  const Rate first = init_estim_sq_dist.has_value() ? init_estim_sq_dist : eps;
  const auto state = [](const Tree& start, const Array& sum, const Array& distance) {
    return state_of(field("init_params", start), field("weighted_sq_norm_grads", sum),
                    field("estim_sq_dist", distance));
  };
  return rule(
      "scale_by_dowg(" + first.text() + ", " + eps.text() + ")", {.params = true},
      [=](const Tree& params) {
        const DType dtype = lowest(params);
        return state(params, numpy::zeros({}, dtype), number(first, dtype));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
        const Tree start = s.subtree("init_params");
        const Array distance =
            numpy::maximum(s["estim_sq_dist"], trees::norm(trees::sub(start, *params), true));
        const Array sum = distance * trees::norm(u, true) + s["weighted_sq_norm_grads"];
        return std::pair(trees::scale(distance / (numpy::sqrt(sum) + eps), u),
                         state(start, sum, distance));
      });
}
GradientTransformation dowg(Rate learning_rate, DowgOptions o) {
  return chain(
      o.weight_decay.has_value() ? add_decayed_weights(o.weight_decay, o.mask) : identity(),
      scale_by_dowg(o.init_estim_sq_dist, o.eps), scale_by_learning_rate(std::move(learning_rate)));
}

namespace {
constexpr double kNothing = std::numeric_limits<double>::epsilon();

/// What both forms of MoMo share: the step size, and the lower bound.
struct Model {
  Rate rate, decay, lower_bound;
  bool adapt = false;
  Array value, gamma, size, along, bound;
  /// 1, or with a correction 1 - b1^t.
  Rate correction = 1.0;

  Rate shrink() const { return 1.0 + rate * decay; }
  Array floor_of() const {
    if (!adapt) return bound;
    const Array cap = shrink() * (value - gamma) + along;
    const Rate scaled = shrink() * correction;
    return numpy::where(cap < scaled * bound,
                        numpy::maximum(cap / (2.0 * correction * shrink()), lower_bound.array()),
                        bound);
  }
  Array step() const {
    const Array t =
        numpy::maximum(shrink() * (value - correction * floor_of() - gamma) + along, 0.0) / size;
    return numpy::minimum((rate / correction).array(), numpy::where(size <= kNothing, 0.0, t));
  }
  Array next_bound(const Array& tau) const {
    if (!adapt) return bound;
    Array next = value + along - gamma - 0.5 * tau * size;
    if (!correction.is(1.0)) next = next / correction;
    return numpy::maximum(next, lower_bound.array());
  }
  Rate decay_factor() const { return -(rate * decay) / shrink(); }
};
}  // namespace

GradientTransformation momo(Rate learning_rate, MomoOptions o) {
  const auto state = [](const Tree& mean, const Array& value, const Array& gamma,
                        const Array& bound, const Array& count) {
    return state_of(field("exp_avg", mean), field("barf", value), field("gamma", gamma),
                    field("lb", bound), field("count", count));
  };
  return rule(
      optim::detail::call_text("momo", o) + learning_rate.text(), {.params = true, .value = true},
      [=](const Tree& params) {
        const DType dtype = lowest(params);
        const Array zero = numpy::zeros({}, dtype);
        return state(trees::zeros_like(params), zero, zero, number(o.lower_bound, dtype),
                     no_count());
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Array count = s["count"], old = s["barf"];
        const Array b = numpy::where(numpy::equal(count, 0), 0.0, o.beta.array()), rest = 1.0 - b;
        const Tree mean =
            trees::map([&](const Array& m, const Array& g) { return b * m + rest * g; },
                       s.subtree("exp_avg"), u);
        const Model model{.rate = learning_rate.at(count),
                          .decay = o.weight_decay,
                          .lower_bound = o.lower_bound,
                          .adapt = o.adapt_lower_bound,
                          .value = b * old + rest * numpy::astype(*extra.value, old.dtype()),
                          .gamma = b * s["gamma"] + rest * trees::vdot(u, *params),
                          .size = trees::norm(mean, true),
                          .along = trees::vdot(mean, *params),
                          .bound = s["lb"]};
        const Array tau = model.step();
        const Rate decay = model.decay_factor();
        const Tree out = trees::map(
            [&](const Array& m, const Array& p) { return decay * p - tau * m; }, mean, *params);
        return std::pair(out, state(mean, model.value, model.gamma, model.next_bound(tau),
                                    safe_increment(count)));
      });
}

GradientTransformation momo_adam(Rate learning_rate, MomoAdamOptions o) {
  const auto state = [](const Tree& mean, const Tree& square, const Array& value,
                        const Array& gamma, const Array& bound, const Array& count) {
    return state_of(field("exp_avg", mean), field("exp_avg_sq", square), field("barf", value),
                    field("gamma", gamma), field("lb", bound), field("count", count));
  };
  return rule(
      optim::detail::call_text("momo_adam", o) + learning_rate.text(),
      {.params = true, .value = true},
      [=](const Tree& params) {
        const DType dtype = lowest(params);
        const Array zero = numpy::zeros({}, dtype);
        const Tree zeros = trees::zeros_like(params);
        return state(zeros, zeros, zero, zero, number(o.lower_bound, dtype), no_count());
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Array count = s["count"], next_count = safe_increment(count), old = s["barf"];
        const Rate r1 = 1.0 - o.b1, r2 = 1.0 - o.b2;
        const Tree mean =
            trees::map([&](const Array& m, const Array& g) { return o.b1 * m + r1 * g; },
                       s.subtree("exp_avg"), u);
        const Tree square =
            trees::map([&](const Array& v, const Array& g) { return o.b2 * v + r2 * g * g; },
                       s.subtree("exp_avg_sq"), u);
        const Array c1 = numpy::astype(1.0 - raised_by_products(o.b1, next_count), old.dtype());
        const Array c2 = numpy::astype(1.0 - raised_by_products(o.b2, next_count), old.dtype());
        const Tree metric =
            trees::map([&](const Array& v) { return o.eps + numpy::sqrt(v / c2); }, square);
        const Model model{.rate = learning_rate.at(count),
                          .decay = o.weight_decay,
                          .lower_bound = o.lower_bound,
                          .adapt = o.adapt_lower_bound,
                          .value = o.b1 * old + r1 * numpy::astype(*extra.value, old.dtype()),
                          .gamma = o.b1 * s["gamma"] + r1 * trees::vdot(u, *params),
                          .size = trees::vdot(mean, trees::div(mean, metric)),
                          .along = trees::vdot(mean, *params),
                          .bound = s["lb"],
                          .correction = c1};
        const Array tau = model.step();
        const Rate decay = model.decay_factor();
        const Tree out = trees::map(
            [&](const Array& m, const Array& d, const Array& p) { return decay * p - tau * m / d; },
            mean, metric, *params);
        return std::pair(
            out, state(mean, square, model.value, model.gamma, model.next_bound(tau), next_count));
      });
}

}  // namespace strata::optim::contrib

namespace strata::optim::detail {
void add_contrib_rates(Rules& r) {
  r.add("contrib.dadapt_adamw", {"learning_rate=1.0"}, &contrib::dadapt_adamw,
        "Defazio and Mishchenko (2023)", "AdamW that estimates its rate.");
  r.add("contrib.prodigy", {"learning_rate=1.0"}, &contrib::prodigy,
        "Mishchenko and Defazio (2024)", "AdamW that estimates its rate, faster.");
  r.add("contrib.dog", {"learning_rate=1.0"}, &contrib::dog, "Ivgi et al. (2023)",
        "The rate is the distance over the gradients.");
  r.add("contrib.dowg", {"learning_rate=1.0"}, &contrib::dowg, "Khaled et al. (2023)",
        "The rate is the distance over weighted gradients.");
  r.add("contrib.momo", {"learning_rate=1.0"}, &contrib::momo, "Schaipp et al. (2023)",
        "Momentum with steps by a model of the loss.");
  r.add("contrib.momo_adam", {"learning_rate=0.01"}, &contrib::momo_adam, "Schaipp et al. (2023)",
        "Adam with steps by a model of the loss.");
}
}  // namespace strata::optim::detail
