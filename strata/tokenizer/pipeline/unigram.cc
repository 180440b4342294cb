// A unigram language model: the cut of greatest probability, by Viterbi's algorithm over bytes.
#include <algorithm>
#include <limits>

#include "strata/base/error.h"
#include "strata/tokenizer/byte_trie.h"
#include "strata/tokenizer/pipeline/model.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

constexpr double kUnknownPenalty = 10;

class Unigram : public Model {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, std::optional<std::int32_t> unknown,
          bool byte_fallback)
      : scores_(std::move(scores)), unknown_(unknown), byte_fallback_(byte_fallback) {
    vocabulary_ = std::move(vocabulary);
    std::vector<std::pair<std::string_view, std::int32_t>> strings;
    for (std::int32_t id = 0; id < vocabulary_.end(); ++id) {
      const std::string& token = *vocabulary_.token_of(id);
      if (!token.empty()) strings.emplace_back(token, *vocabulary_.id_of(token));
    }
    trie_ = ByteTrie(std::move(strings));
    if (!scores_.empty()) least_ = *std::min_element(scores_.begin(), scores_.end());
    for (int b = 0; b < 256; ++b)
      bytes_[b] = vocabulary_.id_of(byte_token(static_cast<unsigned char>(b))).value_or(-1);
  }

  void encode(std::string_view text, std::vector<std::int32_t>& out) const override {
    const std::vector<Node> best = best_ends(text);
    std::vector<std::size_t> ends;  // of the pieces, last first; runs of unknown ones are one
    std::size_t at = text.size();
    bool unknown_behind = false;
    while (at > 0) {
      const bool unknown = unknown_ && best[at].id == *unknown_;
      if (!unknown || !unknown_behind) ends.push_back(at);
      unknown_behind = unknown;
      at = best[at].begin;
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      put(text.substr(at, *end - at), out);
      at = *end;
    }
  }

 private:
  struct Node {
    double score = 0;
    std::size_t begin = std::string_view::npos;
    std::int32_t id = 0;
  };

  std::vector<Node> best_ends(std::string_view text) const {
    std::vector<Node> best(text.size() + 1);
    const auto offer = [&](std::size_t begin, std::size_t end, double score, std::int32_t id) {
      Node& node = best[end];
      score += best[begin].score;
      if (node.begin == text.npos || score > node.score) node = {score, begin, id};
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = code_point_at(text, at).bytes;
      bool single = false;
      trie_.prefixes(text.substr(at), [&](std::size_t length, std::int32_t id) {
        if (!allowed(id)) return;
        offer(at, at + length, scores_[static_cast<std::size_t>(id)], id);
        single = single || length == n;
      });
      if (!single) {
        if (!unknown_)
          throw Error("encode", "no token begins with '{}', and there is no unknown token",
                      text.substr(at, n));
        offer(at, at + n, least_ - kUnknownPenalty, *unknown_);
      }
      at += n;
    }
    return best;
  }

  void put(std::string_view piece, std::vector<std::int32_t>& out) const {
    if (const auto id = vocabulary_.id_of(piece); id && allowed(*id)) return out.push_back(*id);
    const bool all = byte_fallback_ && std::all_of(piece.begin(), piece.end(), [&](char c) {
                       return bytes_[static_cast<unsigned char>(c)] >= 0;
                     });
    if (!all) return out.push_back(unknown_.value());
    for (char c : piece) out.push_back(bytes_[static_cast<unsigned char>(c)]);
  }

  std::vector<double> scores_;
  std::optional<std::int32_t> unknown_;
  bool byte_fallback_;
  ByteTrie trie_;
  double least_ = std::numeric_limits<double>::infinity();
  std::int32_t bytes_[256];
};

}  // namespace

std::shared_ptr<Model> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                    std::optional<std::int32_t> unknown, bool byte_fallback) {
  return std::make_shared<Unigram>(std::move(vocabulary), std::move(scores), unknown,
                                   byte_fallback);
}

}  // namespace strata::tokenizer
