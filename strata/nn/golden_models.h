// For the tests: the models of several layers that the goldens of streams, filters and states share
// (tools/goldens/nnx_cases/models.py).
#pragma once

#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/lora.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/norm/spectral_norm.h"
#include "strata/nn/recurrent/gru.h"

namespace strata::nn {

struct SpecialKind {
  static constexpr tree::Kind kind{"Special", &tree::kinds::param};
};
struct ScratchKind {
  static constexpr tree::Kind kind{"Scratch", &tree::kinds::variable};
};
/// Kinds of a user's: one that is a Param, and one that is a Variable and nothing else.
using Special = Variable<SpecialKind>;
using Scratch = Variable<ScratchKind>;

struct GoldenBlock {
  Linear linear;
  BatchNorm norm;
  Dropout drop;
  STRATA_FIELDS(linear, norm, drop)
  GoldenBlock(std::int64_t features, Rngs& rngs)
      : linear(features, features, rngs), norm(features, rngs), drop(0.5, rngs) {}
  Array operator()(const Array& x) {
    const ModuleScope scope(*this, "Block");
    return scope.returns(drop(relu(norm(linear(x)))), x);
  }
};
struct GoldenExtra {
  LoRA<> adapter;
  std::vector<Special> a;
  Scratch kernel_scale;
  STRATA_FIELDS(adapter, a, kernel_scale)
};
struct GoldenNet {
  std::vector<GoldenBlock> blocks;
  GoldenExtra extra;
  Linear head;
  STRATA_FIELDS(blocks, extra, head)
  explicit GoldenNet(Rngs rngs) {
    for (int i = 0; i < 2; ++i) blocks.emplace_back(3, rngs);
    extra.adapter = LoRA<>(3, 2, 3, rngs);
    extra.a = {Special(numpy::ones({2}))};
    extra.kernel_scale = numpy::zeros({3}, DType::i32);
    head = Linear(3, 2, rngs, {.use_bias = false});
  }
  Array operator()(Array x) {
    const ModuleScope scope(*this, "Net");
    const Array input = x;
    for (GoldenBlock& block : blocks) x = block(x);
    return scope.returns(head(extra.adapter(x)), input);
  }
};
struct GoldenAttentive {
  MultiHeadAttention attention;
  LayerNorm norm;
  GRUCell cell;
  SpectralNorm<Linear> spectral;
  STRATA_FIELDS(attention, norm, cell, spectral)
  explicit GoldenAttentive(Rngs rngs)
      : attention(2, 4, rngs, {.dropout_rate = 0.1, .decode = true}),
        norm(4, rngs),
        cell(4, 4, rngs),
        spectral(Linear(4, 2, rngs), rngs) {
    attention.init_cache({1, 3, 4});
  }
};

inline GoldenNet golden_net() { return GoldenNet(Rngs({{"params", 0}, {"dropout", 1}})); }
inline GoldenAttentive golden_attentive() { return GoldenAttentive(Rngs(0)); }
inline Rngs golden_streams() { return Rngs(0, {{"params", 1}, {"dropout", 2}}); }
inline Linear golden_linear() {
  Rngs rngs(0);
  return Linear(2, 3, rngs);
}
/// Calls f with the model that a golden describes; a model begins with its class.
template <class F>
void with_golden_model(const std::string& text, F f) {
  if (text.starts_with("Net(")) {
    auto model = golden_net();
    f(model);
  } else if (text.starts_with("Attentive(")) {
    auto model = golden_attentive();
    f(model);
  } else if (text.starts_with("Rngs(")) {
    auto model = golden_streams();
    f(model);
  } else if (text.starts_with("Linear(2, 3)")) {
    auto model = golden_linear();
    f(model);
  } else {
    throw std::runtime_error("no such model: " + text);
  }
}

}  // namespace strata::nn
