#include "strata/data/windows.h"

#include <algorithm>

#include "strata/base/error.h"

namespace strata::data {
namespace {

/// A window whose tokens `seen` are: its inputs and, one later, its targets.
Element window_of(std::span<const std::int32_t> seen, std::int64_t length, bool weights) {
  const Type type(DType::i32, {length});
  Literal tokens(type), targets(type);
  const auto n = std::ssize(seen);
  std::copy_n(seen.begin(), std::min(n, length), tokens.mutable_span<std::int32_t>().begin());
  std::copy_n(seen.begin() + 1, n - 1, targets.mutable_span<std::int32_t>().begin());
  Element out = Element::dict({{"tokens", std::move(tokens)}, {"targets", std::move(targets)}});
  if (!weights) return out;
  Literal counts(Type(DType::f32, {length}));
  std::fill_n(counts.mutable_span<float>().begin(), n - 1, 1.0f);
  out.set("weights", std::move(counts));
  return out;
}

/// Bytes of the tokens from `skip` on of a document that begins with `tokens`, as TokenPlace says.
std::vector<std::int64_t> bytes_of(std::span<const std::int32_t> tokens, std::int64_t skip,
                                   bool ends_in_separator, const tokenizer::Tokenizer& tokenizer) {
  std::vector<std::int64_t> out;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
    if (i >= skip) out.push_back(at);
    if (!ends_in_separator || i + 1 < std::ssize(tokens))
      at += std::ssize(tokenizer.bytes(tokens[static_cast<std::size_t>(i)]));
  }
  out.push_back(at);
  return out;
}

/// Windows of a row of tokens, whose part for evaluation stands behind that for training.
class TokenWindows : public Windows {
 public:
  TokenWindows(SourceInfo info, const DatasetOptions& o) : Windows(std::move(info)), options_(o) {}
  /// The last window need not be full.
  std::int64_t eval_windows() const override {
    return info_.eval_tokens < 2 ? 0 : (info_.eval_tokens - 2) / options_.length + 1;
  }
  Element eval_window(std::int64_t i) const override {
    const std::int64_t from = info_.train_tokens + i * options_.length;
    std::vector<std::int32_t> seen(
        static_cast<std::size_t>(std::min(info_.tokens - from, options_.length + more())));
    copy(from, seen);
    return window_of(seen, options_.length, true);
  }

 protected:
  bool disjoint() const { return options_.window_mode == WindowMode::disjoint; }
  /// Tokens that a window has beyond its length: overlapping ones share one with the next.
  std::int64_t more() const { return disjoint() ? 0 : 1; }
  DatasetOptions options_;
};

class TextWindows : public TokenWindows {
 public:
  TextWindows(Row row, SourceInfo info, const DatasetOptions& o)
      : TokenWindows(std::move(info), o), row_(std::move(row)) {}
  std::string name() const override {
    return fmt::format("TextWindows({}, length={}, {})", info_.name, options_.length,
                       disjoint() ? "disjoint" : "overlapping");
  }
  Result<Element> read(std::int64_t window) const override {
    std::vector<std::int32_t> seen(static_cast<std::size_t>(options_.length + more()));
    row_.copy(window * options_.length, seen);
    return window_of(seen, options_.length, disjoint());
  }
  RecordOrigin origin(std::int64_t window) const override {
    const ElementPlace p = place(window);
    return {.file = p.file, .record = row_.record_of(p.document)};
  }
  ElementPlace place(std::int64_t window) const override {
    ElementPlace out{.window = window, .token = window * options_.length};
    out.document = row_.document_of(out.token);
    out.file = row_.file_of(out.document);
    return out;
  }
  std::vector<TokenPlace> where(std::int64_t window) const override {
    const ElementPlace e = place(window);
    const std::int64_t end = e.token + options_.length + more();
    std::vector<TokenPlace> out;
    for (std::int64_t d = e.document, from = e.token; from < end; ++d) {
      const std::int64_t begin = row_.document(d), next = row_.document(d + 1),
                         to = std::min(next, end);
      std::vector<std::int32_t> tokens(static_cast<std::size_t>(to - begin));
      row_.copy(begin, tokens);
      out.push_back({.first = from - e.token,
                     .count = to - from,
                     .file = row_.file_of(d),
                     .record = row_.record_of(d),
                     .token = from - begin,
                     .bytes = bytes_of(tokens, from - begin, to == next, *options_.tokenizer)});
      from = to;
    }
    return out;
  }
  void copy(std::int64_t from, std::span<std::int32_t> out) const override { row_.copy(from, out); }

 private:
  Row row_;
};

class ExampleWindows : public Windows {
 public:
  ExampleWindows(Examples examples, SourceInfo info, const DatasetOptions& o)
      : Windows(std::move(info)), examples_(std::move(examples)), options_(o) {}
  std::string name() const override {
    return fmt::format("Conversations({}, length={}, packing={})", info_.name, options_.length,
                       options_.packing);
  }
  Result<Element> read(std::int64_t row) const override { return row_of(false, row); }
  ElementPlace place(std::int64_t row) const override {
    ElementPlace out{.window = row, .token = examples_.first_token(row)};
    out.document = examples_.first_example(row);
    out.file = examples_.file_of(out.document);
    return out;
  }
  std::vector<TokenPlace> where(std::int64_t row) const override {
    return examples_.where(row, *options_.tokenizer);
  }
  std::int64_t eval_windows() const override { return examples_.rows(true); }
  Element eval_window(std::int64_t i) const override { return row_of(true, i); }
  void copy(std::int64_t from, std::span<std::int32_t> out) const override {
    examples_.copy(from, out);
  }

