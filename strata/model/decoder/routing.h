// Where tokens go: what a gate (gate.h) chose, which experts were full, and what losses of routers
// are made of.
//
//   Routes r = decoder::route(logits, bias, options.experts);
//   r.experts, r.weights    // (..., K): a token's output is the sum of weight * expert(token)
//
// Sources: as gate.h; MaxText 0.2.5, layers/moe.py. Of MaxText's routings one is different here:
// where a model has a bias and is not called deepseek3, deepseek4 or kimi-k2, MaxText weighs by
// scores with the bias, and trains it by its gradient; here a bias has a part in the choice alone.
#pragma once

#include <optional>

#include "strata/api/array.h"
#include "strata/model/decoder/gate.h"

namespace strata::model::decoder {

struct Routes {
  /// Which experts each token goes through, highest score (with bias) first, of equal ones that of
  /// the lower number: i32 (..., K).
  Array experts;
  /// What each is worth, (..., K); 0 where the expert was full.
  Array weights;
  /// What the router said, (..., E), and what became of it, without bias.
  Array logits, scores;
  /// bool (..., K): false where the expert was full; none: nothing is dropped.
  std::optional<Array> kept = std::nullopt;
};

/// Routes of logits (..., E) of f32 or f64 and the bias (E) that options.choice_bias asks for, by
/// `chosen_experts`; with options.capacity (..., S, E), whose S tokens are a sequence. Throws Error
/// where the experts are not as many as the options say, or a bias is missing or not asked for.
Routes route(const Array& logits, const std::optional<Array>& bias, const ExpertOptions& options);

/// bool (..., K, E): whether a token's k-th expert is e.
Array assignments(const Array& experts, std::int64_t count);

/// The places that an expert has for a sequence of `length` tokens: max(ceil(length K / E) c, c)
/// rounded down, c being options.capacity. Source: MaxText's generate_masks.
std::int64_t places_of(const ExpertOptions& options, std::int64_t length);
/// bool (..., S, K): whether the expert has a place left. Places are taken in the order of tokens,
/// of one token in the order of its experts; a place that is refused is not given to another.
/// Source: Fedus et al., Switch Transformers (2021), section 2.2; MaxText's generate_masks.
Array places_left(const Array& experts_SK, const ExpertOptions& options);

}  // namespace strata::model::decoder
