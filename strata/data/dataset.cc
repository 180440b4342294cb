#include "strata/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/data/element_order.h"
#include "strata/data/mix.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/data/shuffle.h"
#include "strata/data/windows.h"

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

struct Dataset::Parts {
  DatasetOptions options;
  std::vector<std::shared_ptr<const Windows>> windows;  // one a source
  std::vector<SourceInfo> sources;
  std::optional<MixSchedule> schedule;
  std::shared_ptr<const ElementOrder> order;
  bool of_examples = false;
  std::optional<MapDataset> graph;

  /// Adds the next source; it may be too short.
  Status add(const Source& source, Row row);
  Status add(const Source& source, Examples examples);
  Status add(const Source& source, const std::string& file, std::int64_t samples);
  void add(std::shared_ptr<const Windows> next) {
    sources.push_back(next->info());
    windows.push_back(std::move(next));
  }
  std::int64_t windows_of(std::int64_t tokens) const {
    return std::max<std::int64_t>(0, options.window_mode == WindowMode::disjoint
                                         ? tokens / options.length
                                         : (tokens - 1) / options.length);
  }
  std::int64_t eval_batch() const {
    return options.eval_batch > 0 ? options.eval_batch : options.batch;
  }
  /// The same, once the graph joins the sources that were added.
  static std::shared_ptr<const Parts> finished(std::shared_ptr<Parts> parts);
};

namespace {

/// A batch's arrays, shared with the element.
Batch batch_of(const Element& e) {
  Batch out{e.at("tokens").array(), e.at("targets").array()};
  out.total_weights = out.tokens.count();
  const auto optional = [&](const char* key) {
    return e.contains(key) ? std::optional(e.at(key).array()) : std::nullopt;
  };
  out.weights = optional("weights");
  out.segments = optional("segments");
  out.positions = optional("positions");
  if (!out.weights) return out;
  out.total_weights = 0;
  for (float w : out.weights->span<float>()) out.total_weights += w != 0;
  return out;
}

}  // namespace

std::shared_ptr<const Dataset::Parts> Dataset::Parts::finished(std::shared_ptr<Parts> parts) {
  Parts& p = *parts;
  if (!p.order) p.order = std::make_shared<MixedOrder>(*p.schedule);
  const bool megatron = p.options.order == DataOrder::megatron;
  std::vector<MapDataset> all;
  for (std::size_t i = 0; i < p.windows.size(); ++i) {
    const MapDataset source = MapDataset::source(p.windows[i]);
    if (megatron || p.windows[i]->size() == 0)
      all.push_back(source);
    else if (p.options.shuffle)
      all.push_back(source.shuffle(seed_of(p.options.seed, i)).repeat());
    else
      all.push_back(source.repeat());
  }
  const auto pick = [order = p.order](std::int64_t k) {
    const Mix::Pick at = order->at(k);
    return std::pair(static_cast<std::int64_t>(at.source), at.index);
  };
  p.graph = MapDataset::select_from_datasets(all, {.size = p.order->size(), .at = pick})
                .batch(p.options.batch, {.drop_remainder = true});
  return parts;
}

Result<std::shared_ptr<Dataset::Parts>> Dataset::begin(const DatasetOptions& o,
                                                       const std::vector<double>& weights) {
  STRATA_CHECK(o.batch > 0 && o.length > 0 && o.tokenizer, "batch {}, length {}", o.batch,
               o.length);
  STRATA_CHECK(o.eval_fraction >= 0 && o.eval_fraction <= 1, "eval_fraction is {}",
               o.eval_fraction);
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
  std::optional<MixSchedule> schedule;
  if (o.weight_stages.empty() || o.weight_stages[0].step > 0) schedule.emplace(*mix);
  for (const WeightStage& stage : o.weight_stages) {
    if (stage.weights.size() != weights.size())
      return Status(Code::invalid,
                    "train_files_weights: step {} has {} weights; train_files has {} sources",
                    stage.step, stage.weights.size(), weights.size());
    auto next = Mix::make(stage.weights);
    if (!next)
      return Status(next.status().code(), "train_files_weights: step {}: {}", stage.step,
                    next.status().message());
    if (schedule)
      schedule->add(stage.step * o.batch, std::move(*next));
    else
      schedule.emplace(std::move(*next));
  }
  auto out = std::make_shared<Parts>();
  out->options = o;
  out->options.progress = nullptr;
  out->schedule = std::move(schedule);
  return out;
}

