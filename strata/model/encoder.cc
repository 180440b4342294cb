#include "strata/model/encoder.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/model/decoder/stack.h"
#include "strata/nn/wide.h"

namespace strata::model {

Encoder::Encoder(decoder::Options options) : o_(std::move(options)) {
  decoder::check(o_);
  if (o_.causal || o_.has_logits)
    throw Error(o_.family, "{}", "an encoder's tokens see each other, and give no logits");
}

tree::Tree Encoder::init(const Array& key) const { return decoder::first_weights(o_, key); }

Array Encoder::hidden(const tree::Tree& params, const Array& tokens, const Array& mask,
                      const std::optional<Array>& types) const {
  if (tokens.ndim() != 2 || tokens.shape() != mask.shape())
    throw Error(o_.family, "tokens {} and mask {} must be (batch, length)",
                tokens.type().to_string(), mask.type().to_string());
  if (tokens.shape(1) > o_.context)
    throw Error(o_.family, "{} tokens are more than the {} of the model", tokens.shape(1),
                o_.context);
  const decoder::Weights w = decoder::weights_of(
      o_, params.map([&](const Array& leaf) { return astype(leaf, o_.dtype); }));
  const Array positions =
      broadcast_to(expand_dims(arange(tokens.shape(1)), 0), tokens.shape().sizes());
  const Array there = astype(mask, DType::i1);
  return decoder::run_layers(w, o_, decoder::embed(w, o_, tokens, positions, types), positions,
                             tokens.shape(1),
                             [&](const decoder::Heads& h, decoder::AttendOptions how) {
                               how.key_mask = there;
                               return decoder::attend(h.query, h.key, h.value, how);
                             });
}

Array pooled(const Array& hidden, const Array& mask, const Pooling& pooling) {
  const DType wide = nn::wide(hidden.dtype());
  const Array h = astype(hidden, wide);
  const Array m = expand_dims(astype(mask, wide), -1);  // (B, S, 1)
  const auto total = [](const Array& x) { return sum(x, {.axis = 1}); };
  const auto most = [](const Array& x) { return maximum(x, 1e-9); };
  std::vector<Array> parts;
  for (Pooling::Mode mode : pooling.modes) {
    switch (mode) {
      case Pooling::Mode::first: parts.push_back(h[{slice(), 0}]); break;
      case Pooling::Mode::mean: parts.push_back(total(h * m) / most(total(m))); break;
      case Pooling::Mode::most:
        parts.push_back(max(where(greater(m, 0), h, -1e9), {.axis = 1}));
        break;
      case Pooling::Mode::mean_by_root: parts.push_back(total(h * m) / sqrt(most(total(m)))); break;
      case Pooling::Mode::weighted_mean: {
        const Array weights = m * expand_dims(astype(arange(1, h.shape(1) + 1), wide), -1);
        parts.push_back(total(h * weights) / most(total(weights)));
        break;
      }
      case Pooling::Mode::last: {
        const Array position = expand_dims(arange(h.shape(1)), -1);
        const Array last = max(where(greater(m, 0), position, 0), {.axis = 1, .keepdims = true});
        parts.push_back(squeeze(take_along_axis(h, last, 1, {.mode = "clip"}), {1}));
        break;
      }
    }
  }
  Array out = parts.size() == 1 ? parts[0] : concatenate(parts, -1);
  if (pooling.normalize)
    out = out / maximum(sqrt(sum(out * out, {.axis = -1, .keepdims = true})), 1e-12);
  return astype(out, hidden.dtype());
}

}  // namespace strata::model
