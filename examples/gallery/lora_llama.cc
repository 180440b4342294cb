// A small decoder in the manner of Llama learns to write a licence letter by letter. Then matrices
// of low rank beside its products learn a rhyme, while the decoder itself stays as it is to the
// bit: taken away, they leave the model that knew the licence. Source: Touvron et al., LLaMA
// (2023); Hu et al., LoRA: Low-Rank Adaptation of Large Language Models (2022).
#include <strata/core.h>

#include <fstream>
#include <iterator>
#include <string>

#include "require.h"
#include "rhyme.h"
#include "strata/nn/attention/attention.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/linear/lora.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/losses.h"
#include "strata/optim/math/trees.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/schedule/schedules.h"

using namespace strata;

constexpr std::int64_t kLetters = 128, kWidth = 64, kHeads = 4, kKeyHeads = 2, kHead = 16,
                       kHidden = 160, kRank = 4, kLength = 48, kBatch = 16;

// A product and its adapter, which adds nothing until it is trained.
using Adapted = nn::LoRA<nn::Linear>;
Adapted adapted(std::int64_t in, std::int64_t out, nn::Rngs& rngs) {
  return {in, kRank, out, nn::Linear(in, out, rngs, {.use_bias = false}), rngs};
}

struct Layer {
  nn::RMSNorm before_attention, before_mlp;
  Adapted query, key, value, out, gate, up, down;
  STRATA_FIELDS(before_attention, before_mlp, query, key, value, out, gate, up, down)

  explicit Layer(nn::Rngs& rngs)
      : before_attention(kWidth, rngs),
        before_mlp(kWidth, rngs),
        query(adapted(kWidth, kHeads * kHead, rngs)),
        key(adapted(kWidth, kKeyHeads * kHead, rngs)),
        value(adapted(kWidth, kKeyHeads * kHead, rngs)),
        out(adapted(kHeads * kHead, kWidth, rngs)),
        gate(adapted(kWidth, kHidden, rngs)),
        up(adapted(kWidth, kHidden, rngs)),
        down(adapted(kHidden, kWidth, rngs)) {}
  Array operator()(const Array& given, const nn::RotaryTables& rotary) const {
    const nn::ModuleScope scope(*this, "Layer");
    const Array x = before_attention(given);
    auto heads = [&](const Array& y) { return y.reshape({y.shape(0), y.shape(1), -1, kHead}); };
    const Array seen =
        nn::causal_attention(nn::apply_rotary(heads(query(x)), rotary),
                             nn::apply_rotary(heads(key(x)), rotary), heads(value(x)));
    const Array y = given + out(seen.reshape({x.shape(0), x.shape(1), -1}));
    const Array z = before_mlp(y);
    return y + down(nn::silu(gate(z)) * up(z));
  }
};

struct Decoder {
  nn::Embed letters;
  std::vector<Layer> layers;
  nn::RMSNorm norm;
  nn::Linear logits;
  STRATA_FIELDS(letters, layers, norm, logits)

  explicit Decoder(nn::Rngs& rngs)
      : letters(kLetters, kWidth, rngs),
        layers{Layer(rngs), Layer(rngs)},
        norm(kWidth, rngs),
        logits(kWidth, kLetters, rngs, {.use_bias = false}) {}
  Array operator()(const Array& text) const {
    const nn::ModuleScope scope(*this, "Decoder");
    const nn::RotaryTables rotary = nn::rotary_tables(text.shape(1), kHead);
    Array x = letters(text);
    for (const Layer& layer : layers) x = layer(x, rotary);
    return logits(norm(x));
  }
};

// The mean of -log p of each letter but the first, given those before it.
Array loss_of(const Decoder& model, const Array& text) {
  const std::int64_t length = text.shape(1) - 1;
  return mean(optim::softmax_cross_entropy_with_integer_labels(
      model(text[{slice(), slice(0, length)}]), text[{slice(), slice(1, length + 1)}]));
}

// Pieces of a text that begin anywhere.
Array pieces(const Array& text, const random::Key& key) {
  const Array begin = random::randint(key, {kBatch, 1}, 0, static_cast<int>(text.size()) - kLength);
  return text[begin + arange(kLength + 1)];
}

Array letters_of(const std::string& text) {
  return array(std::vector<std::int32_t>(text.begin(), text.end()));
}

// Trains what `which` takes of the model; the mean loss of the last steps.
double train(Decoder& model, const tree::Filter& which, const Array& text, std::int64_t steps,
             double rate, nn::Rngs& rngs) {
  optim::Optimizer optimizer(model, optim::adam(optim::cosine_decay_schedule(rate, steps)), which);
  auto step =
      nn::jit([&](Decoder& model, optim::Optimizer& optimizer, nn::Rngs& rngs, const Array& text) {
        auto [loss, grads] =
            nn::value_and_grad(loss_of, which)(model, pieces(text, rngs("pieces")));
        optimizer.update(model, grads);
        return loss;
      });
  Array last = Array(0.0f);
  for (std::int64_t i = 0; i < steps; ++i) {
    const Array loss = step(model, optimizer, rngs, text);
    if (i >= steps - 20) last = last + loss / 20;
  }
  return last.item<double>();
}

int main() {
  std::ifstream in("LICENSE");
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  require(all.size() > 10000, "the licence can be read: run me in the repository");
  const Array licence = letters_of(all), verses = letters_of(rhyme());
  const tree::Filter adapters = nn::of<nn::LoRAParam>(), base = !adapters;

  nn::Rngs rngs(0);
  Decoder model(rngs);
  std::printf("licence: loss %.2f\n", train(model, base, licence, 400, 4e-3, rngs));

  auto loss = nn::jit([](const Decoder& model, const Array& text) {
    return loss_of(model, pieces(text, random::key(1)));
  });
  const Decoder before = nn::clone(model);
  const double strange = loss(model, verses).item<double>();
  std::printf("rhyme, not read before: loss %.2f\n", strange);
  train(model, adapters, verses, 300, 2e-2, rngs);
  const double known = loss(model, verses).item<double>();
  const std::int64_t few = optim::trees::size(nn::state(model, adapters)),
                     many = optim::trees::size(nn::state(model, base));
  std::printf("rhyme, with %lld numbers beside %lld: loss %.2f\n", static_cast<long long>(few),
              static_cast<long long>(many), known);
  require(known < strange / 4, "the adapters learn the rhyme");

  require(tree::equal(nn::state(model, base), nn::state(before, base)),
          "the decoder is what it was, bit for bit");
  nn::update(model,
             nn::state(model, adapters).map([](const Array& x) { return numpy::zeros_like(x); }));
  require(loss(model, licence).item<float>() == loss(before, licence).item<float>(),
          "without its adapters it writes the licence as before");
  std::printf("the decoder is what it was, bit for bit\n");
}
