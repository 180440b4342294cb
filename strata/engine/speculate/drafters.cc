// Every way to guess (speculate.h): by n-grams, by suffixes, by a smaller model's engine.
#include <deque>
#include <map>
#include <utility>

#include "strata/engine/engine.h"
#include "strata/engine/speculate.h"
#include "strata/engine/speculate/suffix_tree.h"

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
std::unique_ptr<Drafter> make_drafter(const Speculation& o, const DraftLayout& layout) {
  switch (o.method) {
    case Speculation::Method::none: return nullptr;
    case Speculation::Method::ngram: return std::make_unique<NgramDrafter>(o);
    case Speculation::Method::suffix: return std::make_unique<SuffixDrafter>(o);
    case Speculation::Method::model: return std::make_unique<ModelDrafter>(o, layout);
  }
  return nullptr;
}

}  // namespace strata::engine
