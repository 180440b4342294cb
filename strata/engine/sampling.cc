#include "strata/engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/random.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/vmap.h"
#include "strata/base/error.h"

namespace strata::engine {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// (B) -> (B, 1)
Array column(const Array& x) { return expand_dims(x, 1); }

Array kept(const Array& logits, const Array& keep) { return where(keep, logits, kNever); }

/// The least of the k greatest of rows in rising order, (B, 1); -inf where k is 0.
Array least_of(const Array& rising, const Array& k) {
  const auto size = static_cast<std::int32_t>(rising.shape(1));
  const Array place = size - clip(k, 1, size);
  const Array value = take_along_axis(rising, column(place), 1, {.mode = "promise_in_bounds"});
  return where(column(k) > 0, value, kNever);
}

/// The least value that top_p keeps of rows in rising order, (B, 1); -inf where p is 1.
Array least_in(const Array& rising, const Array& p) {
  const Array reached = cumsum(nn::softmax(rising), 1) > column(1.0f - p);
  const Array last = arange(rising.shape(1)) == rising.shape(1) - 1;
  const Array candidates = where(logical_or(reached, last), rising, -kNever);
  return where(column(p) < 1, min(candidates, {.axis = 1, .keepdims = true}), kNever);
}

/// min_p, top_k and top_p with one sort.
Array cut(const Array& logits, const Array& min_p, const Array& top_k, const Array& top_p) {
  const Array likely = keep_min_p(logits, min_p);
  const Array rising = sort(likely, 1);
  const Array border = least_of(rising, top_k);
  const Array least = maximum(border, least_in(kept(rising, rising >= border), top_p));
  return kept(likely, likely >= least);
}

void check_range(const char* name, double value, double least, double most) {
  if (!(value >= least && value <= most))
    throw Error("sampling", "{} must be in [{}, {}], got {}", name, least, most, value);
}

}  // namespace

void check(const Sampling& s) {
  check_range("temperature", s.temperature, 0, 100);
  if (s.top_k < 0) throw Error("sampling", "top_k must be 0 or more, got {}", s.top_k);
  check_range("top_p", s.top_p, 0, 1);
  check_range("min_p", s.min_p, 0, 1);
  if (!(s.repetition_penalty > 0 && std::isfinite(s.repetition_penalty)))
    throw Error("sampling", "repetition_penalty must be a number above 0, got {}",
                s.repetition_penalty);
  check_range("frequency_penalty", s.frequency_penalty, -2, 2);
  check_range("presence_penalty", s.presence_penalty, -2, 2);
  if (s.min_tokens < 0)
    throw Error("sampling", "min_tokens must be 0 or more, got {}", s.min_tokens);
  for (const auto& [token, value] : s.logit_bias)
    if (std::isnan(value)) throw Error("sampling", "logit_bias of token {} is no number", token);
  if (s.allowed_tokens && s.allowed_tokens->empty())
    throw Error("sampling", "allowed_tokens must have one token at least");
  constexpr std::size_t kWords = 128, kTokens = 1024;
  std::size_t tokens = 0;
  for (const auto& word : s.bad_words) {
    if (word.empty()) throw Error("sampling", "bad_words must have one token at least, each");
    tokens += word.size();
  }
  if (s.bad_words.size() > kWords || tokens > kTokens)
    throw Error("sampling", "bad_words must be at most {} with {} tokens in all, got {} with {}",
                kWords, kTokens, s.bad_words.size(), tokens);
  if (s.chain) check(*s.chain, std::numeric_limits<std::int32_t>::max());
}

void check(const Sampling& s, std::int64_t vocabulary) {
  check(s);
  const auto known = [&](const char* name, std::int32_t t) {
    if (t < 0 || t >= vocabulary)
      throw Error("sampling", "{}: token {} is not in [0, {})", name, t, vocabulary);
  };
  for (const auto& [token, value] : s.logit_bias) known("logit_bias", token);
  if (s.allowed_tokens)
    for (std::int32_t t : *s.allowed_tokens) known("allowed_tokens", t);
  for (const auto& word : s.bad_words)
    for (std::int32_t t : word) known("bad_words", t);
  if (s.chain) check(*s.chain, vocabulary);
}

