#include "strata/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/data/examples.h"
#include "strata/data/mix.h"
#include "strata/data/row.h"
#include "strata/data/shuffle.h"

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr double kMostMoved = 0.25;

/// Seeds of sources, apart from each other: 2^32 / golden ratio times the source's number.
std::uint32_t seed_of(std::uint32_t seed, std::size_t source) {
  return seed + 0x9e3779b9u * static_cast<std::uint32_t>(source);
}

/// Where the evaluation part begins.
std::int64_t cut_of(const Row& row, double eval_fraction) {
  const auto eval =
      static_cast<std::int64_t>(std::floor(static_cast<double>(row.size()) * eval_fraction));
  const std::int64_t cut = row.size() - eval;
  if (eval == 0) return cut;
  const std::int64_t d = row.document_of(std::min(cut, row.size() - 1));
  for (std::int64_t near : {row.document(d), row.document(d + 1)}) {
    const bool nearest = std::abs(near - cut) <= std::abs(row.document(d) - cut) &&
                         std::abs(near - cut) <= std::abs(row.document(d + 1) - cut);
    if (nearest && near > 0 && near < row.size() &&
        static_cast<double>(std::abs(near - cut)) <= kMostMoved * static_cast<double>(eval))
      return near;
  }
  return cut;
}

const char* word(WindowMode mode) {
  return mode == WindowMode::disjoint ? "disjoint" : "overlapping";
}

}  // namespace

std::string DatasetOptions::standard_cache_folder() {
  if (const char* folder = std::getenv("STRATA_CACHE_DIR"))
    return *folder ? std::string(folder) + "/tokens" : "";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/strata/tokens";
  return "";
}

struct Dataset::Parts {
  DatasetOptions options;
  /// One a source: of text, or of conversations.
  std::vector<Row> rows;
  std::vector<Examples> examples;
  std::vector<SourceInfo> sources;
  std::optional<Mix> mix;

  /// Adds the next source; it may be too short.
  Status add(const Source& source, Row row);
  Status add(const Source& source, Examples examples);
  bool of_examples() const { return !examples.empty(); }
  std::int64_t windows_of(std::int64_t tokens) const {
    return std::max<std::int64_t>(0, options.window_mode == WindowMode::disjoint
                                         ? tokens / options.length
                                         : (tokens - 1) / options.length);
  }
  /// Windows of a part of `tokens` tokens of which the last one need not be full.
  std::int64_t windows_with_last(std::int64_t tokens) const {
    return tokens < 2 ? 0 : (tokens - 2) / options.length + 1;
  }
  void fill(std::size_t source, std::int64_t from, std::int64_t end, std::int64_t b,
            Batch& out) const;
  Batch empty_batch(bool weights) const;
};

Batch Dataset::Parts::empty_batch(bool weights) const {
  const Shape shape{options.batch, options.length};
  const Type type(DType::i32, shape);
  Batch out{Literal(type), Literal(type)};
  if (weights) out.weights = Literal(Type(DType::f32, shape));
  if (of_examples() && options.packing) out.segments = Literal(type), out.positions = Literal(type);
  return out;
}

/// Puts the window that begins with token `from` into place b of the batch; tokens from `end` on
/// are none.
void Dataset::Parts::fill(std::size_t source, std::int64_t from, std::int64_t end, std::int64_t b,
                          Batch& out) const {
  const bool disjoint = options.window_mode == WindowMode::disjoint;
  const std::int64_t seen = std::min(end - from, options.length + (disjoint ? 0 : 1));
  std::vector<std::int32_t> window(static_cast<std::size_t>(seen));
  rows[source].copy(from, window);
  const auto at = static_cast<std::ptrdiff_t>(b * options.length);
  const auto inputs = static_cast<std::ptrdiff_t>(std::min(seen, options.length));
  std::copy_n(window.begin(), inputs, out.tokens.mutable_span<std::int32_t>().begin() + at);
  std::copy_n(window.begin() + 1, seen - 1, out.targets.mutable_span<std::int32_t>().begin() + at);
  if (out.weights) std::fill_n(out.weights->mutable_span<float>().begin() + at, seen - 1, 1.0f);
  out.total_weights += seen - 1;
}

