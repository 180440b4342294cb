#include "strata/model/decoder/per_layer_input.h"

#include <cmath>

#include "strata/api/numpy.h"
#include "strata/model/decoder/feed_forward.h"
#include "strata/model/decoder/scaled_embedding.h"

namespace strata::model::decoder {

Array PerLayerEmbedder::operator()(const Array& tokens, const Array& x, const Options& o) const {
  const nn::ModuleScope scope(*this, "PerLayerEmbedder");
  const auto width = static_cast<double>(o.per_layer_input.width);
  const auto apart = [&](const Array& y) {
    return reshape(y, {x.shape(0), x.shape(1), o.layers, o.per_layer_input.width});
  };
  const Array of_tokens = scaled_embedding(table, tokens, std::sqrt(width));
  const Array projected = apart(projection(x) * (1 / std::sqrt(static_cast<double>(o.width))));
  const Array of_context = norm(projected, o.norm, o.epsilon);
  const Array both = (of_context + astype(apart(of_tokens), x.dtype())) * std::sqrt(0.5);
  return moveaxis(both, 2, 0);
}

Array PerLayerInput::operator()(const Array& x, const Array& own, const Options& o) const {
  const nn::ModuleScope scope(*this, "PerLayerInput");
  return x + norm(projection(activate(gate(x), o.activation) * own), o.norm, o.epsilon);
}

}  // namespace strata::model::decoder
