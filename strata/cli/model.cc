#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/cli/command.h"
#include "strata/model/surgery/surgery.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

/// What all verbs have.
struct Common {
  std::string from, to;
  model::SurgeryOptions write;
  bool check = false, json = false;
};

void print(const model::Surgery& done, bool dry) {
  if (dry)
    for (const auto& [name, of] : done.tensors) std::cout << name << "  <-  " << of << "\n";
  for (const std::string& note : done.notes) std::cout << "note: " << note << "\n";
  for (const std::string& file : done.files)
    std::cout << (dry ? "would write " : "wrote ") << file << "\n";
  std::cout << fmt::format("layers {} -> {}, weights {} -> {}\npreserves {}\n", done.layers_before,
                           done.layers_after, human_count(static_cast<double>(done.weights_before)),
                           human_count(static_cast<double>(done.weights_after)), done.preserves);
}

ordered_json to_json(const model::Surgery& done) {
  return {{"layers_before", done.layers_before},
          {"layers_after", done.layers_after},
          {"weights_before", done.weights_before},
          {"weights_after", done.weights_after},
          {"same_function", done.same_function},
          {"preserves", done.preserves},
          {"notes", done.notes},
          {"files", done.files}};
}

/// Compares `from` and `to`; a function that was said to be kept and is not, fails.
int check(const Common& o, const model::Surgery& done, ordered_json& json) {
  constexpr double kNear = 1e-5;
  // A checkpoint of MaxText's does not say what model it is.
  const std::string described = o.to + ".config.json";
  const bool told = o.write.format == "maxtext";
  if (told)
    if (Status s = write_file_atomic(described, done.config); !s.ok()) return fail(s);
  const auto seen = model::compare(o.from, o.to,
                                   {.first_config = o.write.config,
                                    .second_config = told ? described : "",
                                    .scan_axis = o.write.scan_axis});
  std::error_code error;
  if (told) std::filesystem::remove(described, error);
  if (!seen) return fail(seen.status());
  json["check"] = {{"difference", seen->difference},
                   {"relative", seen->relative},
                   {"kl", seen->kl},
                   {"agreement", seen->agreement},
                   {"loss_before", seen->loss_first},
                   {"loss_after", seen->loss_second},
                   {"positions", seen->positions},
                   {"same_bits", seen->same_bits}};
  if (!o.json)
    std::cout << fmt::format(
        "check: {} positions, logits differ by at most {:.3g} ({:.3g} of their range{}), KL {:.3g} "
        "nats, same first choice {:.1f} %\n",
        seen->positions, seen->difference, seen->relative, seen->same_bits ? ", the same bits" : "",
        seen->kl, 100 * seen->agreement);
  if (!done.same_function || seen->relative <= kNear) return kDone;
  return fail(Status(Code::invalid, "{}: its logits are not those of {}", o.to, o.from));
}

int report(const Common& o, const Result<model::Surgery>& done) {
  if (!done) return fail(done.status());
  ordered_json json = to_json(*done);
  if (!o.json) print(*done, o.write.dry_run);
  const int status = o.check && !o.write.dry_run ? check(o, *done, json) : kDone;
  if (o.json) std::cout << json.dump() << "\n";
  return status;
}

void add_common(CommandLine& command, Common& o, bool has_from = true) {
  if (has_from)
    command.add_option("FROM", o.from, "a GGUF file, a Hugging Face directory, a checkpoint")
        .required();
  command.add_option("TO", o.to, "what to write: nothing may be there, or an empty folder")
      .required();
  command
      .add_option("--type", o.write.type,
                  "type of tensors: F32, F16, BF16; in GGUF those of `strata convert` (default: as "
                  "in FROM)")
      .type_name("TYPE");
  command
      .add_option("--format", o.write.format,
                  "gguf, hugging_face, strata or maxtext (default: gguf for a TO that ends in "
                  ".gguf, else hugging_face)")
      .type_name("FORMAT");
  command
      .add_option("--config", o.write.config,
                  "of a checkpoint of MaxText's as FROM: the config.json of its model, or the "
                  "directory that has it")
      .type_name("FILE");
  command.add_option("--param-scan-axis", o.write.scan_axis,
                     "of MaxText's checkpoints: param_scan_axis");
  command.add_option("--shard-bytes", o.write.shard_bytes,
                     "the most bytes of a safetensors file (default: 5 GiB)");
  command.add_flag("--dry-run", o.write.dry_run, "list what would be made of what, write nothing");
  command.add_flag("--check", o.check,
                   "compare the logits of both models; fails where a kept function is another");
  command.add_flag("--json", o.json, "print one JSON object instead");
}

template <class O>
struct Verb {
  Common common;
  O options;
};

using Action = std::function<int()>;

/// The command's work: a change of one model, told as `report` does.
template <class Options, class Change>
void on_run(CommandLine& command, Action& action, const std::shared_ptr<Verb<Options>>& o,
            Change change) {
  command.callback([o, &action, change] {
    action = [o, change] {
      o->options.write = o->common.write;
      return report(o->common, change(o->common.from, o->common.to, o->options));
    };
  });
}

void add_upscale(CommandLine& app, Action& action) {
  CommandLine& command = app.add_subcommand("upscale", "more layers: some stand twice");
  command.description(
      "Makes a deeper model whose layers are the old one's by a map. --to_layers overlaps two "
      "copies (SOLAR's rule);\n--zero_repeats makes what stands twice add zero, so that the "
      "function stays.\n\nExample:\n  strata model upscale llama deeper --to_layers 40\n  strata "
      "model upscale llama deeper --layers 0-7,4-11 --zero_repeats --check\n");
  auto o = std::make_shared<Verb<model::UpscaleOptions>>();
  add_common(command, o->common);
  command.add_option("--layers", o->options.layers, "the new layers by old numbers: 0-19,12-31")
      .type_name("MAP");
  command.add_option("--to_layers", o->options.to_layers, "how many layers, by SOLAR's rule");
  command.add_flag("--zero_repeats", o->options.zero_repeats,
                   "layers add zero where they stand for the second time");
  on_run(command, action, o, model::upscale);
}

