// A transformer that looks at pictures: each is cut into sixteen patches, which are the words, and
// what the last layer makes of them decides on one of ten kinds of clothing. By default it learns
// from the first 6000 pictures; with the argument `whole` from all 60 000, which takes some
// minutes. Source: Dosovitskiy et al., An Image is Worth 16x16 Words (2021); the mean of the
// patches in place of a word of its own is Zhai et al.'s, Scaling Vision Transformers (2022).
#include <strata/core.h>

#include <string>

#include "fashion_pictures.h"
#include "strata/nn/attention/multi_head_attention.h"
#include "strata/nn/conv/conv.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/stack.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/losses.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/schedule/schedules.h"
#include "strata/optim/transform/clip.h"

using namespace strata;

constexpr std::int64_t kPatch = 7, kPatches = 16, kWidth = 64, kHeads = 4, kLayers = 2;

struct Layer {
  nn::LayerNorm before_attention, before_mlp;
  nn::MultiHeadAttention attention;
  nn::Linear up, down;
  STRATA_FIELDS(before_attention, before_mlp, attention, up, down)

  Layer() = default;
  explicit Layer(nn::Rngs& rngs)
      : before_attention(kWidth, rngs),
        before_mlp(kWidth, rngs),
        attention(kHeads, kWidth, rngs, {.decode = false}),
        up(kWidth, 2 * kWidth, rngs),
        down(2 * kWidth, kWidth, rngs) {}
  Array operator()(const Array& given) {
    const nn::ModuleScope scope(*this, "Layer");
    const Array x = given + attention(before_attention(given));
    return x + down(nn::gelu(up(before_mlp(x))));
  }
};

struct VisionTransformer {
  nn::Conv patches;
  nn::Param positions;  // (kPatches, kWidth)
  nn::Stack<Layer> layers;
  nn::LayerNorm norm;
  nn::Linear head;
  STRATA_FIELDS(patches, positions, layers, norm, head)

  explicit VisionTransformer(nn::Rngs& rngs)
      : patches(1, kWidth, {kPatch, kPatch}, rngs, {.strides = kPatch, .padding = "VALID"}),
        positions(0.02 * random::normal(rngs("params"), {kPatches, kWidth})),
        layers(nn::Stack<Layer>::make(kLayers, rngs, [](nn::Rngs& r) { return Layer(r); })),
        norm(kWidth, rngs),
        head(kWidth, 10, rngs) {}
  Array operator()(const Array& pictures) {
    const nn::ModuleScope scope(*this, "VisionTransformer");
    const Array x = patches(pictures.astype(float32) / 255);
    const Array words = x.reshape({x.shape(0), kPatches, kWidth}) + positions;
    return head(mean(norm(layers(words)), 1));
  }
};

Array loss_of(VisionTransformer& net, const Pictures& seen) {
  return mean(optim::softmax_cross_entropy_with_integer_labels(net(seen.x), seen.y.astype(int32)));
}

int main(int argc, char** argv) {
  const bool whole = argc > 1 && std::string(argv[1]) == "whole";
  const std::int64_t count = whole ? 60000 : 6000, epochs = whole ? 10 : 5, batch = 50;
  const Pictures train = read_pictures(kFashionMnist, "train").first(count);
  const Pictures test = read_pictures(kFashionMnist, "t10k").first(whole ? 10000 : 2000);

  nn::Rngs rngs(0);
  VisionTransformer net(rngs);
  const optim::Schedule rate = optim::cosine_onecycle_schedule(epochs * count / batch, 2e-3);
  optim::Optimizer optimizer(
      net,
      optim::chain(optim::clip_by_global_norm(1.0),
                   optim::adamw(rate, {.weight_decay = 0.05, .mask = tree::path("**/kernel")})));
  auto step = nn::jit([](VisionTransformer& net, optim::Optimizer& optimizer, const Pictures& all,
                         const Array& which) {
    auto [loss, grads] = nn::value_and_grad(loss_of)(net, all[which]);
    optimizer.update(net, grads);
    return loss;
  });
  auto accuracy = nn::jit([](VisionTransformer& net, const Pictures& some) {
    return mean((argmax(net(some.x), 1) == some.y).astype(float32));
  });
  double right = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const Array order = random::permutation(rngs("order"), count).reshape({-1, batch});
    Array sum = Array(0.0f);
    for (std::int64_t i = 0; i < count / batch; ++i)
      sum = sum + step(net, optimizer, train, order[i]);
    right = accuracy(net, test).item<double>();
    std::printf("epoch %lld  loss %.3f  test accuracy %.2f %%\n", static_cast<long long>(epoch + 1),
                sum.item<double>() / static_cast<double>(count / batch), 100 * right);
  }
  require(right >= (whole ? 0.88 : 0.80), "most of the pictures are told");
}
