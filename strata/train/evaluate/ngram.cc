#include "strata/train/evaluate/ngram.h"

#include <cmath>

#include "strata/base/check.h"

namespace strata::train {
namespace {

std::uint64_t pair_of(std::int32_t before, std::int32_t token) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(before)) << 32 |
         static_cast<std::uint32_t>(token);
}

}  // namespace

Ngram::Ngram(std::int64_t vocab_size)
    : counts_(static_cast<std::size_t>(vocab_size)),
      before_(counts_.size()),
      kinds_(counts_.size()) {}

void Ngram::add_unigrams(std::span<const std::int32_t> tokens) {
  for (std::int32_t t : tokens) {
    STRATA_CHECK(t >= 0 && static_cast<std::size_t>(t) < counts_.size(),
                 "token {} of a vocabulary of {}", t, counts_.size());
    ++counts_[static_cast<std::size_t>(t)];
    ++total_;
  }
}

void Ngram::add(std::span<const std::int32_t> tokens) {
  add_unigrams(tokens);
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const auto s = static_cast<std::size_t>(tokens[i - 1]);
    ++before_[s];
    if (++pairs_[pair_of(tokens[i - 1], tokens[i])] == 1) ++kinds_[s];
  }
}

double Ngram::unigram_nats(std::int32_t token) const {
  return -std::log((counts_[static_cast<std::size_t>(token)] + 1) /
                   (total_ + static_cast<double>(counts_.size())));
}

double Ngram::bigram_nats(std::int32_t before, std::int32_t token) const {
  const auto s = static_cast<std::size_t>(before);
  if (before_[s] == 0) return unigram_nats(token);
  auto pair = pairs_.find(pair_of(before, token));
  const double count = pair == pairs_.end() ? 0 : pair->second;
  return -std::log((count + kinds_[s] * std::exp(-unigram_nats(token))) / (before_[s] + kinds_[s]));
}

double Ngram::unigram(std::span<const std::int32_t> tokens) const {
  double sum = 0;
  for (std::int32_t t : tokens) sum += unigram_nats(t);
  return sum;
}

double Ngram::bigram(std::span<const std::int32_t> tokens) const {
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    sum += i == 0 ? unigram_nats(tokens[0]) : bigram_nats(tokens[i - 1], tokens[i]);
  return sum;
}

}  // namespace strata::train