void add_upcycle(CommandLine& app, Action& action) {
  CommandLine& command = app.add_subcommand("upcycle", "a model of experts from a dense one");
  command.description(
      "Each feed-forward branch becomes experts, which are slices of it, and a drawn router. The "
      "function stays where the\nrouted slices divide --active and --experts, whatever the router "
      "says.\n\nExample:\n  strata model upcycle llama experts --experts 64 --active 8 "
      "--granularity 8 --check\n  strata model upcycle qwen experts --experts 6 --active 3 "
      "--granularity 4 --shared 1 --dense_layers 1\n");
  auto o = std::make_shared<Verb<model::UpcycleOptions>>();
  model::UpcycleOptions& u = o->options;
  add_common(command, o->common);
  command.add_option("--experts", u.experts, "how many experts are routed to");
  command.add_option("--active", u.active, "through how many of them a token goes");
  command.add_option("--granularity", u.granularity, "dense width divided by that of an expert");
  command.add_option("--shared", u.shared, "slices of the expert that all tokens go through");
  command.add_option("--dense_layers", u.dense_layers, "leading layers that stay as they are");
  command.add_option("--router_deviation", u.router_deviation, "of the router's drawn rows");
  command.add_option("--noise", u.noise, "added to experts, in deviations of a row");
  command.add_option("--seed", u.seed, "of router and noise");
  on_run(command, action, o, model::upcycle);
}

void add_prune(CommandLine& app, Action& action) {
  CommandLine& command =
      app.add_subcommand("prune", "fewer layers, narrower feed-forward branches");
  command.description(
      "Leaves layers out, and hidden numbers of feed-forward branches: those stay whose gate, up "
      "and down weights have the\nlargest product of norms.\n\nExample:\n  strata model prune "
      "llama smaller --drop_layers 20-25 --mlp_width 6144 --check\n");
  auto o = std::make_shared<Verb<model::PruneOptions>>();
  add_common(command, o->common);
  command.add_option("--drop_layers", o->options.drop_layers, "layers that go: 20-25,28")
      .type_name("MAP");
  command.add_option("--mlp_width", o->options.mlp_width, "hidden numbers that stay");
  on_run(command, action, o, model::prune);
}

void add_slice(CommandLine& app, Action& action) {
  CommandLine& command = app.add_subcommand("slice", "a part of the layers");
  command.description(
      "Takes some layers, with embeddings and logits.\n\nExample:\n  strata model slice llama "
      "first --layers 0-7\n");
  auto o = std::make_shared<Verb<model::SliceOptions>>();
  add_common(command, o->common);
  command.add_option("--layers", o->options.layers, "the layers that stay: 0-7,12")
      .type_name("MAP")
      .required();
  on_run(command, action, o, model::slice_layers);
}

struct Merging {
  std::vector<std::string> models;
  std::string method = "linear";
  std::vector<std::string> weights;
};

std::vector<double> numbers(const std::vector<std::string>& texts) {
  std::vector<double> out;
  for (const std::string& text : texts) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error("model", "weights={}: allowed are numbers", text);
    out.push_back(value);
  }
  return out;
}

void add_merge(CommandLine& app, Action& action) {
  CommandLine& command = app.add_subcommand("merge", "one model of several");
  command.description(
      "Merges models of one configuration: linear, slerp (two, along the arc), task_arithmetic and "
      "ties (what they\nadded to a base).\n\nExample:\n  strata model merge both --models a b "
      "--weights 0.7 0.3\n  strata model merge both --models a b --method ties --base llama "
      "--density 0.2\n");
  auto o = std::make_shared<Verb<model::MergeOptions>>();
  auto m = std::make_shared<Merging>();
  add_common(command, o->common, false);
  command.add_option("--models", m->models, "the models").type_name("MODEL...").required();
  command.add_option("--method", m->method, "linear, slerp, task_arithmetic or ties");
  command.add_option("--weights", m->weights, "one for each model (default: all 1)");
  command.add_option("--base", o->options.base, "what task_arithmetic and ties compare with")
      .type_name("MODEL");
  command.add_option("--density", o->options.density, "ties: share of differences that is kept");
  command.callback([o, m, &action] {
    action = [o, m] {
      o->options.write = o->common.write;
      o->options.weights = numbers(m->weights);
      o->options.method = model::merge_method(m->method);
      o->common.from = o->options.base.empty() ? m->models[0] : o->options.base;
      return report(o->common, model::merge_models(m->models, o->common.to, o->options));
    };
  });
}

}  // namespace

void add_model(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("model", "models made of models: upscale, upcycle, prune, slice, merge");
  command.description(
      "Makes a model of one or several: more layers, experts, fewer layers, averages. Each verb "
      "says what it preserves,\nand --check compares the logits. Tensors go row by row, so memory "
      "does not hold the models.\n\nExample:\n  strata model upcycle llama experts --experts 8 "
      "--active 2 --check\n");
  command.require_subcommand();
  add_upscale(command, action);
  add_upcycle(command, action);
  add_prune(command, action);
  add_slice(command, action);
  add_merge(command, action);
  add_model_routes(command, action);
}

}  // namespace strata::cli
