// A model of ten layers, a loss, and an optimizer chosen at run time: the translation unit whose
// time to compile bench/compile_unit.py measures. It trains for some steps.
//
//   build/bin/ten-layers [RULE]        # adamw, sgd, lion, ...
#include <iostream>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/conv/conv.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/losses.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/registry.h"
#include "strata/strata.h"

using namespace strata;

namespace {

struct Model {
  nn::Embed tokens;
  nn::Conv conv;
  nn::BatchNorm batch_norm;
  nn::Dropout dropout;
  nn::MultiHeadAttention attention;
  nn::LayerNorm layer_norm;
  nn::RNN<nn::LSTMCell> rnn;
  nn::RMSNorm rms_norm;
  nn::Linear up, down;
  STRATA_FIELDS(tokens, conv, batch_norm, dropout, attention, layer_norm, rnn, rms_norm, up, down)

  explicit Model(nn::Rngs& rngs)
      : tokens(32, 16, rngs),
        conv(16, 16, {3}, rngs),
        batch_norm(16, rngs),
        dropout(0.1, rngs, {.deterministic = false}),
        attention(4, 16, rngs, {.decode = false}),
        layer_norm(16, rngs),
        rnn(nn::LSTMCell(16, 16, rngs)),
        rms_norm(16, rngs),
        up(16, 64, rngs),
        down(64, 32, rngs) {}

  Array operator()(const Array& x) {
    const nn::ModuleScope scope(*this, "Model");
    Array h = dropout(batch_norm(conv(tokens(x))));
    h = h + attention(layer_norm(h), {.is_causal = true});
    h = h + rnn(h);
    return scope.returns(down(nn::gelu(up(rms_norm(h)))), x);
  }
};

Array loss_of(Model& model, const Array& x, const Array& y) {
  return numpy::mean(optim::softmax_cross_entropy_with_integer_labels(model(x), y));
}

}  // namespace

int main(int argc, char** argv) {
  compile::register_cpu();
  nn::Rngs rngs(0);
  Model model(rngs);
  optim::Optimizer optimizer(model,
                             optim::make(argc > 1 ? argv[1] : "adamw", {{"learning_rate", 1e-2}}));
  const auto step = nn::jit([](Model& m, optim::Optimizer& o, const Array& x, const Array& y) {
    const auto [loss, grads] = nn::value_and_grad(loss_of)(m, x, y);
    o.update(m, grads);
    return loss;
  });
  const Array x = numpy::arange(64).reshape({4, 16}) % 32, y = (x + 1) % 32;
  for (int i = 0; i < 20; ++i) {
    const Array loss = step(model, optimizer, x, y);
    if (i % 5 == 4) std::cout << "step " << i + 1 << " loss " << loss.item<float>() << "\n";
  }
  return 0;
}
