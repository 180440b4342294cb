// Which experts a token goes through, and with what weights: from a router's scores.
//
//   decoder::Gate g = decoder::chosen_experts(logits_XE, options, bias_E);   // g.experts,
//   g.weights
#pragma once

#include <optional>

#include "strata/api/array.h"
#include "strata/model/decoder/options.h"

namespace strata::model::decoder {

/// What becomes of a router's logits (..., E).
Array scores_of(const Array& logits, RouterScore score);

/// The K experts of each token, i32 (..., K), best first and of equal ones the lower number; and
/// their weights (..., K).
struct Gate {
  Array experts, weights;
};

/// Of scores (..., E) in f32 or f64. Of `groups` groups of neighbours the `active_groups` whose
/// best `group_score_of` experts add up to most may be chosen from. `choice_bias` (E) is added to
/// scores to choose by, gets no gradient, and is no part of weights. Weights are the softmax over
/// all experts, or the sigmoid or sqrt(softplus) of each, divided by their sum where the options
/// say so, times `scaling`. Source: DeepSeek-AI, DeepSeek-V3 (2024), section 2.1.2;
/// modeling_deepseek_v{2,3}.py of transformers.
Gate chosen_experts(const Array& logits, const ExpertOptions& options,
                    const std::optional<Array>& choice_bias = {});

}  // namespace strata::model::decoder