 private:
  Element row_of(bool eval, std::int64_t row) const {
    const Type type(DType::i32, {1, options_.length});
    Batch one{Literal(type), Literal(type)};
    one.weights = Literal(Type(DType::f32, {1, options_.length}));
    if (options_.packing) one.segments = Literal(type), one.positions = Literal(type);
    examples_.fill(eval, row, 0, one);
    const auto flat = [&](const Literal& x) {
      return Literal(Type(x.dtype(), {options_.length}), x.storage());
    };
    Element out = Element::dict({{"tokens", flat(one.tokens)},
                                 {"targets", flat(one.targets)},
                                 {"weights", flat(*one.weights)}});
    if (one.segments) out.set("segments", flat(*one.segments));
    if (one.positions) out.set("positions", flat(*one.positions));
    return out;
  }
  Examples examples_;
  DatasetOptions options_;
};

class MegatronWindows : public TokenWindows {
 public:
  MegatronWindows(MegatronSamples samples, SourceInfo info, const DatasetOptions& o)
      : TokenWindows(std::move(info), o), samples_(std::move(samples)) {
    for (std::int32_t n : samples_.file().lengths()) begins_.push_back(begins_.back() + n);
  }
  std::int64_t size() const override { return samples_.size(); }
  std::string name() const override {
    return fmt::format("MegatronSamples({}, length={}, seed={})", info_.name, options_.length,
                       options_.seed);
  }
  Result<Element> read(std::int64_t j) const override {
    std::vector<std::int64_t> wide(static_cast<std::size_t>(options_.length + 1));
    samples_.window(j, wide);
    for (std::int64_t token : wide)
      if (token < 0 || token >= options_.tokenizer->vocab_size())
        return Status(Code::invalid, "{}: sample {} holds token {}; the tokenizer ({}) has {}",
                      info_.files.front(), j, token, options_.tokenizer->type(),
                      options_.tokenizer->vocab_size());
    const std::vector<std::int32_t> seen(wide.begin(), wide.end());
    return window_of(seen, options_.length, false);
  }
  ElementPlace place(std::int64_t j) const override {
    const auto piece = samples_.pieces(j).front();
    return {.window = samples_.indices().shuffle[static_cast<std::size_t>(j)],
            .token = begins_[static_cast<std::size_t>(piece.document)] + piece.begin,
            .document = piece.document,
            .file = info_.files.front()};
  }
  std::vector<TokenPlace> where(std::int64_t j) const override {
    std::vector<TokenPlace> out;
    std::int64_t first = 0;
    for (const auto& piece : samples_.pieces(j)) {
      const std::int64_t end = piece.begin + piece.count;
      std::vector<std::int32_t> tokens(static_cast<std::size_t>(end));
      copy(begins_[static_cast<std::size_t>(piece.document)], tokens);
      const bool separator = end == samples_.file().length(piece.document) &&
                             tokens.back() == options_.tokenizer->separator();
      out.push_back({.first = first,
                     .count = piece.count,
                     .file = info_.files.front(),
                     .record = piece.document,
                     .token = piece.begin,
                     .bytes = bytes_of(tokens, piece.begin, separator, *options_.tokenizer)});
      first += piece.count;
    }
    return out;
  }
  void copy(std::int64_t from, std::span<std::int32_t> out) const override {
    auto s = std::upper_bound(begins_.begin(), begins_.end(), from) - begins_.begin() - 1;
    std::vector<std::int64_t> wide;
    while (!out.empty()) {
      const std::int64_t skip = from - begins_[static_cast<std::size_t>(s)];
      const auto n = static_cast<std::size_t>(
          std::min(samples_.file().length(s) - skip, static_cast<std::int64_t>(out.size())));
      wide.resize(n);
      samples_.file().copy(s, skip, wide);
      for (std::size_t i = 0; i < n; ++i) {
        if (wide[i] < 0 || wide[i] >= options_.tokenizer->vocab_size())
          throw Error("data", "{}: sequence {} holds token {}; the tokenizer ({}) has {}",
                      info_.files.front(), s, wide[i], options_.tokenizer->type(),
                      options_.tokenizer->vocab_size());
        out[i] = static_cast<std::int32_t>(wide[i]);
      }
      out = out.subspan(n);
      from += static_cast<std::int64_t>(n);
      ++s;
    }
  }

 private:
  MegatronSamples samples_;
  std::vector<std::int64_t> begins_ = {0};  // the first token of each sequence, and the end
};

}  // namespace

std::shared_ptr<const Windows> text_windows(Row row, SourceInfo info, const DatasetOptions& o) {
  return std::make_shared<TextWindows>(std::move(row), std::move(info), o);
}
std::shared_ptr<const Windows> example_windows(Examples examples, SourceInfo info,
                                               const DatasetOptions& o) {
  return std::make_shared<ExampleWindows>(std::move(examples), std::move(info), o);
}
std::shared_ptr<const Windows> megatron_windows(MegatronSamples samples, SourceInfo info,
                                                const DatasetOptions& o) {
  return std::make_shared<MegatronWindows>(std::move(samples), std::move(info), o);
}

Element empty_window(const DatasetOptions& o, bool segments) {
  const Type type(DType::i32, {o.length});
  Element out = Element::dict({{"tokens", Literal(type)},
                               {"targets", Literal(type)},
                               {"weights", Literal(Type(DType::f32, {o.length}))}});
  if (segments) out.set("segments", Literal(type)), out.set("positions", Literal(type));
  return out;
}

}  // namespace strata::data
