#include "strata/engine/speculate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/engine.h"
#include "strata/engine/suffix_tree.h"

namespace strata::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

class NgramDrafter : public Drafter {
 public:
  explicit NgramDrafter(const Speculation& o) : longest_(o.longest), shortest_(o.shortest) {}
  void guess(std::span<Guess> rows) override {
    for (Guess& row : rows) row.tokens = guess_by_ngram(row.known, longest_, shortest_, row.most);
  }

 private:
  std::int64_t longest_, shortest_;
};

/// A tree for each request, of its own tokens, and one of the last outputs of all. Outputs of
/// requests with a salt are known to nobody else.
class SuffixDrafter : public Drafter {
 public:
  explicit SuffixDrafter(const Speculation& o)
      : depth_(o.depth), least_(o.least_probability), remembers_(o.remembers), all_(o.depth) {}

  void guess(std::span<Guess> rows) override {
    for (Guess& row : rows) {
      Own& own = own_.try_emplace(row.id, depth_).first->second;
      own.tree.add(row.known, own.known, row.known.size(), 1);
      own.known = row.known.size();
      SuffixTree::Guessed mine = own.tree.guess(row.known, row.most, least_);
      if (row.salt.empty()) {
        SuffixTree::Guessed theirs = all_.guess(row.known, row.most, least_);
        if (theirs.score > mine.score) mine = std::move(theirs);
      }
      row.tokens = std::move(mine.tokens);
    }
  }

  void ended(const Guess& row) override {
    own_.erase(row.id);
    const Tokens output(row.known.begin() + row.prompt, row.known.end());
    if (!row.salt.empty() || output.empty()) return;
    all_.add(output, 0, output.size(), 1);
    remembered_ += static_cast<std::int64_t>(output.size());
    outputs_.push_back(output);
    while (remembered_ > remembers_) {
      const Tokens& oldest = outputs_.front();
      all_.add(oldest, 0, oldest.size(), -1);
      remembered_ -= static_cast<std::int64_t>(oldest.size());
      outputs_.pop_front();
    }
  }

 private:
  struct Own {
    explicit Own(std::int64_t depth) : tree(depth) {}
    SuffixTree tree;
    std::size_t known = 0;
  };
  std::int64_t depth_;
  double least_;
  std::int64_t remembers_, remembered_ = 0;
  SuffixTree all_;
  std::map<std::int64_t, Own> own_;
  std::deque<Tokens> outputs_;
};

/// Draws with a smaller model's engine, whose cache finds what it has read before.
class ModelDrafter : public Drafter {
 public:
  ModelDrafter(const Speculation& o, const DraftLayout& layout)
      : engine_(o.model, o.params, options_for(o, layout)) {}

  void guess(std::span<Guess> rows) override {
    std::vector<Id> ids;
    for (Guess& row : rows) {
      Request r{.tokens = Tokens(row.known.begin(), row.known.end()),
                .sampling = *row.sampling,
                .max_tokens = row.most,
                .first_position = row.position,
                .salt = row.salt};
      r.sampling.min_tokens = 0;
      r.stop_tokens.assign(row.stop_tokens.begin(), row.stop_tokens.end());
      const bool fits = static_cast<std::int64_t>(r.tokens.size()) < engine_.options().max_length;
      ids.push_back(fits ? engine_.submit(std::move(r)) : 0);
    }
    while (engine_.step()) {
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (ids[i] != 0) rows[i].tokens = engine_.take(ids[i]).tokens;
  }

 private:
  static Options options_for(const Speculation& o, const DraftLayout& layout) {
    Options out;
    out.page_size = 4;
    out.max_length = layout.max_length + o.tokens;
    out.max_batch = layout.max_batch;
    out.pages = layout.max_batch * ((out.max_length + out.page_size - 1) / out.page_size + 1);
    out.vocabulary = layout.vocabulary;
    return out;
  }
  Engine engine_;
};

}  // namespace

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

std::unique_ptr<Drafter> make_drafter(const Speculation& o, const DraftLayout& layout) {
  switch (o.method) {
    case Speculation::Method::none: return nullptr;
    case Speculation::Method::ngram: return std::make_unique<NgramDrafter>(o);
    case Speculation::Method::suffix: return std::make_unique<SuffixDrafter>(o);
    case Speculation::Method::model: return std::make_unique<ModelDrafter>(o, layout);
  }
  return nullptr;
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
