#include "strata/model/convert/convert.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/text.h"
#include "strata/cli/command.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string from, to;
  model::ConvertOptions convert;
  bool json = false;
};

std::string type_text(const std::string& type, const std::vector<std::int64_t>& shape) {
  return type.empty() ? "" : fmt::format("{} [{}]", type, fmt::join(shape, ", "));
}

void print(const model::Conversion& done, bool dry) {
  std::size_t from = 6, from_type = 4, to = 2;
  for (const model::ConvertedTensor& t : done.tensors) {
    from = std::max(from, t.from.size()), to = std::max(to, t.to.size());
    from_type = std::max(from_type, type_text(t.from_type, t.from_shape).size());
  }
  if (dry)
    for (const model::ConvertedTensor& t : done.tensors)
      std::cout << fmt::format(
          "{:<{}}  {:<{}}  {:<{}}  {}\n", t.from, from, type_text(t.from_type, t.from_shape),
          from_type, t.to, to,
          type_text(t.to_type, t.to_shape) + (t.is_adapted ? " + adapter" : ""));
  for (const std::string& note : done.notes) std::cout << "note: " << note << "\n";
  for (const std::string& file : done.files)
    std::cout << (dry ? "would write " : "wrote ") << file << "\n";
  std::cout << fmt::format("{} tensors, {}B\n", done.tensors.size(),
                           human_count(static_cast<double>(done.bytes)));
}

ordered_json to_json(const model::Conversion& done, bool dry) {
  ordered_json tensors = ordered_json::array();
  for (const model::ConvertedTensor& t : done.tensors)
    tensors.push_back({{"from", t.from},
                       {"from_type", t.from_type},
                       {"from_shape", t.from_shape},
                       {"to", t.to},
                       {"to_type", t.to_type},
                       {"to_shape", t.to_shape},
                       {"adapter", t.is_adapted}});
  return {{"from", done.from_format}, {"to", done.to_format}, {"dry_run", dry},
          {"tensors", tensors},       {"notes", done.notes},  {"files", done.files},
          {"bytes", done.bytes}};
}

int run(const Options& o) {
  const auto done = model::convert(o.from, o.to, o.convert);
  if (!done) return fail(done.status());
  if (o.json)
    std::cout << to_json(*done, o.convert.dry_run).dump() << "\n";
  else
    print(*done, o.convert.dry_run);
  return kDone;
}

}  // namespace

void add_convert(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("convert", "published models from one packaging to another");
  command.description(
      "Converts a published model between a GGUF file, a Hugging Face directory, a Strata "
      "checkpoint and one of MaxText's. Weights go row by row, so memory does\n"
      "not hold the model. Nothing is dropped silently: --dry-run lists every tensor with its "
      "type and shape on both sides, and what is left out\n"
      "has a note with the reason. From GGUF to GGUF, or checkpoint to GGUF, by way of a "
      "directory.\n\n"
      "Example:\n  strata convert SmolLM2.Q4_1.gguf SmolLM2\n  strata convert SmolLM2 "
      "SmolLM2.Q8_0.gguf --type Q8_0\n  strata convert SmolLM2 merged --adapter my-adapter\n  "
      "strata convert SmolLM2.Q4_1.gguf runs/smollm2 --format "
      "strata\n  strata convert SmolLM2 smollm2/0 --format maxtext\n  strata convert smollm2/0 "
      "back "
      "--config SmolLM2\n");
  auto o = std::make_shared<Options>();
  command.add_option("FROM", o->from, "a GGUF file, a Hugging Face directory, a checkpoint")
      .required();
  command.add_option("TO", o->to, "what to write: nothing may be there, or an empty folder")
      .required();
  command
      .add_option(
          "--type", o->convert.type,
          "type of matrices: F32, F16, BF16, and in GGUF Q8_0, Q4_0, Q4_1, Q4_K (default: as "
          "in FROM)")
      .type_name("TYPE");
  command
      .add_option(
          "--format", o->convert.format,
          "gguf, hugging_face, strata or maxtext (default: gguf for a TO that ends in .gguf, else "
          "hugging_face)")
      .type_name("FORMAT");
  command
      .add_option("--adapter", o->convert.adapter,
                  "a folder with an adapter in PEFT's layout, which is added to the weights: W + "
                  "scale A B; FROM may be a directory and so may TO then")
      .type_name("DIR");
  command
      .add_option("--config", o->convert.config,
                  "of a checkpoint of MaxText's: the config.json of its model, or the directory "
                  "that has it and a tokenizer")
      .type_name("PATH");
  command
      .add_option("--param-scan-axis", o->convert.scan_axis,
                  "of MaxText's checkpoints: the axis of layers (default 1)")
      .type_name("N");
  command.add_flag("!--no-scan-layers", o->convert.scan_layers,
                   "with --format maxtext: an array for each layer");
  command.add_flag("--dry-run", o->convert.dry_run, "list what would be written, write nothing");
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
