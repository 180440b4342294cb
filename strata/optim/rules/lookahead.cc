#include "strata/optim/rules/lookahead.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

using detail::field;
using detail::state_of;

Tree lookahead_params(const Tree& params) {
  return state_of(params.below("fast"), params.below("slow"));
}

GradientTransformation lookahead(GradientTransformation fast_optimizer, std::int64_t sync_period,
                                 Rate slow_step_size, bool reset_state) {
  if (sync_period < 1)
    throw Error("lookahead", "sync_period is a step or more, got {}", sync_period);
  Needs needs = fast_optimizer.rule().needs();
  needs.params = true;
  const auto state = [](const Tree& fast, const Array& steps) {
    return state_of(field("fast_state", fast), field("steps_since_sync", steps));
  };
  return detail::rule(
      "lookahead(" + fast_optimizer.text() + ", " + std::to_string(sync_period) + ", " +
          slow_step_size.text() + ")",
      needs,
      [=](const Tree& params) {
        const Tree fast = params.subtree("fast");
        return state(fast_optimizer.init(fast.empty() ? params : fast), detail::no_count());
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra& extra) {
        const Tree fast = params->subtree("fast"), slow = params->subtree("slow");
        if (fast.empty() || slow.empty())
          throw Error("lookahead",
                      "the parameters need leaves fast/... and slow/...; "
                      "lookahead_params makes them");
        auto [u, inner] = fast_optimizer.update(g, s.subtree("fast_state"), fast, extra);
        const Array steps = s["steps_since_sync"];
        const Array sync = numpy::equal(steps, sync_period - 1);
        const Tree apart = trees::map(
            [](const Array& f, const Array& step, const Array& w) { return f + step - w; }, fast, u,
            slow);
        const Array of_slow = slow_step_size * sync;
        const Array of_fast = sync * (1.0 - slow_step_size).array();
        const Tree to_slow = trees::map([&](const Array& d) { return of_slow * d; }, apart);
        const Tree to_fast = trees::map(
            [&](const Array& step, const Array& d) { return step - of_fast * d; }, u, apart);
        Tree next = inner;
        if (reset_state) next = trees::where(sync, fast_optimizer.init(fast), inner);
        return std::pair(state_of(to_fast.below("fast"), to_slow.below("slow")),
                         state(next, numpy::remainder(steps + 1, sync_period)));
      });
}

GradientTransformation normalize() {
  return stateless("normalize()", [](const Tree& u, const Tree*) {
    const Array norm = trees::norm(u);
    return trees::map([&](const Array& g) { return g / norm; }, u);
  });
}

namespace {
Tree negated(const Tree& t) {
  return trees::map([](const Array& x) { return -x; }, t);
}
Tree sam_state(const Array& steps, const Tree& opt, const Tree& adv, const Tree& cache) {
  return state_of(field("steps_since_sync", steps), field("opt_state", opt),
                  field("adv_state", adv), field("cache", cache));
}
GradientTransformation opaque_sam(GradientTransformation optimizer, GradientTransformation adv,
                                  const SamOptions& o) {
  Needs needs = merged(optimizer.rule().needs(), adv.rule().needs());
  needs.params = needs.grad_fn = true;
  return detail::rule(
      detail::call_text("sam", o) + optimizer.text() + adv.text(), needs,
      [=](const Tree& params) {
        return sam_state(detail::no_count(), optimizer.init(params), adv.init(params), Tree());
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra& extra) {
        Tree p = *params, u = g, climbing = s.subtree("adv_state");
        for (std::int64_t i = 0; i + 1 < o.sync_period; ++i) {
          auto [up, next] = adv.update(u, climbing, p, taken(extra, adv.rule().needs()));
          p = apply_updates(p, negated(up));
          u = extra.grad_fn(p, Array::scalar(i, DType::i32, false));
          climbing = next;
        }
        if (o.reset_state) climbing = adv.init(*params);
        auto [out, next] = optimizer.update(u, s.subtree("opt_state"), *params,
                                            taken(extra, optimizer.rule().needs()));
        return std::pair(out, sam_state(detail::no_count(), next, climbing, Tree()));
      });
}
}  // namespace

GradientTransformation sam(GradientTransformation optimizer, GradientTransformation adv,
                           SamOptions o) {
  if (o.sync_period < 1) throw Error("sam", "sync_period is a step or more, got {}", o.sync_period);
  if (o.opaque_mode) return opaque_sam(std::move(optimizer), std::move(adv), o);
  Needs needs = merged(optimizer.rule().needs(), adv.rule().needs());
  needs.params = true;
  return detail::rule(
      detail::call_text("sam", o) + optimizer.text() + adv.text(), needs,
      [=](const Tree& params) {
        return sam_state(detail::no_count(), optimizer.init(params), adv.init(params), params);
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra& extra) {
        const Array steps = s["steps_since_sync"];
        const Array first = numpy::equal(steps, 0), last = numpy::equal(steps, o.sync_period - 1);
        const Tree old_adv = s.subtree("adv_state"), old_opt = s.subtree("opt_state"),
                   began = s.subtree("cache");
        auto [climb, adv_state] = adv.update(g, old_adv, *params, taken(extra, adv.rule().needs()));
        auto [down, opt_state] =
            optimizer.update(g, old_opt, began, taken(extra, optimizer.rule().needs()));
        const Tree moved =
            trees::map([](const Array& c, const Array& p, const Array& u) { return c - p + u; },
                       began, *params, down);
        const Tree out = trees::where(last, moved, negated(climb));
        return std::pair(
            out,
            sam_state(numpy::remainder(steps + 1, o.sync_period),
                      trees::where(last, opt_state, old_opt),
                      trees::where(last, o.reset_state ? adv.init(*params) : old_adv, adv_state),
                      trees::where(first, *params, began)));
      });
}

namespace detail {
void add_lookahead(Rules& r) {
  r.add("lookahead", {"fast_optimizer", "sync_period", "slow_step_size", "reset_state=false"},
        &lookahead, "Zhang et al. (2019)", "Slow weights that follow the fast ones now and then.");
  r.add("contrib.sam", {"optimizer", "adv_optimizer"}, &sam, "Foret et al. (2021)",
        "Gradients from the worst place nearby.");
  r.add("contrib.normalize", {}, &normalize, "", "Updates over their norm.");
}
}  // namespace detail

}  // namespace strata::optim
