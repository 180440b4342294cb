// A language model of characters: a long short-term memory reads a licence, guesses each next
// character, and is asked about the end of the text, which it has not read. Each batch goes on
// where the one before it stopped, and so does the memory. Source: Hochreiter and Schmidhuber, Long
// Short-Term Memory (1997); Zaremba et al., Recurrent Neural Network Regularization (2014), dropout
// between layers and the memory that goes on.
#include <strata/core.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "require.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/embed.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/rnn.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/view.h"
#include "strata/optim/losses.h"
#include "strata/optim/optimizer.h"
#include "strata/optim/rules/adam.h"
#include "strata/optim/schedule/schedules.h"
#include "strata/optim/transform/clip.h"

using namespace strata;

constexpr std::int64_t kLetters = 128, kWidth = 96, kLength = 32, kBatch = 16;

struct LanguageModel {
  using Layer = nn::RNN<nn::OptimizedLSTMCell>;
  using Memory = Layer::Carry;

  nn::Embed letters;
  Layer layer;
  nn::Dropout drop;
  nn::Linear out;
  STRATA_FIELDS(letters, layer, drop, out)

  explicit LanguageModel(nn::Rngs& rngs)
      : letters(kLetters, kWidth, rngs),
        layer(nn::OptimizedLSTMCell(kWidth, kWidth, rngs), rngs),
        drop(0.1, rngs),
        out(kWidth, kLetters, rngs) {}
  // Logits of what follows each of the letters (batch, length), and the memory behind them.
  std::pair<Array, Memory> operator()(const Array& text, const Memory& before) {
    const nn::ModuleScope scope(*this, "LanguageModel");
    auto [after, heard] = layer.with_carry(letters(text), {.initial_carry = before});
    return {out(drop(heard)), after};
  }
};

LanguageModel::Memory nothing_heard(std::int64_t batch) {
  return {zeros({batch, kWidth}), zeros({batch, kWidth})};
}

// The mean of -log p of each letter but the first, given those before it; and the memory.
std::pair<Array, LanguageModel::Memory> loss_of(LanguageModel& model, const Array& text,
                                                const LanguageModel::Memory& before) {
  const std::int64_t length = text.shape(1) - 1;
  auto [logits, after] = model(text[{slice(), slice(0, length)}], before);
  return {mean(optim::softmax_cross_entropy_with_integer_labels(
              logits, text[{slice(), slice(1, length + 1)}])),
          after};
}

int main() {
  std::ifstream in("LICENSE");
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const auto size = static_cast<std::int64_t>(all.size());
  require(size > 10000, "the licence can be read: run me in the repository");
  const Array text = array(std::vector<std::int32_t>(all.begin(), all.end()));

  // Nine tenths as so many lines of equal length, side by side; the rest is for the question.
  const std::int64_t pieces = size * 9 / 10 / kBatch / kLength, line = pieces * kLength;
  const Array lines = text[slice(0, kBatch * line)].reshape({kBatch, line});
  const Array unread = text[slice(kBatch * line, size)].reshape({1, -1});

  nn::Rngs rngs(0);
  LanguageModel model(rngs);
  constexpr std::int64_t kEpochs = 30;
  optim::Optimizer optimizer(
      model, optim::chain(optim::clip_by_global_norm(1.0),
                          optim::adam(optim::cosine_decay_schedule(5e-3, kEpochs * pieces))));
  auto step = nn::jit([](LanguageModel& model, optim::Optimizer& optimizer,
                         LanguageModel::Memory& memory, const Array& text) {
    auto [result, grads] = nn::value_and_grad(loss_of)(model, text, std::as_const(memory));
    optimizer.update(model, grads);
    memory = result.second;
    return result.first;
  });
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    LanguageModel::Memory memory = nothing_heard(kBatch);
    Array sum = Array(0.0f);
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::int64_t end = std::min(line, (i + 1) * kLength + 1);
      sum = sum + step(model, optimizer, memory, lines[{slice(), slice(i * kLength, end)}]);
    }
    if (epoch % 5 == 4)
      std::printf("epoch %2lld  loss %.2f\n", static_cast<long long>(epoch + 1),
                  sum.item<double>() / static_cast<double>(pieces));
  }
  nn::eval(model);
  const double loss = nn::jit(loss_of)(model, unread, nothing_heard(1)).first.item<double>();
  std::printf("on text that it has not read: %.2f bits a character\n", loss / std::log(2.0));
  require(loss / std::log(2.0) < 2.8, "it foretells more than how often letters are");
}