Result<std::shared_ptr<Dataset::Parts>> Dataset::begin(const DatasetOptions& o,
                                                       const std::vector<double>& weights) {
  STRATA_CHECK(o.batch > 0 && o.length > 0 && o.tokenizer, "batch {}, length {}", o.batch,
               o.length);
  STRATA_CHECK(o.eval_fraction >= 0 && o.eval_fraction < 1, "eval_fraction is {}", o.eval_fraction);
  if (o.window_mode == WindowMode::disjoint && o.length < 2)
    return Status(Code::invalid,
                  "max_target_length={}: allowed is 2 or more while window_mode is disjoint",
                  o.length);
  if (o.vocab_size > 0 && o.tokenizer->vocab_size() > o.vocab_size) {
    return Status(
        Code::invalid,
        "vocab_size={}: the tokenizer ({}) has {} tokens; the model needs at least as many",
        o.vocab_size, o.tokenizer->type(), o.tokenizer->vocab_size());
  }
  auto mix = Mix::make(weights);
  if (!mix) return Status(mix.status().code(), "train_files: {}", mix.status().message());
  auto out = std::make_shared<Parts>();
  out->options = o;
  out->options.progress = nullptr;
  out->mix = std::move(*mix);
  return out;
}

Status Dataset::Parts::add(const Source& source, Row row) {
  const std::int64_t cut = cut_of(row, options.eval_fraction), windows = windows_of(cut);
  if (windows == 0 && source.weight > 0) {
    return Status(Code::invalid,
                  "train_files: the text is too short: {} has {} tokens to train on, a window of "
                  "max_target_length={} needs {}",
                  source.name, cut, options.length,
                  options.length + (options.window_mode == WindowMode::overlapping ? 1 : 0));
  }
  sources.push_back({.name = source.name,
                     .patterns = source.patterns,
                     .files = row.files(),
                     .weight = source.weight,
                     .share = mix->share(sources.size()),
                     .documents = row.documents(),
                     .tokens = row.size(),
                     .train_tokens = cut,
                     .eval_tokens = row.size() - cut,
                     .windows = windows,
                     .checksum = row.checksum()});
  rows.push_back(std::move(row));
  return {};
}

Status Dataset::Parts::add(const Source& source, Examples given) {
  if (given.rows(false) == 0 && source.weight > 0)
    return Status(Code::invalid,
                  "eval_fraction={}: all {} conversations of {} are kept for evaluation",
                  options.eval_fraction, given.count(), source.name);
  sources.push_back({.name = source.name,
                     .patterns = source.patterns,
                     .files = given.files(),
                     .weight = source.weight,
                     .share = mix->share(sources.size()),
                     .documents = given.count(),
                     .tokens = given.tokens(),
                     .train_tokens = given.train_tokens(),
                     .eval_tokens = given.tokens() - given.train_tokens(),
                     .windows = given.rows(false),
                     .checksum = given.checksum()});
  examples.push_back(std::move(given));
  return {};
}

Result<Dataset> Dataset::open(const DatasetOptions& o) {
  auto sources = parse_sources(o.train_files);
  if (!sources) return sources.status();
  std::vector<double> weights;
  for (const Source& s : *sources) weights.push_back(s.weight);
  auto parts = begin(o, weights);
  if (!parts) return parts.status();
  RowOptions row_options{.column = o.column, .cache_folder = o.cache_folder};
  if (o.progress) {
    row_options.progress = [&](const std::string& text) { o.progress->show(text); };
    row_options.note = [&](const std::string& text) { o.progress->line(text); };
  }
  if (names_conversations(o.column)) {
    for (const Source& s : *sources) {
      auto examples = Examples::read(s, o, row_options.note);
      if (!examples) return examples.status();
      if (Status added = (*parts)->add(s, std::move(*examples)); !added.ok()) return added;
    }
    return Dataset(std::move(*parts));
  }
  for (const Source& s : *sources) {
    auto row = Row::read(s, *o.tokenizer, row_options);
    if (!row) return row.status();
    if (Status added = (*parts)->add(s, std::move(*row)); !added.ok()) return added;
  }
  return Dataset(std::move(*parts));
}

