#include "strata/optim/transform/aggregating.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/transform/conditions.h"

namespace strata::optim::aggregating {

using optim::detail::field;
using optim::detail::no_count;
using optim::detail::rule;
using optim::detail::state_of;

namespace {
Tree mean_of(const Tree& t, const ElementAxes& axes) {
  return trees::map([&](const Array& x) { return numpy::mean(x, axes); }, t);
}
void check_steps(std::int64_t steps) {
  if (steps < 1) throw Error("aggregating", "accumulation_steps is 1 or more, got {}", steps);
}
Array ready(bool yes) { return numpy::full({}, yes); }
}  // namespace

GradientTransformation process(GradientTransformation preprocessor,
                               GradientTransformation aggregator,
                               GradientTransformation postprocessor, bool has_aux) {
  const Needs needs = merged(preprocessor.rule().needs(),
                             merged(aggregator.rule().needs(), postprocessor.rule().needs()));
  const auto state = [](const Tree& a, const Tree& b, const Tree& c) {
    return state_of(field("0", a), field("1", b), field("2", c));
  };
  return rule(
      "process(" + preprocessor.text() + ", " + aggregator.text() + ", " + postprocessor.text() +
          ")",
      needs,
      [=](const Tree& params) {
        return state(preprocessor.init(params), aggregator.init(params),
                     postprocessor.init(params));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        auto [each, first] = preprocessor.update(u, s.subtree("0"), params,
                                                 taken(extra, preprocessor.rule().needs()));
        auto [aggregated, second] = aggregator.update(each, s.subtree("1"), params,
                                                      taken(extra, aggregator.rule().needs()));
        Extra with = taken(extra, postprocessor.rule().needs());
        if (has_aux) with.more = tree::merge({extra.more, aggregated.subtree("aux")});
        const Tree mean = has_aux ? aggregated.subtree("updates") : aggregated;
        const Tree old = s.subtree("2");
        if (const std::optional<Tree> flag = trees::get(second, "ready")) {
          auto [out, third] =
              optim::detail::update_when(flag->value(0), postprocessor,
                                         optim::detail::Otherwise::zeros, mean, old, params, with);
          return std::pair(out, state(first, second, third));
        }
        auto [out, third] = postprocessor.update(mean, old, params, with);
        return std::pair(out, state(first, second, third));
      });
}

GradientTransformation average_per_element_updates(ElementAxes axes) {
  return stateless("average_per_element_updates()",
                   [=](const Tree& u, const Tree*) { return mean_of(u, axes); });
}
GradientTransformation accumulate_avg_updates(std::int64_t steps) {
  check_steps(steps);
  if (steps == 1) return identity();
  const auto state = [](const Array& step, const Array& done, const Tree& mean) {
    return state_of(field("micro_step", step), field("ready", done), field("avg_grad", mean));
  };
  return rule(
      "accumulate_avg_updates(" + std::to_string(steps) + ")",
      [=](const Tree& params) {
        return state(no_count(), ready(false), trees::zeros_like(params));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array step = s["micro_step"] + 1, done = numpy::equal(step, steps);
        const Tree mean =
            trees::map([&](const Array& g, const Array& a) { return a + (g - a) / step; }, u,
                       s.subtree("avg_grad"));
        const Tree zeros = trees::zeros_like(mean);
        return std::pair(
            trees::where(done, mean, zeros),
            state(numpy::where(done, no_count(), step), done, trees::where(done, zeros, mean)));
      });
}
GradientTransformation average_incrementally_updates(std::optional<ElementAxes> axes,
                                                     std::int64_t steps) {
  if (!axes) return accumulate_avg_updates(steps);
  return chain(average_per_element_updates(*axes), accumulate_avg_updates(steps));
}

std::int64_t get_batch_size_from_per_elt_updates(const Tree& updates, const ElementAxes& axes) {
  std::optional<std::int64_t> size;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    std::int64_t here = 1;
    for (std::int64_t a : axes) here *= updates.value(i).shape(static_cast<int>(a));
    if (size && *size != here)
      throw Error("aggregating", "updates of {} elements and, in {}, of {}", *size,
                  updates.entry(i).name, here);
    size = here;
  }
  return size.value_or(0);
}

