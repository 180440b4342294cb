#include "strata/engine/grammar/guide.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine::grammar {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<std::string> bytes_of(const tokenizer::Tokenizer& tokenizer, std::int64_t size,
                                  bool special = false) {
  std::vector<std::string> out(static_cast<std::size_t>(size));
  const std::int64_t known = std::min(size, tokenizer.vocab_size());
  for (std::int64_t i = 0; i < known; ++i) {
    const auto token = static_cast<std::int32_t>(i);
    // The token between documents stands for a line end elsewhere, which it is not here.
    if (special && tokenizer.is_special(token))
      out[static_cast<std::size_t>(i)] = tokenizer.token_of(token);
    else if (!tokenizer.is_special(token) && token != tokenizer.separator())
      out[static_cast<std::size_t>(i)] = tokenizer.bytes(token);
  }
  return out;
}

}  // namespace

Vocabulary::Vocabulary(const tokenizer::Tokenizer& tokenizer, std::int64_t size)
    : bytes_(bytes_of(tokenizer, size)) {
  build();
}

Vocabulary Vocabulary::with_special(const tokenizer::Tokenizer& tokenizer, std::int64_t size) {
  return Vocabulary(bytes_of(tokenizer, size, true));
}

Vocabulary Vocabulary::with_marks(const tokenizer::Tokenizer& tokenizer, std::int64_t size) {
  std::vector<std::string> words = bytes_of(tokenizer, size, false);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto t = static_cast<std::int32_t>(i);
    // A token of the mark's bytes could be mistaken for one.
    if (words[i].find_first_of("\xfe\xff") != std::string::npos) words[i].clear();
    if (t < tokenizer.vocab_size() && tokenizer.is_special(t))
      words[i] = mark_of(tokenizer.token_of(t));
  }
  return Vocabulary(std::move(words));
}

std::string Vocabulary::mark_of(std::string_view text) {
  return "\xff" + std::string(text) + "\xfe";
}

Vocabulary::Vocabulary(std::vector<std::string> words) : bytes_(std::move(words)) { build(); }

void Vocabulary::build() {
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    if (!bytes_[i].empty()) tokens_.push_back(static_cast<std::int32_t>(i));
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [&](std::int32_t a, std::int32_t b) { return bytes(a) < bytes(b); });
  std::vector<std::int32_t> open;  // places from the tree's root to the last one
  const auto close = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back())
      places_[static_cast<std::size_t>(open.back())].behind =
          static_cast<std::int32_t>(places_.size());
  };
  std::string_view last;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& s = bytes(tokens_[i]);
    std::size_t same = 0;
    while (same < s.size() && same < last.size() && s[same] == last[same]) ++same;
    close(same);
    for (std::size_t d = same; d < s.size(); ++d) {
      open.push_back(static_cast<std::int32_t>(places_.size()));
      places_.push_back({static_cast<unsigned char>(s[d]), static_cast<std::int32_t>(d), 0,
                         static_cast<std::int32_t>(i), 0});
    }
    ++places_[static_cast<std::size_t>(open.back())].count;
    last = s;
  }
  close(0);
}

Guide::Guide(Grammar grammar, std::shared_ptr<const Vocabulary> words)
    : automaton_(std::move(grammar)), vocabulary_(std::move(words)) {}

Guide::State Guide::after(State state, std::int32_t token) {
  const std::string& bytes = vocabulary_->bytes(token);
  if (bytes.empty()) return Automaton::kDead;
  for (char c : bytes) state = automaton_.next(state, static_cast<unsigned char>(c));
  return state;
}

const std::vector<std::uint64_t>& Guide::set_of(State state) {
  const auto known = sets_.find(state);
  if (known != sets_.end()) return known->second;
  const std::size_t words = (static_cast<std::size_t>(vocabulary_->size()) + 63) / 64;
  if ((sets_.size() + 1) * words * 8 > kMostSets) sets_.clear();
  std::vector<std::uint64_t> set(words);
  const std::vector<Vocabulary::Place>& places = vocabulary_->places();
  std::vector<State> states = {state};  // before the byte at each depth
  for (std::size_t i = 0; i < places.size();) {
    const Vocabulary::Place& p = places[i];
    const auto depth = static_cast<std::size_t>(p.depth);
    const State to = automaton_.next(states[depth], p.byte);
    if (to == Automaton::kDead) {
      i = static_cast<std::size_t>(p.behind);
      continue;
    }
    for (std::int32_t t = p.first; t < p.first + p.count; ++t) {
      const auto token =
          static_cast<std::size_t>(vocabulary_->tokens()[static_cast<std::size_t>(t)]);
      set[token / 64] |= std::uint64_t{1} << (token % 64);
    }
    if (states.size() < depth + 2) states.resize(depth + 2);
    states[depth + 1] = to;
    ++i;
  }
  return sets_[state] = std::move(set);
}

void Guide::follow(Path& path, std::span<const std::int32_t> text, Next& next) {
  const std::lock_guard lock(mutex_);
  if (automaton_.full()) {
    automaton_.forget();
    sets_.clear();
    ++age_;
  }
  if (path.age != age_) path = {.states = {automaton_.start()}, .age = age_};
  const auto same = std::mismatch(path.tokens.begin(), path.tokens.end(), text.begin(), text.end());
  const auto kept = static_cast<std::size_t>(same.first - path.tokens.begin());
  path.tokens.resize(kept);
  path.states.resize(kept + 1);
  for (std::size_t i = kept; i < text.size(); ++i) {
    path.states.push_back(after(path.states.back(), text[i]));
    path.tokens.push_back(text[i]);
  }
  const State here = path.states.back();
  next.alive = here != Automaton::kDead;
  next.may_end = next.alive && automaton_.may_end(here);
  next.must_end = next.may_end && automaton_.must_end(here);
  if (next.alive)
    next.tokens = set_of(here);
  else
    next.tokens.clear();
}

std::function<bool(std::span<const std::int32_t>, std::span<float>)> shape_of(
    std::shared_ptr<Guide> guide, std::vector<std::int32_t> stop_tokens,
    std::vector<std::int32_t> free) {
  struct Held {
    Guide::Path path;
    Guide::Next next;
  };
  return [guide = std::move(guide), stops = std::move(stop_tokens), free = std::move(free),
          held = std::make_shared<Held>()](std::span<const std::int32_t> output,
                                           std::span<float> bias) {
    const auto stop = std::find_first_of(output.begin(), output.end(), stops.begin(), stops.end());
    const bool ended = stop != output.end();
    try {
      guide->follow(held->path, output.first(static_cast<std::size_t>(stop - output.begin())),
                    held->next);
    } catch (const Error&) {
      held->next = {.alive = false};
      held->path = {};
    }
    const Guide::Next& next = held->next;
    std::fill(bias.begin(), bias.end(), kNever);
    if (!ended)
      for (std::size_t w = 0; w < next.tokens.size(); ++w)
        for (std::uint64_t bits = next.tokens[w]; bits != 0; bits &= bits - 1) {
          const std::size_t t = w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
          if (t < bias.size()) bias[t] = 0;
        }
    if (!next.may_end)
      for (std::int32_t t : free)
        if (t >= 0 && static_cast<std::size_t>(t) < bias.size())
          bias[static_cast<std::size_t>(t)] = kNever;
    for (std::int32_t t : stops)
      if (t >= 0 && static_cast<std::size_t>(t) < bias.size())
        bias[static_cast<std::size_t>(t)] = next.may_end ? 0.0f : kNever;
    return true;
  };
}

}  // namespace strata::engine::grammar