Status Dataset::Parts::add(const Source& source, Row row) {
  const std::int64_t cut = cut_of(row, options.eval_fraction), windows = windows_of(cut);
  bool read = source.weight > 0 && options.eval_fraction < 1;
  for (const WeightStage& stage : options.weight_stages)
    read = read || stage.weights[sources.size()] > 0;
  if (windows == 0 && read) {
    return Status(Code::invalid,
                  "train_files: the text is too short: {} has {} tokens to train on, a window of "
                  "max_target_length={} needs {}",
                  source.name, cut, options.length,
                  options.length + (options.window_mode == WindowMode::overlapping ? 1 : 0));
  }
  SourceInfo info{.name = source.name,
                  .patterns = source.patterns,
                  .files = row.files(),
                  .weight = source.weight,
                  .share = schedule->share(sources.size(), 0),
                  .documents = row.documents(),
                  .tokens = row.size(),
                  .train_tokens = cut,
                  .eval_tokens = row.size() - cut,
                  .windows = windows,
                  .checksum = row.checksum()};
  add(text_windows(std::move(row), std::move(info), options));
  return {};
}

Status Dataset::Parts::add(const Source& source, Examples given) {
  if (given.rows(false) == 0 && source.weight > 0 && options.eval_fraction < 1)
    return Status(Code::invalid,
                  "eval_fraction={}: all {} conversations of {} are kept for evaluation",
                  options.eval_fraction, given.count(), source.name);
  SourceInfo info{.name = source.name,
                  .patterns = source.patterns,
                  .files = given.files(),
                  .weight = source.weight,
                  .share = schedule->share(sources.size(), 0),
                  .documents = given.count(),
                  .tokens = given.tokens(),
                  .train_tokens = given.train_tokens(),
                  .eval_tokens = given.tokens() - given.train_tokens(),
                  .windows = given.rows(false),
                  .checksum = given.checksum()};
  of_examples = true;
  add(example_windows(std::move(given), std::move(info), options));
  return {};
}

Status Dataset::Parts::add(const Source& source, const std::string& path, std::int64_t samples) {
  auto file = MegatronFile::open(path);
  if (!file) return file.status();
  const double all = static_cast<double>(file->size());
  // Megatron's split, which rounds as Python does.
  const auto kept = static_cast<std::int64_t>(std::nearbyint((1 - options.eval_fraction) * all));
  auto made = MegatronSamples::open(path, {.length = options.length,
                                           .samples = samples,
                                           .seed = options.seed,
                                           .first_sequence = 0,
                                           .sequences = kept});
  if (!made) return made.status();
  SourceInfo info{.name = source.name,
                  .patterns = source.patterns,
                  .files = {path},
                  .weight = source.weight,
                  .documents = file->size(),
                  .checksum = file->checksum()};
  for (std::int64_t i = 0; i < file->size(); ++i) {
    info.tokens += file->length(i);
    if (i < kept) info.train_tokens += file->length(i);
  }
  info.eval_tokens = info.tokens - info.train_tokens;
  info.windows = std::max<std::int64_t>(1, (info.train_tokens - 1) / options.length);
  info.share = schedule->share(sources.size(), 0);
  add(megatron_windows(std::move(*made), std::move(info), options));
  return {};
}

