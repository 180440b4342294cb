#include "strata/train/config/router_options.h"

#include <fmt/format.h>

#include "strata/model/decoder/model.h"

namespace strata::train {

std::optional<RouterOptions> router_options(const Config& c, const model::Model& model) {
  using model::decoder::BalanceScope;
  const model::decoder::Options* o = model::decoder::options_of(model);
  const bool routed = o && o->experts.count > 0;
  const auto refuse = [](const char* key, double value, const char* why) {
    if (value != 0) throw ConfigError(fmt::format("{}={}: {}", key, value, why));
  };
  if (!routed) {
    const char* none = "the model has no experts; `strata model upcycle` makes one that has";
    refuse("load_balance_loss_weight", c.load_balance_loss_weight, none);
    refuse("router_z_loss_weight", c.router_z_loss_weight, none);
    refuse("routed_bias_update_rate", c.routed_bias_update_rate, none);
    return {};
  }
  if (!o->experts.choice_bias)
    refuse("routed_bias_update_rate", c.routed_bias_update_rate,
           "the model's routers have no bias");
  // Megatron's loss, which MaxText has under this name for sigmoid routers, is a sum over layers.
  const bool plain =
      c.moe_use_megatron_seq_aux_loss && o->experts.score == model::decoder::RouterScore::sigmoid;
  const auto layers = static_cast<double>(o->layers + o->mtp_layers - o->experts.dense_layers);
  return RouterOptions{.load_balance = c.load_balance_loss_weight * (plain ? layers : 1),
                       .scope = c.load_balance_loss_scope == "global" ? BalanceScope::global
                                : c.load_balance_loss_scope == "micro_batch"
                                    ? BalanceScope::micro_batch
                                    : BalanceScope::sequence,
                       .plain_scores = plain,
                       .router_z = c.router_z_loss_weight,
                       .bias_rate = c.routed_bias_update_rate};
}

StepOptions step_options(const Config& c, const model::Model& model) {
  return {.micro_batches = c.gradient_accumulation_steps,
          .routers = router_options(c, model),
          .mtp_loss_factor = c.mtp_loss_scaling_factor,
          .z_loss = c.z_loss_multiplier};
}

void add_scalars(const RouterFigures& f, const RouterOutcome& outcome, Scalars& to) {
  const auto add = [&](std::string name, double value) {
    to.emplace_back(std::move(name), static_cast<float>(value));
  };
  add("learning/moe_lb_loss", f.load_balance);
  add("learning/router_z_loss", f.router_z);
  add("experts/largest_load", f.largest_load);
  add("experts/idle", f.idle);
  add("experts/entropy", f.entropy);
  add("experts/dropped", f.dropped);
  const std::vector<float> chosen = outcome.chosen.to_vector<float>(),
                           dropped = outcome.dropped.to_vector<float>();
  const auto experts = static_cast<std::ptrdiff_t>(chosen.size() / dropped.size());
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    const auto at = chosen.begin() + static_cast<std::ptrdiff_t>(i) * experts;
    const RouterFigures one = figures_of({at, at + experts}, {dropped[i]});
    if (one.largest_load == 0) continue;
    add(fmt::format("experts/layer_{}/largest_load", i), one.largest_load);
    add(fmt::format("experts/layer_{}/entropy", i), one.entropy);
  }
}

}  // namespace strata::train