std::uint64_t seed_of_sample(std::uint64_t seed, std::int64_t number) {
  if (number == 0) return seed;
  // SplitMix64 (Steele et al., 2014), so that samples of neighbouring seeds differ.
  std::uint64_t z = seed + static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

bool has_bias(const Sampling& s, std::int64_t drawn) {
  return !s.logit_bias.empty() || s.allowed_tokens || !s.bad_words.empty() || drawn < s.min_tokens;
}

void add_bias(const Sampling& s, std::span<const std::int32_t> output,
              std::span<const std::int32_t> stop_tokens, std::span<float> bias) {
  const auto at = [&](std::int32_t token) -> float& {
    return bias[static_cast<std::size_t>(token)];
  };
  for (const auto& [token, value] : s.logit_bias) at(token) += std::clamp(value, -100.0f, 100.0f);
  if (s.allowed_tokens) {
    std::vector<bool> may(bias.size());
    for (std::int32_t t : *s.allowed_tokens) may[static_cast<std::size_t>(t)] = true;
    for (std::size_t t = 0; t < bias.size(); ++t)
      if (!may[t]) bias[t] = kNever;
  }
  for (const auto& word : s.bad_words) {
    const std::size_t n = word.size() - 1;
    if (n <= output.size() &&
        std::equal(word.begin(), word.end() - 1, output.end() - static_cast<std::ptrdiff_t>(n)))
      at(word.back()) = kNever;
  }
  if (static_cast<std::int64_t>(output.size()) < s.min_tokens)
    for (std::int32_t t : stop_tokens) at(t) = kNever;
}

Rows rows(std::span<const Sampling> all, std::span<const std::int32_t> positions) {
  std::vector<const Sampling*> each;
  for (const Sampling& s : all) each.push_back(&s);
  return rows(each, positions);
}

Rows rows(std::span<const Sampling* const> all, std::span<const std::int32_t> positions) {
  std::vector<float> temperature, top_p, min_p, repetition, frequency, presence;
  std::vector<std::int32_t> top_k, told;
  std::vector<std::uint32_t> seed;
  for (const Sampling* of : all) {
    const Sampling& s = *of;
    told.push_back(static_cast<std::int32_t>(s.logprobs_mode));
    temperature.push_back(s.greedy() ? 0.0f : static_cast<float>(std::max(s.temperature, 0.01)));
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    top_k.push_back(static_cast<std::int32_t>(std::min(s.top_k, kMost)));
    top_p.push_back(static_cast<float>(s.top_p));
    min_p.push_back(static_cast<float>(s.min_p));
    repetition.push_back(static_cast<float>(s.repetition_penalty));
    frequency.push_back(static_cast<float>(s.frequency_penalty));
    presence.push_back(static_cast<float>(s.presence_penalty));
    seed.push_back(static_cast<std::uint32_t>(s.seed >> 32));
    seed.push_back(static_cast<std::uint32_t>(s.seed));
  }
  const auto count = static_cast<std::int64_t>(all.size());
  return {array(temperature),
          array(top_k),
          array(top_p),
          array(min_p),
          array(repetition),
          array(frequency),
          array(presence),
          array(seed, Sizes{count, 2}),
          array(std::vector<std::int32_t>(positions.begin(), positions.end())),
          array(told)};
}

Array penalised(const Array& logits, const Seen& seen, const Array& repetition,
                const Array& frequency, const Array& presence) {
  const Array drawn = seen.output > 0, r = column(repetition);
  const Array repeated = where(logits < 0, logits * r, logits / r);
  const Array x = where(logical_or(seen.prompt, drawn), repeated, logits);
  return x - column(frequency) * seen.output.astype(DType::f32) -
         column(presence) * drawn.astype(DType::f32);
}

Array at_temperature(const Array& logits, const Array& temperature) {
  return logits / column(where(temperature > 0, temperature, 1.0f));
}

Array keep_min_p(const Array& logits, const Array& m) {
  const Array p = nn::softmax(logits);
  return kept(logits, p >= column(m) * max(p, {.axis = 1, .keepdims = true}));
}

Array keep_top_k(const Array& logits, const Array& k) {
  return kept(logits, logits >= least_of(sort(logits, 1), k));
}

Array keep_top_p(const Array& logits, const Array& p) {
  return kept(logits, logits >= least_in(sort(logits, 1), p));
}

Array noise(const Array& seed, const Array& position, std::int64_t vocabulary) {
  const Array bits = vmap([&](const Array& words, const Array& at) {
    return random::bits(random::fold_in(random::wrap_key_data(words), at), {vocabulary},
                        DType::ui32);
  })(seed, position);
  // -log(-log u) of u in the middle of one of 2^32 parts of (0, 1), to full precision at both ends:
  // large noise, which decides, comes from u next to 1.
  const auto middle = [](const Array& x) { return (x.astype(DType::f32) + 0.5f) * 0x1p-32f; };
  constexpr std::uint32_t kHalf = 1u << 31;
  const Array small = where(bits < kHalf, bits, 0u), rest = where(bits < kHalf, 0u, ~bits);
  return -log(where(bits < kHalf, -log(middle(small)), -log1p(-middle(rest))));
}

Drawn draw(const Array& logits, const Rows& of, const std::optional<Seen>& seen) {
  return draw_with_all(logits, of, seen ? [&] { return *seen; } : std::function<Seen()>()).first;
}

std::pair<Drawn, Array> draw_with_all(const Array& logits, const Rows& of,
                                      const std::function<Seen()>& seen) {
  if (logits.ndim() != 2 || logits.dtype() != DType::f32)
    throw Error("draw", "logits must be f32 of (batch, vocabulary), got {}", logits.type());
  const auto same = [](const Array& y) { return y; };
  Array x = of.bias ? logits + *of.bias : logits;
  if (seen)
    x = cond(
        any(logical_or(of.repetition_penalty != 1.0f,
                       logical_or(of.frequency_penalty != 0.0f, of.presence_penalty != 0.0f))),
        [&](const Array& y) {
          return penalised(y, seen(), of.repetition_penalty, of.frequency_penalty,
                           of.presence_penalty);
        },
        same, x);
  x = at_temperature(x, of.temperature);
  // Greedy rows draw the greatest, which every cut keeps.
  const Array random = of.temperature > 0;
  const Array cuts =
      logical_and(random, logical_or(of.top_k > 0, logical_or(of.top_p < 1, of.min_p > 0)));
  const Array choices = cond(
      any(cuts),
      [&](const Array& y) { return where(column(cuts), cut(y, of.min_p, of.top_k, of.top_p), y); },
      same, x);
  const Array noisy = cond(
      any(random),
      [&](const Array& y) {
        return where(column(random), y + noise(of.seed, of.position, y.shape(1)), y);
      },
      same, choices);
  Drawn out;
  out.token = argmax(noisy, 1).astype(DType::i32);
  using Mode = Sampling::LogprobsMode;
  const auto is = [&](Mode a, Mode b) {
    return logical_or(of.told == static_cast<std::int32_t>(a),
                      of.told == static_cast<std::int32_t>(b));
  };
  const Array raw = is(Mode::raw_logprobs, Mode::raw_logits),
              processed = is(Mode::processed_logprobs, Mode::processed_logits);
  const Array told = where(column(raw), logits, where(column(processed), choices, x));
  const Array mine = take_along_axis(told, column(out.token), 1, {.mode = "clip"});
  const Array total = where(is(Mode::raw_logits, Mode::processed_logits), 0.0f, logsumexp(told, 1));
  out.logprob = squeeze(mine, {1}) - total;
  out.valid = isfinite(max(x, 1));
  return {std::move(out), told - column(total)};
}

}  // namespace strata::engine