Result<Dataset> Dataset::open_megatron(std::shared_ptr<Parts> parts,
                                       const std::vector<Source>& all) {
  const DatasetOptions& o = parts->options;
  const auto wrong = [](const std::string& what) {
    return Status(Code::invalid, "data_order=megatron: {}", what);
  };
  if (o.window_mode != WindowMode::overlapping)
    return wrong("its windows overlap by a token; window_mode=disjoint needs data_order=native");
  if (!o.shuffle) return wrong("it is one; enable_data_shuffling=false needs data_order=native");
  if (!o.weight_stages.empty())
    return wrong(
        "its blend has the same weights at all steps; train_files_weights needs "
        "data_order=native");
  if (constexpr std::int64_t kMost = std::int64_t{1} << 30; o.samples > kMost)
    return wrong(fmt::format("a run of {} sequences; its table holds at most {}: fewer steps",
                             o.samples, kMost));
  if (all.size() > 1 && o.samples < 1) return wrong("a blend needs to know the run's sequences");
  std::vector<double> weights;
  double sum = 0;
  for (const Source& s : all) sum += s.weight;
  for (const Source& s : all) weights.push_back(s.weight / sum);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> files;
    for (const std::string& pattern : all[i].patterns) {
      auto found = expand_pattern(pattern);
      if (!found) return found.status();
      files.insert(files.end(), found->begin(), found->end());
    }
    if (files.size() == 2 && files[0].ends_with(".bin") &&
        files[1] == files[0].substr(0, files[0].size() - 4) + ".idx")
      files.pop_back();
    if (files.size() != 1)
      return wrong(fmt::format("{} has {} files; needed is one .bin/.idx for each source",
                               all[i].name, files.size()));
    if (!files[0].ends_with(".bin") && !files[0].ends_with(".idx"))
      return wrong(
          fmt::format("{} is no .bin/.idx; `strata data tokenize --output x.tokens` and "
                      "`strata data convert x.tokens x.bin` make one of texts",
                      files[0]));
    // Megatron builds each dataset of a blend with 0.5 % more samples than its share, a single
    // dataset with exactly the run's.
    const std::int64_t samples =
        all.size() == 1 ? o.samples : megatron_blend_samples(o.samples, weights[i]);
    if (Status s = parts->add(all[i], files[0], samples); !s.ok()) return s;
  }
  const std::int64_t size = all.size() == 1 ? parts->windows[0]->size() : o.samples;
  parts->order = std::make_shared<MegatronOrder>(weights, size);
  return Dataset(Parts::finished(std::move(parts)));
}

Result<Dataset> Dataset::open(const DatasetOptions& o) {
  auto sources = parse_sources(o.train_files);
  if (!sources) return sources.status();
  std::vector<double> weights;
  for (const Source& s : *sources) weights.push_back(s.weight);
  auto parts = begin(o, weights);
  if (!parts) return parts.status();
  if (o.order == DataOrder::megatron) return open_megatron(std::move(*parts), *sources);
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
    return Dataset(Parts::finished(std::move(*parts)));
  }
  for (const Source& s : *sources) {
    auto row = Row::read(s, *o.tokenizer, row_options);
    if (!row) return row.status();
    if (Status added = (*parts)->add(s, std::move(*row)); !added.ok()) return added;
  }
  return Dataset(Parts::finished(std::move(*parts)));
}

Result<Dataset> Dataset::of_documents(const std::vector<std::string>& documents,
                                      const DatasetOptions& o) {
  auto parts = begin(o, {1});
  if (!parts) return parts.status();
  if (Status added = (*parts)->add({.name = "text"}, Row::of(documents, *o.tokenizer)); !added.ok())
    return added;
  return Dataset(Parts::finished(std::move(*parts)));
}

