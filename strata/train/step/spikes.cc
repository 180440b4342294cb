#include "strata/train/step/spikes.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/optim/rule.h"

namespace strata::train {
namespace {

using optim::Extra;
using tree::Tree;

struct Usual {
  Array mean, deviation;
};

/// Of the first min(count, n) of n values; the deviation by one less than there are.
Usual usual_of(const Array& values, const Array& count) {
  const std::int64_t n = values.shape(0);
  const Array there = minimum(count, Array(static_cast<std::int32_t>(n)));
  const Array counts = less(arange(n), there);
  const auto number = [&](const Array& i) { return astype(maximum(i, Array(1)), DType::f32); };
  const Array mean = sum(where(counts, values, 0.0f)) / number(there);
  const Array square = where(counts, (values - mean) * (values - mean), 0.0f);
  return {mean, sqrt(sum(square) / number(there - 1))};
}

Array norm_of(const Tree& t) {
  Array total = zeros({});
  for (const Array& leaf : t.values()) {
    const Array wide = astype(leaf, DType::f32);
    total = total + sum(wide * wide);
  }
  return sqrt(total);
}

class SkipSpikes : public optim::Rule {
 public:
  SkipSpikes(optim::GradientTransformation inner, const SpikeOptions& options)
      : inner_(std::move(inner)), o_(options) {
    if (o_.interval < 1)
      throw Error("skip_spikes", "interval={}: allowed are numbers above 0", o_.interval);
  }
  std::string text() const override {
    return fmt::format("skip_spikes({}, interval={}, factor={})", inner_.text(), o_.interval,
                       o_.factor);
  }
  optim::Needs needs() const override {
    return optim::merged(inner_.rule().needs(), {.value = true});
  }
  Tree init(const Tree& params) const override {
    return state(inner_.init(params), zeros({o_.interval}), zeros({o_.interval}),
                 zeros({}, DType::i32), full({}, false));
  }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& s, const Tree* params,
                               const Extra& extra) const override {
    const Array count = s["count"], losses = s["losses"], norms = s["grad_norms"];
    const Array loss = astype(*extra.value, DType::f32), norm = norm_of(updates);
    const auto is_usual = [&](const Array& value, const Array& before) {
      const Usual usual = usual_of(before, count);
      return less_equal(value - usual.mean, usual.deviation * o_.factor);
    };
    const auto least = static_cast<std::int32_t>(std::max<std::int64_t>(2, o_.interval / 2));
    const Array takes = logical_or(less(count + 1, Array(least)),
                                   logical_and(is_usual(loss, losses), is_usual(norm, norms)));
    const Tree inside = s.subtree("inner_state");
    const auto [moved, next] =
        inner_.update(updates, inside, params, optim::taken(extra, inner_.rule().needs()));
    const Tree out = moved.map([&](const Array& u) { return where(takes, u, zeros_like(u)); });
    const Tree kept = tree::map(
        [&](const Array& now, const Array& old) { return where(takes, now, old); }, next, inside);
    const Array here =
        equal(arange(o_.interval), remainder(count, Array(static_cast<std::int32_t>(o_.interval))));
    return {out, state(kept, where(here, loss, losses), where(here, norm, norms), count + 1,
                       logical_not(takes))};
  }

 private:
  static Tree state(const Tree& inside, const Array& losses, const Array& norms, const Array& count,
                    const Array& skipped) {
    using optim::detail::field;
    return optim::detail::state_of(field("inner_state", inside), field("losses", losses),
                                   field("grad_norms", norms), field("count", count),
                                   field("is_skipped", skipped));
  }

  optim::GradientTransformation inner_;
  SpikeOptions o_;
};

}  // namespace

optim::GradientTransformation skip_spikes(optim::GradientTransformation inner,
                                          const SpikeOptions& options) {
  return optim::GradientTransformation(
      std::make_shared<const SkipSpikes>(std::move(inner), options));
}

}  // namespace strata::train
