// A decoder of any family behind the interface of all models.
//
//   model::ModelPtr m = decoder::model(options);
//   auto [logits, cache] = m->extend_pages(params, batch, m->init_pages(64, 16));
#pragma once

#include "strata/model/decoder/options.h"
#include "strata/model/model.h"

namespace strata::model::decoder {

/// A model of these options. Its cache, of `init_cache` too, is one of pages, {"key", "value"} of
/// (L N, P, K, d), those of a layer behind those of the one before; what it costs to read a token
/// does not depend on how many there are. Throws Error where the options contradict each other
/// (`check`), and from `extend_pages` where frequencies depend on the length of sequences and
/// options.max_length does not say it.
ModelPtr model(const Options& options);
/// What a model was made of; null where it is none of `model`'s.
const Options* options_of(const Model& model);

/// What share of the tokens (B, S) each expert of each layer is chosen by: (L, E) f32, rows of
/// layers without experts zero. Throws Error for a model without experts.
Array routes(const Model& model, const tree::Tree& params, const Array& tokens_BS);

/// Whether a cache's pages hold what sequences came to at their last token, beside or instead of
/// what each token left (the delta rule's states). Such a sequence goes on where a page ends as it
/// was read, not amid it.
bool hold_states(const tree::Tree& pages);

}  // namespace strata::model::decoder
