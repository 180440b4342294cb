#include "strata/optim/rules/trace.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

GradientTransformation trace(Rate decay, bool nesterov, std::optional<DType> accumulator_dtype) {
  return detail::rule(
      "trace(" + decay.text() + (nesterov ? ", nesterov)" : ")"),
      [=](const Tree& params) {
        return detail::field("trace", trees::zeros_like(params, accumulator_dtype));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const auto f = [&](const Array& g, const Array& t) { return g + decay * t; };
        const Tree next = trees::map(f, u, s.subtree("trace"));
        return std::pair(nesterov ? trees::map(f, u, next) : next,
                         detail::field("trace", trees::cast(next, accumulator_dtype)));
      });
}
GradientTransformation ema(Rate decay, bool debias, std::optional<DType> accumulator_dtype) {
  return detail::rule(
      "ema(" + decay.text() + (debias ? ")" : ", biased)"),
      [=](const Tree& params) {
        return detail::state_of(detail::field("count", detail::no_count()),
                                detail::field("ema", trees::zeros_like(params, accumulator_dtype)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree next = trees::update_moment(u, s.subtree("ema"), decay, 1);
        const Array count = safe_increment(s["count"]);
        return std::pair(
            debias ? trees::bias_correction(next, decay, count) : next,
            detail::state_of(detail::field("count", count),
                             detail::field("ema", trees::cast(next, accumulator_dtype))));
      });
}
GradientTransformation apply_every(std::int64_t k) {
  return detail::rule(
      "apply_every(" + std::to_string(k) + ")",
      [](const Tree& params) {
        return detail::state_of(detail::field("count", detail::no_count()),
                                detail::field("grad_acc", trees::zeros_like(params)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array c = numpy::remainder(s["count"], k);
        const Array kept = numpy::not_equal(c, 0), emit = numpy::equal(c, k - 1);
        const Tree sums = trees::map([&](const Array& g, const Array& a) { return kept * a + g; },
                                     u, s.subtree("grad_acc"));
        const Tree out = trees::map([&](const Array& a) { return emit * a; }, sums);
        return std::pair(
            out, detail::state_of(
                     detail::field("count", numpy::remainder(safe_increment(s["count"]), k)),
                     detail::field("grad_acc", sums)));
      });
}

namespace detail {
void add_trace(Rules& r) {
  r.add("trace", {"decay", "nesterov=false", "accumulator_dtype="}, &trace, "Polyak (1964)",
        "The sum of updates, of which each is weighted by a power of decay.");
  r.add("ema", {"decay", "debias=true", "accumulator_dtype="}, &ema, "",
        "A moving mean of updates.");
  r.add("apply_every", {"k=1"}, &apply_every, "", "The sum of k updates at every k-th step.");
}
}  // namespace detail

}  // namespace strata::optim
