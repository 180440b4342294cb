#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/api/transform/jit.h"
#include "strata/base/progress.h"
#include "strata/cli/command.h"
#include "strata/data/dataset.h"
#include "strata/engine/language_model.h"
#include "strata/model/decoder/model.h"
#include "strata/model/pretrained.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, files, column = "text";
  std::int64_t rows = 16, length = 128;
  bool json = false;
};

/// Rows of tokens, spread evenly over a source.
Array rows_of(const data::Dataset& data, std::size_t source, const Options& o) {
  Literal out(Type(DType::i32, Shape({o.rows, o.length})));
  const std::int64_t last = data.sources()[source].tokens - o.length;
  for (std::int64_t r = 0; r < o.rows; ++r)
    data.copy(source, o.rows > 1 ? last * r / (o.rows - 1) : 0,
              out.mutable_span<std::int32_t>().subspan(static_cast<std::size_t>(r * o.length),
                                                       static_cast<std::size_t>(o.length)));
  return Array(std::move(out));
}

/// Of (L, E) shares: a list for each layer, null for one without experts, whose shares are all 0.
ordered_json by_layer(const std::vector<double>& shares, std::int64_t experts) {
  ordered_json out = ordered_json::array();
  for (auto row = shares.begin(); row != shares.end(); row += experts) {
    const std::vector<double> layer(row, row + experts);
    const bool routed = std::any_of(layer.begin(), layer.end(), [](double s) { return s > 0; });
    out.push_back(routed ? ordered_json(layer) : ordered_json());
  }
  return out;
}

int run(const Options& o) {
  auto tokenizer = engine::load_tokenizer(o.model);
  if (!tokenizer) return fail(tokenizer.status());
  auto loaded = model::load(o.model);
  if (!loaded) return fail(loaded.status());
  Progress progress(STDERR_FILENO);
  auto data = data::Dataset::open({.train_files = {o.files},
                                   .tokenizer = *tokenizer,
                                   .column = o.column,
                                   .eval_fraction = 0,
                                   .batch = o.rows,
                                   .length = o.length,
                                   .vocab_size = loaded->model->vocab_size(),
                                   .progress = &progress});
  progress.clear();
  if (!data) return fail(data.status());
  const auto routes = jit([m = loaded->model](const tree::Tree& w, const Array& t) {
    return model::decoder::routes(*m, w, t);
  });
  const std::int64_t experts = model::decoder::options_of(*loaded->model)->experts.count;
  ordered_json sources = ordered_json::array();
  for (std::size_t s = 0; s < data->sources().size(); ++s) {
    const std::vector<double> all =
        routes(loaded->params, rows_of(*data, s, o)).to_vector<double>();
    sources.push_back({{"name", data->sources()[s].name}, {"layers", by_layer(all, experts)}});
  }
  if (o.json) {
    std::cout << ordered_json{{"experts", experts}, {"sources", sources}}.dump() << "\n";
    return kDone;
  }
  std::cout << fmt::format("{:>6}{:>8}", "layer", "expert");
  for (const auto& s : sources) std::cout << fmt::format("{:>14}", s["name"].get<std::string>());
  std::cout << "\n";
  for (std::size_t l = 0; l < sources[0]["layers"].size(); ++l) {
    if (sources[0]["layers"][l].is_null()) {
      std::cout << fmt::format("{:>6}{:>8}\n", l, "dense");
      continue;
    }
    for (std::size_t e = 0; e < static_cast<std::size_t>(experts); ++e) {
      std::cout << fmt::format("{:>6}{:>8}", l, e);
      for (const auto& s : sources)
        std::cout << fmt::format("{:>12.2f} %", 100 * s["layers"][l][e].get<double>());
      std::cout << "\n";
    }
  }
  return kDone;
}

}  // namespace

void add_model_routes(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("routes", "which experts serve which texts: shares of tokens");
  command.description(
      "Says what share of each source's tokens goes through each expert of each layer.\n"
      "A layer without experts is said to be dense; with --json it is null.\n\n"
      "Example:\n  strata model routes experts --files 'kjv/*.txt;python/**/*.py'\n");
  auto o = std::make_shared<Options>();
  command.add_option("MODEL", o->model, "a GGUF file, a Hugging Face directory").required();
  command.add_option("--files", o->files, "sources as in train_files").required();
  command
      .add_option("--train_data_columns", o->column, "the member of a record that holds the text")
      .show_default();
  command.add_option("--rows", o->rows, "rows of each source, evenly spread")
      .in_range(1, 65536)
      .show_default();
  command.add_option("--length", o->length, "tokens of a row").in_range(1, 1 << 20).show_default();
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