GradientTransformation get_per_element_mean_and_sum_sq_diff_grads(ElementAxes axes,
                                                                  std::int64_t steps) {
  check_steps(steps);
  const auto both = [=](const Tree& u) {
    const Tree mean = trees::map(
        [&](const Array& x) { return numpy::mean(x, {.axis = axes, .keepdims = true}); }, u);
    const Tree squares = trees::map(
        [&](const Array& x, const Array& m) { return numpy::sum(numpy::square(x - m), axes); }, u,
        mean);
    return std::pair(trees::map([&](const Array& m) { return numpy::squeeze(m, axes); }, mean),
                     squares);
  };
  const auto result = [](const Tree& mean, const Tree& squares, const Array& count) {
    return tree::merge({mean.below("updates"), squares.below("aux/sum_sq_diff_grads"),
                        field("aux/sample_size", count)});
  };
  if (steps == 1)
    return stateless(
        "get_per_element_mean_and_sum_sq_diff_grads()", [=](const Tree& u, const Tree*) {
          const auto [mean, squares] = both(u);
          return result(mean, squares, Array(get_batch_size_from_per_elt_updates(u, axes)));
        });
  const auto state = [](const Array& step, const Array& done, const Tree& mean,
                        const Tree& squares) {
    return state_of(field("micro_step", step), field("ready", done), field("mean_grads", mean),
                    field("sum_sq_diff_grads", squares));
  };
  return rule(
      "get_per_element_mean_and_sum_sq_diff_grads(" + std::to_string(steps) + ")",
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state(no_count(), ready(false), zeros, zeros);
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const std::int64_t count = get_batch_size_from_per_elt_updates(u, axes);
        const Array old_step = s["micro_step"], step = old_step + 1;
        const Array done = numpy::equal(step, steps);
        const auto [batch_mean, batch_squares] = both(u);
        const Tree old = s.subtree("mean_grads"), delta = trees::sub(batch_mean, old);
        const Tree mean =
            trees::map([&](const Array& a, const Array& d) { return a + d / step; }, old, delta);
        const Array factor = old_step * count / step;
        const Tree squares = trees::map(
            [&](const Array& a, const Array& b, const Array& d) { return a + b + d * d * factor; },
            s.subtree("sum_sq_diff_grads"), batch_squares, delta);
        const Tree zeros = trees::zeros_like(mean), no_squares = trees::zeros_like(squares);
        return std::pair(
            result(trees::where(done, mean, zeros), trees::where(done, squares, no_squares),
                   numpy::where(done, count * step, 0)),
            state(numpy::where(done, no_count(), step), done, trees::where(done, zeros, mean),
                  trees::where(done, no_squares, squares)));
      });
}

GradientTransformation track_per_element_mean_and_variance_with_ema(Rate ema_decay) {
  const auto state = [](const Array& count, const Array& decay, const Tree& mean,
                        const Tree& variance) {
    return state_of(field("count", count), field("ema_decay", decay), field("mean_grads_ema", mean),
                    field("variance_grads_ema", variance));
  };
  return rule(
      "track_per_element_mean_and_variance_with_ema(" + ema_decay.text() + ")", {.more = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        return state(no_count(), numpy::astype(ema_decay.array(), DType::f32), zeros, zeros);
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra& extra) {
        if (!extra.more.contains("sample_size"))
          throw Error("track_per_element_mean_and_variance_with_ema",
                      "needs sum_sq_diff_grads and sample_size in Extra's more");
        const Array inverse = 1.0 / (extra.more["sample_size"] - 1);
        const Tree variance = trees::scale(inverse, extra.more.subtree("sum_sq_diff_grads"));
        return std::pair(
            u,
            state(safe_increment(s["count"]), s["ema_decay"],
                  trees::update_moment(u, s.subtree("mean_grads_ema"), ema_decay, 1),
                  trees::update_moment(variance, s.subtree("variance_grads_ema"), ema_decay, 1)));
      });
}
std::pair<Tree, Tree> get_unbiased_mean_and_variance_ema(const Tree& state) {
  const auto found = trees::get_all_with_path(state, "mean_grads_ema");
  if (found.size() != 1)
    throw Error("get_unbiased_mean_and_variance_ema", "the state has {} moving means of gradients",
                found.size());
  const std::string& path = found[0].first;
  const std::size_t slash = path.rfind('/');
  const Tree here = slash == std::string::npos ? state : state.subtree(path.substr(0, slash));
  const Array rest = 1.0 - optim::detail::raised(here["ema_decay"], here["count"]);
  const auto unbiased = [&](const char* name) {
    return trees::map([&](const Array& x) { return x / rest; }, here.subtree(name));
  };
  return {unbiased("mean_grads_ema"), unbiased("variance_grads_ema")};
}
GradientTransformation add_mean_variance_to_opt(GradientTransformation opt, MeanVarianceOptions o) {
  return process(
      identity(), get_per_element_mean_and_sum_sq_diff_grads(o.per_elt_axis, o.accumulation_steps),
      chain(track_per_element_mean_and_variance_with_ema(o.ema_decay), std::move(opt)), true);
}

}  // namespace strata::optim::aggregating

namespace strata::optim::detail {
void add_aggregating(Rules& r) {
  const std::string front = "experimental.aggregating.";
  r.add(front + "process",
        {"preprocessor", "aggregator", "postprocessor", "aggregator_has_aux=false"},
        &aggregating::process, "", "A rule behind an aggregation of elements.");
  r.add(front + "average_per_element_updates", {"per_elt_axis=0"},
        &aggregating::average_per_element_updates, "", "The mean over the elements of a batch.");
  r.add(front + "accumulate_avg_updates", {"accumulation_steps"},
        &aggregating::accumulate_avg_updates, "", "The mean of several updates.");
  r.add(front + "average_incrementally_updates", {"per_elt_axis", "accumulation_steps"},
        &aggregating::average_incrementally_updates, "", "The mean over elements and steps.");
  r.add(front + "get_per_element_mean_and_sum_sq_diff_grads",
        {"per_elt_axis=0", "accumulation_steps=1"},
        &aggregating::get_per_element_mean_and_sum_sq_diff_grads, "Chan et al. (1979)",
        "Mean and squares of differences over elements.");
  r.add(front + "track_per_element_mean_and_variance_with_ema", {"ema_decay=0.9"},
        &aggregating::track_per_element_mean_and_variance_with_ema, "",
        "Moving means of mean and variance.");
  r.add(front + "add_mean_variance_to_opt", {"opt"}, &aggregating::add_mean_variance_to_opt, "",
        "A rule by means of elements, whose variance is kept.");
}
}  // namespace strata::optim::detail