Result<Dataset> Dataset::of_documents(const std::vector<std::string>& documents,
                                      const DatasetOptions& o) {
  auto parts = begin(o, {1});
  if (!parts) return parts.status();
  if (Status added = (*parts)->add({.name = "text"}, Row::of(documents, *o.tokenizer)); !added.ok())
    return added;
  return Dataset(std::move(*parts));
}

ElementPlace Dataset::element(std::int64_t k) const {
  const Parts& p = *parts_;
  const Mix::Pick pick = p.mix->at(k);
  const std::int64_t windows = p.sources[pick.source].windows;
  ElementPlace out{.source = pick.source, .epoch = pick.index / windows};
  const std::uint32_t seed =
      seed_of(p.options.seed, pick.source) + static_cast<std::uint32_t>(out.epoch);
  out.window = static_cast<std::int64_t>(permute(static_cast<std::uint64_t>(pick.index % windows),
                                                 static_cast<std::uint64_t>(windows), seed));
  if (p.of_examples()) {
    const Examples& all = p.examples[out.source];
    out.token = all.first_token(out.window);
    out.document = all.first_example(out.window);
    out.file = all.file_of(out.document);
    return out;
  }
  out.token = out.window * p.options.length;
  out.document = p.rows[out.source].document_of(out.token);
  out.file = p.rows[out.source].file_of(out.document);
  return out;
}

std::vector<TokenPlace> Dataset::where(std::int64_t k) const {
  const Parts& p = *parts_;
  if (p.of_examples())
    throw Error("data",
                "the tokens of conversations are written by a template: no bytes of a file");
  const ElementPlace e = element(k);
  const Row& row = p.rows[e.source];
  const bool disjoint = p.options.window_mode == WindowMode::disjoint;
  const std::int64_t end = e.token + p.options.length + (disjoint ? 0 : 1);
  std::vector<TokenPlace> out;
  for (std::int64_t d = e.document, from = e.token; from < end; ++d) {
    const std::int64_t begin = row.document(d), to = std::min(row.document(d + 1), end);
    TokenPlace place{.first = from - e.token,
                     .count = to - from,
                     .file = row.file_of(d),
                     .record = row.record_of(d),
                     .token = from - begin};
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(to - begin));
    row.copy(begin, tokens);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
      if (begin + i >= from) place.bytes.push_back(at);
      if (begin + i + 1 < row.document(d + 1))  // the last one is the separator
        at += std::ssize(p.options.tokenizer->bytes(tokens[static_cast<std::size_t>(i)]));
    }
    place.bytes.push_back(at);
    out.push_back(std::move(place));
    from = to;
  }
  return out;
}

Batch Dataset::batch(std::int64_t step) const {
  const Parts& p = *parts_;
  Batch out = p.empty_batch(p.of_examples() || p.options.window_mode == WindowMode::disjoint);
  for (std::int64_t b = 0; b < p.options.batch; ++b) {
    const ElementPlace e = element(step * p.options.batch + b);
    if (p.of_examples()) {
      p.examples[e.source].fill(false, e.window, b, out);
      continue;
    }
    p.fill(e.source, e.token, p.sources[e.source].train_tokens, b, out);
  }
  return out;
}

std::int64_t Dataset::eval_batches(std::size_t source) const {
  const std::int64_t windows = parts_->of_examples()
                                   ? parts_->examples[source].rows(true)
                                   : parts_->windows_with_last(parts_->sources[source].eval_tokens);
  return (windows + parts_->options.batch - 1) / parts_->options.batch;
}

Batch Dataset::eval_batch(std::size_t source, std::int64_t i) const {
  const Parts& p = *parts_;
  STRATA_CHECK(i >= 0 && i < eval_batches(source), "evaluation batch {} of {}", i,
               eval_batches(source));
  const SourceInfo& s = p.sources[source];
  Batch out = p.empty_batch(true);
  for (std::int64_t b = 0; b < p.options.batch; ++b) {
    const std::int64_t window = i * p.options.batch + b;
    if (p.of_examples()) {
      if (window < p.examples[source].rows(true)) p.examples[source].fill(true, window, b, out);
      continue;
    }
    if (window < p.windows_with_last(s.eval_tokens))
      p.fill(source, s.train_tokens + window * p.options.length, s.tokens, b, out);
  }
  return out;
}