ElementPlace Dataset::element(std::int64_t k) const {
  const Parts& p = *parts_;
  const Mix::Pick pick = p.order->at(k);
  const std::int64_t windows = p.sources[pick.source].windows, epoch = pick.index / windows;
  std::int64_t window = pick.index;
  if (p.options.order == DataOrder::native && !p.options.shuffle)
    window = pick.index % windows;
  else if (p.options.order == DataOrder::native)
    window = static_cast<std::int64_t>(permute(
        static_cast<std::uint64_t>(pick.index % windows), static_cast<std::uint64_t>(windows),
        seed_of(p.options.seed, pick.source) + static_cast<std::uint32_t>(epoch)));
  ElementPlace out = p.windows[pick.source]->place(window);
  out.source = pick.source;
  out.epoch = epoch;
  return out;
}

std::vector<TokenPlace> Dataset::where(std::int64_t k) const {
  const Parts& p = *parts_;
  // In Megatron's order a sample is found by its number in the run.
  if (p.options.order == DataOrder::megatron) {
    const Mix::Pick pick = p.order->at(k);
    return p.windows[pick.source]->where(pick.index);
  }
  const ElementPlace e = element(k);
  return p.windows[e.source]->where(e.window);
}

MapDataset Dataset::graph() const { return *parts_->graph; }

Batch Dataset::batch(std::int64_t step) const {
  return batch_of((*parts_->graph)[parts_->options.reuse_batch ? 0 : step]);
}

std::int64_t Dataset::eval_batches(std::size_t source) const {
  const std::int64_t batch = parts_->eval_batch();
  return (parts_->windows[source]->eval_windows() + batch - 1) / batch;
}

Batch Dataset::eval_batch(std::size_t source, std::int64_t i) const {
  const Parts& p = *parts_;
  STRATA_CHECK(i >= 0 && i < eval_batches(source), "evaluation batch {} of {}", i,
               eval_batches(source));
  const Windows& windows = *p.windows[source];
  std::vector<Element> rows;
  for (std::int64_t b = 0; b < p.eval_batch(); ++b) {
    const std::int64_t window = i * p.eval_batch() + b;
    rows.push_back(window < windows.eval_windows()
                       ? windows.eval_window(window)
                       : empty_window(p.options, p.of_examples && p.options.packing));
  }
  return batch_of(make_batch(rows));
}

void Dataset::copy(std::size_t source, std::int64_t from, std::span<std::int32_t> out) const {
  parts_->windows[source]->copy(from, out);
}

std::span<const SourceInfo> Dataset::sources() const { return parts_->sources; }
const tokenizer::Tokenizer& Dataset::tokenizer() const { return *parts_->options.tokenizer; }
const DatasetOptions& Dataset::options() const { return parts_->options; }

SourcePosition Dataset::position(std::size_t source, std::int64_t step) const {
  SourcePosition out{.elements = parts_->order->count(source, step * parts_->options.batch)};
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
  if (parts_->of_examples) out["packing"] = o.packing;
  if (!o.shuffle) out["shuffle"] = false;
  if (o.reuse_batch) out["reuse_batch"] = true;
  if (o.order == DataOrder::megatron) out["order"] = "megatron", out["samples"] = o.samples;
  for (const WeightStage& stage : o.weight_stages)
    out["stages"].push_back({{"step", stage.step}, {"weights", stage.weights}});
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
  if (parts_->of_examples) compare(then, now, "", {"packing"});
  for (const char* key : {"order", "samples", "shuffle", "reuse_batch"}) {
    const json was = then.contains(key) ? then[key] : json(),
               is = now.contains(key) ? now[key] : json();
    if (was != is) differs(key, was, is);
  }
  // Pieces that begin at the checkpoint's step or later changed nothing before it.
  const auto begun = [&](const json& of) {
    json stages = json::array();
    if (!of.contains("stages") || !of["stages"].is_array()) return stages;
    for (const json& stage : of["stages"])
      if (!stage.is_object() || !stage.contains("step") || !stage["step"].is_number() ||
          !then.contains("step") || !then["step"].is_number() || stage["step"] < then["step"])
        stages.push_back(stage);
    return stages;
  };
  if (begun(then) != begun(now)) differs("train_files_weights", begun(then), begun(now));
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
