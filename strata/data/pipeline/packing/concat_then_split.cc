// Sequences end to end, cut where a row is full.
#include <deque>

#include "strata/data/pipeline/packing/pack_rows.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// A part of each feature; (-1, -1) for all of it.
using Slices = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;
constexpr std::pair<std::int64_t, std::int64_t> kWhole = {-1, -1};

struct Piece {
  Json before;  // the parent's state before it
  Element element;
  Slices slices;

  std::pair<std::int64_t, std::int64_t> range(const std::string& key) const {
    const Element& feature = element.at(key);
    const std::int64_t length = sequence_length(feature);
    const auto it = slices.find(key);
    if (feature.shape().rank() == 0 || it == slices.end() || it->second == kWhole)
      return {0, length};
    const std::int64_t end = std::min(it->second.second, length),
                       begin = std::min(it->second.first, length);
    return {begin, std::max(begin, end)};
  }
  std::int64_t length(const std::string& key) const {
    const auto [begin, end] = range(key);
    return end - begin;
  }
};

class ConcatThenSplitIterator : public Iterator {
 public:
  ConcatThenSplitIterator(const Node& node, std::unique_ptr<Iterator> parent,
                          const ConcatThenSplitOptions& options)
      : Iterator(node), parent_(std::move(parent)), o_(options) {
    checkpoint();
  }
  Json state() override {
    Json slices = Json::object();
    for (const auto& [key, length] : o_.length_struct)
      if (!is_meta(key)) {
        const auto s = slices_.at(key);
        slices[key] = Json::array({s.first, s.second});
      }
    Json out = Json::object();
    out["parent_state"] = before_;
    out["remainder_slices"] = std::move(slices);
    out["elements_from_buffer_after_checkpoint"] = given_;
    return out;
  }
  void set_state(const Json& state) override {
    constexpr std::int64_t kMostReplayed = 1 << 20;
    const Json& given = part(state, "remainder_slices");
    Slices slices = whole();
    bool has_remainder = false;
    for (auto& [key, slice] : slices) {
      const Json& s = part(given, key.c_str());
      if (!s.is_array() || s.size() != 2)
        throw StateError{fmt::format("\"remainder_slices\" of {} is no pair", key)};
      slice = {integer(s[0], "remainder_slices", -1), integer(s[1], "remainder_slices", -1)};
      has_remainder = has_remainder || slice != kWhole;
      if (slice != kWhole && slice.first < 0)
        throw StateError{fmt::format("\"remainder_slices\" of {} begins at {}", key, slice.first)};
    }
    const std::int64_t replay =
        integer_part(state, "elements_from_buffer_after_checkpoint", 0, kMostReplayed);
    ready_.clear();
    rest_.reset();
    ended_ = false;
    parent_->set_state(part(state, "parent_state"));
    if (has_remainder) {
      Piece piece{part(state, "parent_state"), {}, slices};
      if (!parent_->next(piece.element))
        throw StateError{"\"parent_state\" is at the end, where no remainder can be"};
      check(piece.element);
      rest_ = std::move(piece);
    }
    checkpoint();
    Element element;
    for (std::int64_t i = 0; i < replay; ++i)
      if (!do_next(element))
        throw StateError{"\"elements_from_buffer_after_checkpoint\" leads behind the end"};
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (ready_.empty()) {
      if (ended_) return false;
      checkpoint();
      fill();
      if (ready_.empty()) {
        checkpoint();
        return false;
      }
    }
    ++given_;
    out = std::move(ready_.front());
    ready_.pop_front();
    return true;
  }

 private:
  bool is_meta(const std::string& key) const { return contains(o_.meta_features, key); }
  Slices whole() const {
    Slices out;
    for (const auto& [key, length] : o_.length_struct)
      if (!is_meta(key)) out[key] = kWhole;
    return out;
  }
  /// Notes a place from which all that is buffered can be made again.
  void checkpoint() {
    before_ = rest_ ? rest_->before : parent_->state();
    slices_ = rest_ ? rest_->slices : whole();
    given_ = 0;
  }
  void check(const Element& element) const {
    if (element.kind() != Element::Kind::dict || element.fields().size() != o_.length_struct.size())
      throw Error("concat_then_split",
                  "elements must have the {} features of length_struct, got {}",
                  o_.length_struct.size(), element.to_string());
    for (const auto& [key, length] : o_.length_struct) element.at(key);
  }

  void fill() {
    std::vector<Piece> row;
    std::map<std::string, std::int64_t> tokens;
    for (;;) {
      if (rest_) {
        Piece piece = std::move(*rest_);
        rest_ = add(std::move(piece), row, tokens);
        if (rest_) break;
      }
      Piece piece{parent_->state(), {}, whole()};
      if (!parent_->next(piece.element)) {
        ended_ = true;
        break;
      }
      check(piece.element);
      if (!o_.split_full_length_features && is_full(piece)) {
        ready_.push_back(pack({std::move(piece)}));
        continue;
      }
      rest_ = add(std::move(piece), row, tokens);
      if (rest_) break;
    }
    if (row.empty() && rest_ && !ended_)
      throw Error("concat_then_split", "an element's meta features fit no row: {}",
                  rest_->element.to_string());
    if (!row.empty()) ready_.push_front(pack(row));
    if (ended_ && rest_) {
      ready_.push_back(pack({std::move(*rest_)}));
      rest_.reset();
    }
  }

