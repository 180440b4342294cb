// How step.cc asks a model's routers; routers.h says what for.
#pragma once

#include <optional>
#include <utility>

#include "strata/model/decoder/multi_token.h"
#include "strata/model/model.h"
#include "strata/train/step/batch.h"
#include "strata/train/step/routers.h"

namespace strata::train {

/// The routers' part in the loss of one batch, which is worked off in `parts`; traceable.
class RouterLosses {
 public:
  /// Throws Error for a model without experts.
  RouterLosses(const tree::Tree& params, const Batch& batch, model::ModelPtr model,
               const RouterOptions& options, std::int64_t parts);
  /// Losses of a part's targets, (B / parts, S), of further ones, and its routers' sums.
  model::decoder::MultiTokenLosses operator()(const tree::Tree& params, const Batch& part) const;
  /// What a part's sums add to the loss of the whole.
  Array loss(const model::decoder::RouterSums& sums) const;
  /// Those of no part.
  model::decoder::RouterSums no_sums() const;
  /// What the sums of all parts come to.
  RouterOutcome outcome(const model::decoder::RouterSums& sums) const;
  /// The weights after a step, with routers' biases by `updated_bias` of those before it: what the
  /// optimizer made of them (weight decay) is put aside. Frozen ones stay.
  tree::Tree with_biases(const tree::Tree& before, const tree::Tree& after,
                         const RouterOutcome& outcome,
                         const std::optional<tree::Filter>& frozen) const;

 private:
  Array fractions_of(const tree::Tree& params, const Batch& batch, std::int64_t parts) const;

  model::ModelPtr model_;
  RouterOptions options_;
  Array balance_, router_z_;  // what a sum is worth
  std::optional<Array> fractions_;
};

}  // namespace strata::train