void Dataset::copy(std::size_t source, std::int64_t from, std::span<std::int32_t> out) const {
  if (parts_->of_examples())
    parts_->examples[source].copy(from, out);
  else
    parts_->rows[source].copy(from, out);
}

std::span<const SourceInfo> Dataset::sources() const { return parts_->sources; }
const tokenizer::Tokenizer& Dataset::tokenizer() const { return *parts_->options.tokenizer; }
const DatasetOptions& Dataset::options() const { return parts_->options; }

SourcePosition Dataset::position(std::size_t source, std::int64_t step) const {
  SourcePosition out{.elements = parts_->mix->count(source, step * parts_->options.batch)};
  if (const std::int64_t windows = parts_->sources[source].windows; windows > 0) {
    out.epoch = out.elements / windows;
    out.index = out.elements % windows;
  }
  return out;
}

double Dataset::epochs(std::size_t source, std::int64_t steps) const {
  const std::int64_t windows = parts_->sources[source].windows;
  return windows == 0
             ? 0
             : static_cast<double>(position(source, steps).elements) / static_cast<double>(windows);
}

std::string Dataset::state(std::int64_t step) const {
  const DatasetOptions& o = parts_->options;
  json out = {{"format", kFormat},
              {"step", step},
              {"tokenizer", o.tokenizer->fingerprint()},
              {"window_mode", word(o.window_mode)},
              {"length", o.length},
              {"batch", o.batch},
              {"seed", o.seed},
              {"eval_fraction", o.eval_fraction},
              {"sources", json::array()}};
  if (parts_->of_examples()) out["packing"] = o.packing;
  for (std::size_t i = 0; i < parts_->sources.size(); ++i) {
    const SourceInfo& s = parts_->sources[i];
    const SourcePosition at = position(i, step);
    out["sources"].push_back({{"name", s.name},
                              {"weight", s.weight},
                              {"tokens", s.tokens},
                              {"crc32c", hex32(s.checksum)},
                              {"elements", at.elements},
                              {"epoch", at.epoch},
                              {"index", at.index}});
  }
  return out.dump();
}

std::string Dataset::check_state(const std::string& text) const {
  const json then = json::parse(text, nullptr, false), now = json::parse(state(0));
  if (!then.is_object() || !then.contains("sources") || !then["sources"].is_array())
    return "the checkpoint does not say what data it was trained on";
  std::string out;
  auto differs = [&](const std::string& what, const json& a, const json& b) {
    out += fmt::format("{}{} is {} (the checkpoint has {})", out.empty() ? "" : "; ", what,
                       b.dump(), a.dump());
  };
  auto compare = [&](const json& a, const json& b, const std::string& prefix,
                     std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      const json was = a.is_object() && a.contains(key) ? a[key] : json();
      if (was != b[key]) differs(prefix + key, was, b[key]);
    }
  };
  compare(then, now, "",
          {"format", "tokenizer", "window_mode", "length", "batch", "seed", "eval_fraction"});
  if (parts_->of_examples()) compare(then, now, "", {"packing"});
  if (then["sources"].size() != now["sources"].size()) {
    differs("the number of sources", then["sources"].size(), now["sources"].size());
    return out;
  }
  for (std::size_t i = 0; i < now["sources"].size(); ++i) {
    const json &a = then["sources"][i], &b = now["sources"][i];
    compare(a, b, fmt::format("{}: ", parts_->sources[i].name), {"weight", "tokens"});
    const bool same_size = a.is_object() && a.contains("tokens") && a["tokens"] == b["tokens"];
    if (same_size && (!a.contains("crc32c") || a["crc32c"] != b["crc32c"]))
      out += fmt::format("{}{}: the text is another one", out.empty() ? "" : "; ",
                         parts_->sources[i].name);
  }
  return out;
}

}  // namespace strata::data
