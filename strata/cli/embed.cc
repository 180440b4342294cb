#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/arrays.h"
#include "strata/cli/command.h"
#include "strata/engine/embedder.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct EmbedOptions {
  std::string model, file, out, normalize = "model";
  std::vector<std::string> texts;
  std::int64_t batch = 32;
  bool similarity = false, json = false;
  int threads = 0;
};

/// The lines of a file, or of stdin for "-".
Result<std::vector<std::string>> lines_of(const std::string& file) {
  std::vector<std::string> out;
  std::string line;
  const auto read = [&](std::istream& in) {
    while (std::getline(in, line)) {
      if (line.ends_with('\r')) line.pop_back();
      out.push_back(line);
    }
  };
  if (file == "-") {
    read(std::cin);
    return out;
  }
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  std::istringstream in(*bytes);
  read(in);
  return out;
}

/// The rows of a matrix.
std::vector<std::vector<float>> rows_of(const Array& x) {
  const std::vector<float> all = x.to_vector<float>();
  const auto width = static_cast<std::ptrdiff_t>(x.shape(1));
  std::vector<std::vector<float>> out;
  for (auto at = all.begin(); at != all.end(); at += width) out.emplace_back(at, at + width);
  return out;
}

int embed(const EmbedOptions& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  std::vector<std::string> texts = o.texts;
  if (!o.file.empty()) {
    auto lines = lines_of(o.file);
    if (!lines) return fail(lines.status());
    texts.insert(texts.end(), lines->begin(), lines->end());
  }
  if (texts.empty())
    throw Error("embed", "{}", "there are no texts: give --text, or a FILE with one on each line");
  engine::EmbedderOptions how{.batch = o.batch};
  if (o.normalize != "model") how.normalize = o.normalize == "on";
  auto embedder = engine::Embedder::load(o.model, how);
  if (!embedder) return fail(embedder.status());
  const Array vectors = embedder->vectors(texts);
  if (!o.out.empty())
    if (Status saved = checkpoint::save_file({{"vectors", vectors}}, o.out); !saved)
      return fail(saved);
  const auto rows = rows_of(vectors);
  std::vector<std::vector<float>> close;
  if (o.similarity) close = rows_of(engine::similarity(vectors, vectors));
  if (o.json) {
    ordered_json shown = {{"width", embedder->width()}, {"vectors", rows}};
    for (const std::string& text : texts) shown["tokens"].push_back(embedder->tokens(text).size());
    if (o.similarity) shown["similarity"] = close;
    std::cout << shown.dump() << "\n";
  } else if (o.similarity) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      for (const float x : close[i]) std::cout << fmt::format("{:8.4f}", x);
      std::cout << "  " << texts[i] << "\n";
    }
  } else {
    for (const auto& row : rows) std::cout << ordered_json(row).dump() << "\n";
  }
  return kDone;
}

}  // namespace

void add_embed(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("embed", "makes vectors of texts with an encoder");
  command.description(
      "Makes a vector of each text with a published encoder (BERT, MiniLM), pooled as its "
      "modules.json says, and prints a JSON list a line;\n"
      "or how like the texts are to each other, as cosines.\n\n"
      "Example:\n  strata embed --model all-MiniLM-L6-v2 --similarity --text 'A cat sat down.' "
      "--text 'The dog sat.' --text 'Stocks fell.'\n"
      "  strata embed --model all-MiniLM-L6-v2 lines.txt --out vectors.safetensors\n");
  auto o = std::make_shared<EmbedOptions>();
  command
      .add_option("--model", o->model,
                  "a Hugging Face directory, a cache's models--org--name, or a GGUF file")
      .required();
  command.add_option("FILE", o->file, "a text on each line; - reads stdin");
  command.add_option("--text", o->texts, "a text; may be given several times");
  command.add_flag("--similarity", o->similarity, "print the table of cosines");
  command
      .add_option("--normalize", o->normalize,
                  "divide vectors by their lengths: on, off, or as the model says")
      .one_of({"model", "on", "off"})
      .show_default();
  command.add_option("--batch", o->batch, "texts that are read together")
      .in_range(1, 4096)
      .show_default();
  command.add_option("--out", o->out,
                     "writes the tensor vectors (texts, width) in f32 to this safetensors file");
  add_threads(command, o->threads);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return embed(*o); }; });
}

}  // namespace strata::cli
