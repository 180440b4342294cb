// The z-loss of cross-entropies: multiplier * log(Z)^2 of each target, Z the sum of its softmax.
//
//   model::ZLoss z(1e-4);
//   Array losses = model->token_losses(params, tokens, targets);   // (B, S), with the z-loss
//   Array of_it = *z.added();                                      // (B, S)
//
// Source: de Brébisson and Vincent, The Z-loss (2016); Chowdhery et al., PaLM (2022), 5; MaxText
// 0.2.5, utils/max_utils.py (cross_entropy_with_logits), whose derivative it has.
#pragma once

#include <optional>

#include "strata/api/array.h"

namespace strata::model {

/// While it lives, `cross_entropies` of its thread have multiplier * logsumexp(logits)^2 on top,
/// that of further tokens (decoder/multi_token.h) not. The innermost counts.
class ZLoss {
 public:
  explicit ZLoss(double multiplier);
  ~ZLoss();
  ZLoss(const ZLoss&) = delete;
  ZLoss& operator=(const ZLoss&) = delete;
  /// What the last `cross_entropies` had on top, (B, S); none where there was no call.
  const std::optional<Array>& added() const { return added_; }

 private:
  friend Array with_z_loss(const Array& losses, const Array& log_z);
  double multiplier_;
  std::optional<Array> added_;
  ZLoss* outer_;
};

/// The losses, with the z-loss of log(Z) where one is asked for; for those who write losses.
Array with_z_loss(const Array& losses, const Array& log_z);
/// `cross_entropies` without it.
Array plain_cross_entropies(const Array& logits_BSV, const Array& targets_BS);

}  // namespace strata::model
