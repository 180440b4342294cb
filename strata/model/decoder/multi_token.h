// Multi-token prediction: layers behind a decoder's last one that predict one token further each,
// whose losses training adds to the loss of the next token.
//
//   h_0 what the last layer gives, ahead of the final norm; for k = 1, 2, ...
//   h_k = layer_k(W_k [norm(e(token t + k)), norm(h_{k-1})])   logits_k = head(norm_k(h_k))
//
// where logits_k at t predict token t + k + 1; embedding and head are the model's own. Tokens of
// another document, and beyond a row, are token 0 and no targets.
//
//   decoder::MultiTokenLosses l = decoder::multi_token_losses(*model, params, tokens, targets, {});
//   Array loss = sum(l.losses) / n + 0.1 * *l.further / further_count(weights, {}, 1);
//
// Sources: DeepSeek-V3 Technical Report (2024), 2.2; MaxText 0.2.5,
// layers/multi_token_prediction.py (MultiTokenPredictionBlock, calculate_mtp_loss,
// calculate_mtp_acceptance_rate). Deviations: a target counts by its weight, where MaxText's counts
// 1 wherever that is not 0; from the second layer on MaxText moves documents along with their
// tokens, so that the last tokens of one are asked for the next one's, which here they are not.
#pragma once

#include <optional>
#include <utility>

#include "strata/model/decoder/balance.h"
#include "strata/model/model.h"

namespace strata::model::decoder {

/// What a batch's targets, (B, S), cost.
struct MultiTokenLosses {
  Array losses;  // (B, S), as Model::token_losses
  /// The weighted sum over what the further layers predict, (), of the dtype of `losses`;
  /// none where there are none.
  std::optional<Array> further;
  /// Of layers with experts where they are asked: those of further layers behind the others, so
  /// that there are L + K rows.
  std::optional<RouterSums> routers;
};

/// Cross-entropies of the next token and of further ones. `weights`, f32 (B, S), are those of the
/// targets; none: 1. `ask`: what is asked of routers, whose `fractions` have L + K rows. Throws
/// Error for a model that is no decoder, and where routers are asked that are not there.
MultiTokenLosses multi_token_losses(const Model& model, const tree::Tree& params,
                                    const Array& tokens_BS, const Array& targets_BS,
                                    const std::optional<DocumentsInRows>& packed,
                                    const std::optional<Array>& weights_BS = {},
                                    const std::optional<RouterAsk>& ask = {});

/// The sum of the weights of what `layers` further layers predict, f32 (): of weights (B, S), in
/// documents `segments` (B, S) of i32.
Array further_count(const Array& weights_BS, const std::optional<Array>& segments_BS,
                    std::int64_t layers);

/// How often further layer `layer`, 1 to K, predicts the token that the model itself does where it
/// has read so far, and the weights of the targets that this was asked at: f32 () both. Throws
/// Error for a layer there is not.
std::pair<Array, Array> further_accepted(const Model& model, const tree::Tree& params,
                                         const Array& tokens_BS, const Array& targets_BS,
                                         const std::optional<DocumentsInRows>& packed,
                                         const std::optional<Array>& weights_BS,
                                         std::int64_t layer);

/// How many further layers a model has; 0 for one that is no decoder.
std::int64_t further_layers(const Model& model);

}  // namespace strata::model::decoder
