#include "strata/optim/transform/norm_statistics.h"

#include <limits>

#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"

namespace strata::optim {

namespace {
using detail::field;

Array norm_of(const Tree& u) { return numpy::astype(trees::norm(u), DType::f32); }
/// The updates with another norm; zeros where the old one is not finite.
Tree with_norm(const Tree& u, const Array& norm, const Array& wanted) {
  const Array same = numpy::equal(wanted, norm), finite = numpy::isfinite(norm);
  return trees::map(
      [&](const Array& g) {
        const Array scaled = g / numpy::astype(norm, g.dtype()) * numpy::astype(wanted, g.dtype());
        return numpy::where(finite, numpy::where(same, g, scaled), numpy::zeros_like(g));
      },
      u);
}
}  // namespace

GradientTransformation clip_by_norm_quantile(NormQuantileOptions o) {
  const char* name = "clip_by_norm_quantile";
  if (!(o.quantile >= 0 && o.quantile <= 1))
    throw Error(name, "quantile lies between 0 and 1, got {}", o.quantile);
  if (o.history < 1) throw Error(name, "history is a norm or more, got {}", o.history);
  return detail::rule(
      detail::call_text(name, o),
      [=](const Tree&) {
        return detail::state_of(field("count", detail::no_count()),
                                field("norms", numpy::zeros({o.history}, DType::f32)));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array norm = norm_of(u), finite = numpy::isfinite(norm);
        const Array& count = s["count"];
        const Array place = numpy::remainder(count, o.history);
        const Array norms = numpy::where(finite, s["norms"].at(place).set(norm), s["norms"]);
        const Array next = numpy::where(finite, safe_increment(count), count);
        // Those that there are, in their order, before infinities.
        const Array used = numpy::minimum(next, o.history);
        const Array sorted = numpy::sort(
            numpy::where(numpy::arange(o.history) < used, norms,
                         numpy::full_like(norms, std::numeric_limits<double>::infinity())));
        const Array at = o.quantile * numpy::astype(numpy::maximum(used - 1, 0), DType::f32);
        const Array low = numpy::floor(at), part = at - low;
        const Array first = numpy::astype(low, DType::i32);
        const Array second = numpy::minimum(first + 1, numpy::maximum(used - 1, 0));
        const Array a = numpy::take(sorted, first), b = numpy::take(sorted, second);
        const Array limit = a + part * (b - a);
        return std::pair(with_norm(u, norm, numpy::where(norm < limit, norm, limit)),
                         detail::state_of(field("count", next), field("norms", norms)));
      });
}

GradientTransformation clip_by_norm_zscore(NormZScoreOptions o) {
  const char* name = "clip_by_norm_zscore";
  if (!(o.threshold > 0)) throw Error(name, "threshold is above 0, got {}", o.threshold);
  if (o.warmup_steps < 1)
    throw Error(name, "warmup_steps is a step or more, got {}", o.warmup_steps);
  return detail::rule(
      detail::call_text(name, o),
      [=](const Tree&) {
        const Array zero = numpy::zeros({}, DType::f32);
        return detail::state_of(field("count", detail::no_count()), field("mean", zero),
                                field("variance", zero));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array norm = norm_of(u), finite = numpy::isfinite(norm);
        const Array& count = s["count"];
        // Before the first step there is no mean; its correction would divide 0 by 0.
        const Array correction =
            numpy::where(numpy::equal(count, 0), 1.0, 1.0 - detail::raised(o.decay, count));
        const Array mean = s["mean"] / correction;
        const Array deviation = numpy::sqrt(s["variance"] / correction);
        const Array z = (norm - mean) / (deviation + o.eps);
        const Array spike = (count >= o.warmup_steps) & (z > o.threshold);
        const Array wanted =
            numpy::where(spike, mean + o.threshold * o.threshold / z * deviation, norm);
        const auto blend = [&](const Array& old, const Array& x) {
          return numpy::where(finite,
                              numpy::astype((1.0 - o.decay) * x + o.decay * old, DType::f32), old);
        };
        const Array from = numpy::where(numpy::equal(count, 0), wanted, mean);
        return std::pair(
            with_norm(u, norm, wanted),
            detail::state_of(
                field("count", numpy::where(finite, safe_increment(count), count)),
                field("mean", blend(s["mean"], wanted)),
                field("variance", blend(s["variance"], (wanted - from) * (wanted - from)))));
      });
}

namespace detail {
void add_norm_statistics(Rules& r) {
  r.add("clip_by_norm_quantile", {}, &clip_by_norm_quantile, "Seetharaman et al. (2020)",
        "Norms at most a quantile of those before.");
  r.add("clip_by_norm_zscore", {}, &clip_by_norm_zscore, "Kumar et al. (2025)",
        "Norms far above their mean become less.");
}
}  // namespace detail

}  // namespace strata::optim
