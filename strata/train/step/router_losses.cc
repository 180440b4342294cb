#include "strata/train/step/router_losses.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/control.h"
#include "strata/base/error.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"

namespace strata::train {

namespace decoder = model::decoder;
using decoder::BalanceScope;
using decoder::RouterSums;

RouterLosses::RouterLosses(const tree::Tree& params, const Batch& batch, model::ModelPtr model,
                           const RouterOptions& options, std::int64_t parts)
    : model_(std::move(model)), options_(options) {
  const decoder::Options* o = decoder::options_of(*model_);
  if (!o || o->experts.count == 0) throw Error(model_->family(), "the model has no experts");
  // Of one part, the two are the same, and this one needs no second pass.
  if (parts == 1 && options_.scope == BalanceScope::global)
    options_.scope = BalanceScope::micro_batch;
  const Array mask = tokens_of(batch);
  const auto layers = static_cast<double>(o->layers + o->mtp_layers - o->experts.dense_layers);
  const Array tokens = maximum(sum(mask), 1.0f) * layers;
  router_z_ = options_.router_z / tokens;
  switch (options_.scope) {
    case BalanceScope::sequence:
      balance_ = options_.load_balance / (maximum(sum(max(mask, 1)), 1.0f) * layers);
      break;
    case BalanceScope::micro_batch:
      balance_ =
          Array(static_cast<float>(options_.load_balance / (static_cast<double>(parts) * layers)));
      break;
    case BalanceScope::global:
      balance_ = options_.load_balance / tokens;
      if (options_.load_balance != 0) fractions_ = fractions_of(params, batch, parts);
      break;
  }
}

Array RouterLosses::fractions_of(const tree::Tree& params, const Batch& batch,
                                 std::int64_t parts) const {
  const auto chosen = [&](const Batch& part) { return (*this)(params, part).routers->chosen; };
  const auto add = [&](const Array& so_far, const Batch& part) {
    return std::pair(so_far + chosen(part), nullptr);
  };
  const decoder::Options& o = *decoder::options_of(*model_);
  const Array all =
      scan(add, zeros({o.layers + o.mtp_layers, o.experts.count}), divided(batch, parts)).first;
  return lax::stop_gradient(all / maximum(expand_dims(sum(all, 1), 1), 1.0f));
}

decoder::MultiTokenLosses RouterLosses::operator()(const tree::Tree& params,
                                                   const Batch& part) const {
  return decoder::multi_token_losses(
      *model_, params, part.tokens, part.targets, documents_of(part), part.weights,
      decoder::RouterAsk{.options = options_, .mask = tokens_of(part), .fractions = fractions_});
}

RouterSums RouterLosses::no_sums() const {
  const decoder::Options& o = *decoder::options_of(*model_);
  const std::int64_t layers = o.layers + o.mtp_layers;
  return {zeros({}), zeros({}), zeros({layers, o.experts.count}), zeros({layers})};
}

RouterOutcome RouterLosses::outcome(const RouterSums& sums) const {
  return {sums.balance * balance_, sums.router_z * router_z_, sums.chosen, sums.dropped};
}

Array RouterLosses::loss(const RouterSums& sums) const {
  return sums.balance * balance_ + sums.router_z * router_z_;
}

tree::Tree RouterLosses::with_biases(const tree::Tree& before, const tree::Tree& after,
                                     const RouterOutcome& outcome,
                                     const std::optional<tree::Filter>& frozen) const {
  return after.map([&](const tree::Entry& e, const Array& value) {
    if (!e.name.ends_with(decoder::kRouterBias)) return value;
    const std::optional<std::size_t> at = before.find(e.name);
    const bool stays = frozen && !before.filter(!*frozen).find(e.name);
    const Array old = before.value(*at);
    if (stays || options_.bias_rate == 0) return old;
    std::vector<Array> chosen;
    for (const std::int64_t layer : decoder::layer_numbers(*decoder::options_of(*model_), e.name))
      chosen.push_back(outcome.chosen[layer]);
    return decoder::updated_bias(old, stack(chosen), options_.bias_rate);
  });
}

}  // namespace strata::train
