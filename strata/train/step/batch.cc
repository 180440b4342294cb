#include "strata/train/step/batch.h"

#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/nn/sharding/logical_sharding.h"

namespace strata::train {

Batch divided(const Batch& b, std::int64_t parts) {
  return tree::map(
      [&](const Array& x) {
        std::vector<std::int64_t> shape = x.shape().sizes();
        shape[0] /= parts;
        shape.insert(shape.begin(), parts);
        return nn::with_logical_constraint(
            reshape(x, shape), {"", "activation_embed_and_logits_batch", "activation_norm_length"});
      },
      b);
}

std::optional<model::DocumentsInRows> documents_of(const Batch& b) {
  if (!b.segments) return {};
  return model::DocumentsInRows{*b.segments, *b.positions};
}

Array tokens_of(const Batch& b) {
  if (b.segments) return astype(not_equal(*b.segments, Array(0)), DType::f32);
  if (!b.weights) return ones(b.tokens.shape().sizes(), DType::f32);
  // What stands behind a row's last target that counts teaches nothing.
  const Array counts = astype(not_equal(*b.weights, zeros_like(*b.weights)), DType::f32);
  return astype(greater(lax::cumsum(counts, 1, /*reverse=*/true), Array(0.0f)), DType::f32);
}

}  // namespace strata::train
