#include "strata/engine/speculate.h"

#include "strata/base/error.h"

namespace strata::engine {

void check(const Speculation& o, std::int64_t vocabulary) {
  using Method = Speculation::Method;
  if (o.method == Method::none) return;
  const auto in = [](const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most)
      throw Error("speculate", "{} must be in [{}, {}], got {}", what, least, most, value);
  };
  in("tokens", o.tokens, 1, 32);
  if (o.method == Method::ngram) {
    in("shortest", o.shortest, 1, 64);
    in("longest", o.longest, o.shortest, 64);
  }
  if (o.method == Method::suffix) {
    in("depth", o.depth, 2, 64);
    in("remembers", o.remembers, 0, 1 << 24);
    if (!(o.least_probability >= 0 && o.least_probability <= 1))
      throw Error("speculate", "least_probability must be in [0, 1], got {}", o.least_probability);
  }
  if (o.method != Method::model) return;
  if (!o.model) throw Error("speculate", "a draft model is needed");
  if (o.model->vocab_size() != vocabulary)
    throw Error("speculate", "the draft model has {} tokens, but the model {}",
                o.model->vocab_size(), vocabulary);
}
std::vector<std::int32_t> guess_by_ngram(std::span<const std::int32_t> known, std::int64_t longest,
                                         std::int64_t shortest, std::int64_t most) {
  const auto size = static_cast<std::int64_t>(known.size());
  const auto at = [&](std::int64_t i) { return known[static_cast<std::size_t>(i)]; };
  std::int64_t best = 0, place = 0;
  // `end`: where the tokens behind a match begin.
  for (std::int64_t end = size - 1; end >= shortest && best < longest; --end) {
    std::int64_t n = 0;
    while (n < longest && n < end && at(end - 1 - n) == at(size - 1 - n)) ++n;
    if (n > best) best = n, place = end;
  }
  if (best < shortest) return {};
  // Behind the end the guesses go on as if they were known: a sequence that repeats itself.
  std::vector<std::int32_t> out;
  for (std::int64_t i = place; i < place + most; ++i)
    out.push_back(i < size ? at(i) : out[static_cast<std::size_t>(i - size)]);
  return out;
}

}  // namespace strata::engine
