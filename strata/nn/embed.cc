#include "strata/nn/embed.h"

namespace strata::nn {

Initializer default_embed_init() {
  using namespace initializers;
  return variance_scaling(1, Fan::in, Distribution::normal, {.out_axis = 0});
}

Embed Embed::init(const Array& key, std::int64_t num_embeddings, std::int64_t features,
                  const Initializer& embedding_init, DType param_dtype) {
  return {embedding_init(key, {num_embeddings, features}, param_dtype)};
}

Array Embed::operator()(const Array& tokens) const {
  return take(embedding, tokens, 0, {.mode = "clip"});
}

Array Embed::attend(const Array& x) const { return einsum("...d,vd->...v", x, embedding); }

}  // namespace strata::nn
