// A recurrent network that learns a text by heart, letter by letter: a gated recurrent unit run by
// scan, trained on pieces of a rhyme that grows with every verse, so that what comes next depends
// on words long past. Then it recites. Source: Cho et al., Learning Phrase Representations using
// RNN Encoder-Decoder (2014), the unit; Karpathy, char-rnn (2015), the task.
#include <strata/core.h>

#include <string>

#include "require.h"
#include "rhyme.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

constexpr std::int64_t kLetters = 128, kState = 96, kLength = 64, kBatch = 32;

struct Unit {
  nn::Linear gates, candidate, out;
  STRATA_FIELDS(gates, candidate, out)
};

Unit make_unit(const Array& key) {
  Array keys = random::split(key, 3);
  return {nn::Linear::init(keys[0], kLetters + kState, 2 * kState),
          nn::Linear::init(keys[1], kLetters + kState, kState),
          nn::Linear::init(keys[2], kState, kLetters)};
}

// The state (..., kState) after a letter (...).
Array after(const Unit& unit, const Array& state, const Array& letter) {
  Array x = nn::one_hot(letter, kLetters);
  std::vector<Array> gate = split(nn::sigmoid(unit.gates(concatenate({x, state}, -1))), 2, -1);
  Array proposed = tanh(unit.candidate(concatenate({x, gate[0] * state}, -1)));
  return gate[1] * state + (1 - gate[1]) * proposed;
}

// Cross-entropy of each letter but the first of i32[batch, length], in nats.
Array loss(const Unit& unit, const Array& text) {
  auto step = [&](Array state, Array letter) {
    Array next = after(unit, state, letter);
    return std::pair(next, next);
  };
  Array states = scan(step, zeros({text.shape(0), kState}), text[{slice(), slice(-1)}].T())
                     .second;  // (length - 1, batch, state)
  Array predicted = nn::log_softmax(unit.out(states));
  return -mean(
      take_along_axis(predicted, text[{slice(), slice(1, none)}].T()[{ellipsis, newaxis}], -1));
}

// The likeliest letters after `text`.
std::string recite(const Unit& unit, const std::string& text, std::int64_t letters) {
  const std::vector<std::int32_t> given(text.begin(), text.end());
  auto listen = [&](Array state, Array letter) {
    return std::pair(after(unit, state, letter), nullptr);
  };
  auto speak = [&](Array state, std::nullptr_t) {
    Array letter = argmax(unit.out(state), -1);
    return std::pair(after(unit, state, letter), letter);
  };
  auto both = jit([&](Array heard) {
    return scan(speak, scan(listen, zeros({kState}), heard).first, nullptr, {.length = letters})
        .second;
  });
  std::string out = text;
  for (int c : both(array(given)).to_vector<int>()) out += static_cast<char>(c);
  return out;
}

int main() {
  const std::string text = rhyme();
  Array letters = array(std::vector<std::int32_t>(text.begin(), text.end()));
  const std::int64_t pieces = letters.size() - kLength;

  Unit unit = make_unit(random::key(0));
  auto optimizer = optim::chain(optim::clip_by_global_norm(1.0),
                                optim::adam(optim::cosine_decay_schedule(1e-2, 600)));
  auto memory = optimizer.init(unit);
  auto step = jit([&](const Unit& unit, const decltype(memory)& memory, const Array& key) {
    Array starts = random::randint(key, {kBatch, 1}, 0, pieces);
    auto [value, slope] = value_and_grad(loss)(unit, letters[starts + arange(kLength)]);
    auto [updates, next] = optimizer.update(slope, memory, unit);
    return std::tuple(value, optim::apply_updates(unit, updates), next);
  });
  Array value;
  for (int i = 0; i <= 600; ++i) {
    std::tie(value, unit, memory) = step(unit, memory, random::fold_in(random::key(1), i));
    if (i % 150 == 0) std::printf("step %3d  %.2f nats a letter\n", i, value.item<double>());
  }

  const std::string said = recite(unit, "This is the maiden", 178);
  std::printf("%s\n", said.c_str());
  require(text.find(said) != std::string::npos, "what it recites stands in the rhyme");
}
