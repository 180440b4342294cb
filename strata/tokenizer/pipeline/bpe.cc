// Byte pair encoding: the pair of the lowest rank is merged first, of equal ones the leftmost,
// until none is left. A heap of pairs makes it O(n log n).
#include <algorithm>
#include <queue>

#include "strata/base/error.h"
#include "strata/tokenizer/pipeline/model.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

/// Pairs of tokens, by open addressing.
class Merges {
 public:
  struct Found {
    std::int32_t rank, id;
  };
  explicit Merges(std::size_t count) {
    std::size_t size = 16;
    while (size < 2 * count) size *= 2;
    slots_.resize(size);
  }
  void set(std::int32_t left, std::int32_t right, Found found) {
    Slot& slot = slots_[place(key(left, right))];
    slot = {key(left, right), found};
  }
  const Found* find(std::int32_t left, std::int32_t right) const {
    const Slot& slot = slots_[place(key(left, right))];
    return slot.key == kNone ? nullptr : &slot.found;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kNone;
    Found found{};
  };
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
  }
  std::size_t place(std::uint64_t k) const {
    std::uint64_t hash = k * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].key != k && slots_[at].key != kNone) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<Slot> slots_;
};

class Bpe : public Model {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, BpeOptions options)
      : options_(std::move(options)), merges_(merges.size()) {
    vocabulary_ = std::move(vocabulary);
    for (const Merge& m : merges) {
      const std::string_view tail = std::string_view(m.right).substr(
          std::min(m.right.size(), options_.continuing_prefix.size()));
      const std::string joined = m.left + std::string(tail);
      for (const std::string& token : {m.left, m.right, joined}) {
        if (!vocabulary_.id_of(token))
          throw BadPart{fmt::format("model BPE: the merge of '{}' and '{}' needs a token '{}'",
                                    m.left, m.right, token)};
      }
      merges_.set(*vocabulary_.id_of(m.left), *vocabulary_.id_of(m.right),
                  {m.rank, *vocabulary_.id_of(joined)});
    }
    if (options_.unknown) unknown_ = vocabulary_.id_of(*options_.unknown);
    for (int b = 0; b < 256; ++b)
      bytes_[b] = vocabulary_.id_of(byte_token(static_cast<unsigned char>(b))).value_or(-1);
  }

  void encode(std::string_view text, std::vector<std::int32_t>& out) const override {
    if (options_.ignore_merges) {
      const auto whole = vocabulary_.id_of(text);
      if (whole && allowed(*whole)) return out.push_back(*whole);
    }
    std::vector<Symbol> symbols = first_symbols(text);
    merge(symbols);
    for (const Symbol& s : symbols) {
      if (s.id >= 0) out.push_back(s.id);
    }
  }

 private:
  struct Symbol {
    std::int32_t id;  // -1: merged into one before it
    std::int32_t before, behind;
  };
  struct Candidate {
    std::int32_t rank, at, id;
    bool operator<(const Candidate& o) const {  // the heap's top is the greatest
      return rank != o.rank ? rank > o.rank : at > o.at;
    }
  };

  std::vector<Symbol> first_symbols(std::string_view text) const {
    std::vector<std::int32_t> ids;
    ids.reserve(text.size());
    bool unknown_before = false;
    std::string held;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = code_point_at(text, at).bytes;
      std::string_view character = text.substr(at, n);
      const bool prefixed = at > 0 && !options_.continuing_prefix.empty();
      const bool suffixed = at + n == text.size() && !options_.end_suffix.empty();
      if (prefixed || suffixed) {
        held = prefixed ? options_.continuing_prefix : "";
        held += character;
        if (suffixed) held += options_.end_suffix;
        character = held;
      }
      at += n;
      if (const auto id = vocabulary_.id_of(character); id && allowed(*id)) {
        ids.push_back(*id);
        unknown_before = false;
      } else if (!options_.byte_fallback || !put_bytes(character, ids)) {
        put_unknown(unknown_before, ids);
      }
    }
    const auto count = static_cast<std::int32_t>(ids.size());
    std::vector<Symbol> out(ids.size());
    for (std::int32_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(i)] = {ids[static_cast<std::size_t>(i)], i - 1,
                                          i + 1 == count ? -1 : i + 1};
    return out;
  }

  bool put_bytes(std::string_view character, std::vector<std::int32_t>& ids) const {
    for (char c : character) {
      if (bytes_[static_cast<unsigned char>(c)] < 0) return false;
    }
    for (char c : character) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
    return true;
  }

  void put_unknown(bool& unknown_before, std::vector<std::int32_t>& ids) const {
    if (!options_.unknown) return;
    if (!unknown_)
      throw Error("encode", "the unknown token '{}' is none of the vocabulary's",
                  *options_.unknown);
    if (!unknown_before || !options_.fuse_unknown) ids.push_back(*unknown_);
    unknown_before = true;
  }

  void merge(std::vector<Symbol>& symbols) const {
    const auto of = [&](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
    std::vector<Candidate> room;
    room.reserve(symbols.size());
    std::priority_queue<Candidate> heap(std::less<Candidate>(), std::move(room));
    const auto offer = [&](std::int32_t at) {
      if (at < 0 || of(at).behind < 0) return;
      const auto* m = merges_.find(of(at).id, of(of(at).behind).id);
      if (m != nullptr && allowed(m->id)) heap.push({m->rank, at, m->id});
    };
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(symbols.size()); ++i) offer(i);
    while (!heap.empty()) {
      const Candidate c = heap.top();
      heap.pop();
      Symbol& left = of(c.at);
      if (left.id < 0 || left.behind < 0) continue;
      Symbol& right = of(left.behind);
      const auto* m = merges_.find(left.id, right.id);
      if (m == nullptr || m->id != c.id) continue;  // one of them was merged elsewhere
      left.id = c.id;
      left.behind = right.behind;
      right.id = -1;
      if (left.behind >= 0) of(left.behind).before = c.at;
      offer(left.before);
      offer(c.at);
    }
  }

  BpeOptions options_;
  Merges merges_;
  std::optional<std::int32_t> unknown_;
  std::int32_t bytes_[256];
};

}  // namespace

std::shared_ptr<Model> make_bpe(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                const BpeOptions& options) {
  return std::make_shared<Bpe>(std::move(vocabulary), merges, options);
}

std::shared_ptr<Model> make_scored_bpe(Vocabulary vocabulary, const std::vector<float>& scores,
                                       const std::vector<bool>& merged, const BpeOptions& options) {
  std::vector<std::int32_t> order;
  for (std::int32_t id = 0; id < vocabulary.end(); ++id) {
    if (merged[static_cast<std::size_t>(id)]) order.push_back(id);
  }
  const auto score = [&](std::int32_t id) { return scores[static_cast<std::size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return score(a) > score(b); });
  std::vector<Merge> merges;
  std::int32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && score(order[i]) != score(order[i - 1])) ++rank;
    const std::string& token = *vocabulary.token_of(order[i]);
    for (std::size_t at = 0; at < token.size();) {
      at += code_point_at(token, at).bytes;
      if (at == token.size()) break;
      std::string left = token.substr(0, at), right = token.substr(at);
      if (vocabulary.id_of(left) && vocabulary.id_of(right))
        merges.push_back({std::move(left), std::move(right), rank});
    }
  }
  return make_bpe(std::move(vocabulary), merges, options);
}

}  // namespace strata::tokenizer