  bool is_full(const Piece& piece) const {
    bool full = false;
    for (const auto& [key, length] : o_.length_struct) {
      if (piece.length(key) > length) return false;
      full = full || piece.length(key) == length;
    }
    return full;
  }

  /// Puts what fits into the row and returns what does not.
  std::optional<Piece> add(Piece piece, std::vector<Piece>& row,
                           std::map<std::string, std::int64_t>& tokens) const {
    std::map<std::string, std::int64_t> added, cuts;
    bool split = false;
    for (const auto& [key, length] : o_.length_struct) {
      const std::int64_t free = length - tokens[key], own = piece.length(key);
      added[key] = std::min(own, free);
      if (is_meta(key)) {
        if (own > free) return piece;
        continue;
      }
      const auto slice = piece.slices.at(key);
      const std::int64_t begin = slice == kWhole ? 0 : slice.first;
      if (own > free) {
        split = true;
        cuts[key] = begin + free;
      } else {
        // Upstream forgets where the part begins, so that a feature shorter than another one gives
        // its middle twice or not at all.
        cuts[key] = node().mode() == Mode::compat ? own : begin + own;
      }
    }
    for (const auto& [key, n] : added) tokens[key] += n;
    if (!split) {
      row.push_back(std::move(piece));
      return {};
    }
    if (std::all_of(cuts.begin(), cuts.end(), [](const auto& c) { return c.second == 0; }))
      return piece;
    Piece right = piece;
    right.slices.clear();
    Slices left;
    for (const auto& [key, cut] : cuts) {
      const auto slice = piece.slices.at(key);
      const std::int64_t end =
          slice == kWhole ? sequence_length(piece.element.at(key)) : slice.second;
      left[key] = {slice == kWhole ? 0 : slice.first, cut};
      right.slices[key] = {cut, end};
    }
    piece.slices = std::move(left);
    row.push_back(std::move(piece));
    return right;
  }

  Element pack(const std::vector<Piece>& pieces) const {
    Element::Fields out;
    for (const auto& [key, length] : o_.length_struct) {
      const bool meta = is_meta(key);
      Literal values = sequence_buffer(pieces[0].element.at(key), {}, length, 0);
      Literal ids(Type(DType::i32, Shape{length})), positions(Type(DType::i32, Shape{length}));
      std::int64_t at = 0;
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        const auto [begin, end] = pieces[p].range(key);
        const std::int64_t n = end - begin;
        put_sequence(values, 0, at, pieces[p].element.at(key), begin, end);
        if (o_.bos_token_id && contains(o_.bos_features, key) && at < length)
          values.set_integer(at, *o_.bos_token_id);
        for (std::int64_t i = 0; i < n; ++i) {
          ids.set_integer(at + i, static_cast<std::int64_t>(p) + 1);
          positions.set_integer(at + i, i);
        }
        at += n;
      }
      out.emplace_back(key, std::move(values));
      if (meta) continue;
      out.emplace_back(key + "_segment_ids", std::move(ids));
      out.emplace_back(key + "_positions", std::move(positions));
    }
    return Element::dict(std::move(out));
  }

  std::unique_ptr<Iterator> parent_;
  const ConcatThenSplitOptions& o_;
  std::deque<Element> ready_;
  std::optional<Piece> rest_;
  bool ended_ = false;
  Json before_;
  Slices slices_;
  std::int64_t given_ = 0;
};

class ConcatThenSplitNode : public IterOperation {
 public:
  ConcatThenSplitNode(std::shared_ptr<const IterNode> parent, ConcatThenSplitOptions options)
      : IterOperation(std::move(parent)), options_(std::move(options)) {
    check_lengths("concat_then_split", options_.length_struct);
    const bool has_bos = options_.bos_token_id || !options_.bos_features.empty();
    if (options_.bos_handling == BOSHandling::do_nothing && has_bos)
      throw Error("concat_then_split",
                  "bos_handling is do_nothing, and there are a bos_token_id or {} bos_features",
                  options_.bos_features.size());
    if (options_.bos_handling == BOSHandling::replace_first_token_with_bos &&
        !options_.bos_token_id)
      throw Error("concat_then_split",
                  "bos_handling is replace_first_token_with_bos, without a bos_token_id");
    if (!options_.bos_token_id && !options_.bos_features.empty())
      throw Error("concat_then_split", "{} bos_features without bos_token_id",
                  options_.bos_features.size());
    for (const std::string& name : options_.bos_features)
      if (contains(options_.meta_features, name))
        throw Error("concat_then_split", "{} is a meta feature and has a BOS", name);
  }
  std::string name() const override { return "ConcatThenSplitIterDataset"; }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<ConcatThenSplitIterator>(*this, parent_->iterate(context), options_);
  }

 private:
  ConcatThenSplitOptions options_;
};

}  // namespace

IterDataset IterDataset::concat_then_split(ConcatThenSplitOptions options) const {
  return IterDataset(std::make_shared<ConcatThenSplitNode>(node_, std::move(options)));
}

}  // namespace strata::data
