// What training asks of routers: losses that keep experts evenly loaded and logits small, and how
// many tokens each expert got.
//
//   decoder::BalanceOptions o{.load_balance = 1e-2, .router_z = 1e-3};
//   auto [losses, sums] = decoder::routed_token_losses(*model, params, tokens, targets, {}, ask);
//   Array lb = decoder::balance_of(sums, ...);
//
// All are sums over tokens or sequences, so that those of micro-batches add up to those of their
// batch. Sources: MaxText 0.2.5, layers/moe.py (load_balance_loss, megatron_aux_loss_inputs,
// load_balance_updates_from_counts); Fedus et al., Switch Transformers (2021), equation 4; Zoph et
// al., ST-MoE (2022), equation 5; Wang et al., Auxiliary-Loss-Free Load Balancing (2024).
#pragma once

#include <optional>

#include "strata/model/decoder/routing.h"
#include "strata/model/model.h"

namespace strata::model::decoder {

/// Over what the loads of experts are compared.
enum class BalanceScope {
  sequence,     // each sequence by itself, then the mean
  micro_batch,  // what goes through the model at once, then the mean
  global,       // the whole batch of a step
};

/// What training asks of routers. Weights of 0 ask nothing.
struct BalanceOptions {
  /// The weight of E sum_e f_e P_e, the mean over layers: f_e is the share of expert e in all
  /// choices of tokens, P_e the mean of its probability. 1 where all are even.
  double load_balance = 0;
  BalanceScope scope = BalanceScope::sequence;
  /// What P and f are. False, MaxText's: P = softmax(scores), but of scores that are a softmax
  /// themselves (MaxText takes it twice where routed_score_func=softmax); f counts where tokens go.
  /// True, Megatron's: P = scores / sum of scores; f counts the highest scores without bias and
  /// groups.
  bool plain_scores = false;
  /// The weight of the mean over tokens of logsumexp(logits)^2, the mean over layers.
  double router_z = 0;
  /// What is added to the bias of experts that got fewer tokens than the mean after a step, and
  /// taken from those that got more.
  double bias_rate = 0;

  bool has_losses() const { return load_balance != 0 || router_z != 0; }
  bool operator==(const BalanceOptions&) const = default;
};

/// Of some sequences, over all layers with experts.
struct RouterSums {
  /// Sums over layers. Balance: in scope `sequence` over sequences; `micro_batch`: one value;
  /// `global`: over tokens, by `RouterAsk::fractions`. Router z: over tokens. f32, ().
  Array balance, router_z;
  /// How many tokens chose each expert, and how many such choices found it full: f32 (L, E), (L),
  /// exact up to 2^24; rows of layers without experts are zero. In scope `global` without
  /// fractions: the choices that these are to be made of (BalanceOptions::plain_scores).
  Array chosen, dropped;
  STRATA_FIELDS(balance, router_z, chosen, dropped)
};

/// What is asked of a model's routers.
struct RouterAsk {
  BalanceOptions options = {};
  /// f32 (B, S): 1 for tokens, 0 for padding; none: there is no padding.
  std::optional<Array> mask = std::nullopt;
  /// Scope `global`: f32 (L, E), the share of each expert in the choices of the whole batch.
  std::optional<Array> fractions = std::nullopt;
};

/// One layer's part: of routes of (B, S) tokens, balance and router_z (), chosen (E), dropped ().
/// `fractions` (E).
RouterSums layer_sums(const Routes& routes, const ExpertOptions& experts,
                      const BalanceOptions& options, const Array& mask_BS,
                      const std::optional<Array>& fractions);

/// Cross-entropies (B, S) as Model::token_losses, or packed_token_losses where `packed` is given,
/// and what the routers came to. Throws Error for a model without experts.
std::pair<Array, RouterSums> routed_token_losses(const Model& model, const tree::Tree& params,
                                                 const Array& tokens_BS, const Array& targets_BS,
                                                 const std::optional<DocumentsInRows>& packed,
                                                 const RouterAsk& ask);

/// The bias (L, E) after a step in which chosen (L, E) tokens went to each expert:
/// bias + rate sign(mean of chosen - chosen).
Array updated_bias(const Array& bias_LE, const Array& chosen_LE, double rate);

/// The path of routers' biases among a model's weights.
inline constexpr std::string_view kRouterBias = "layers/experts/choice_bias";

}  // namespace strata::model::decoder
