#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/base/progress.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/chunks.h"
#include "strata/checkpoint/orbax/reshard.h"
#include "strata/checkpoint/retention.h"
#include "strata/checkpoint/target.h"
#include "strata/cli/checkpoint/checkpoint_commands.h"
#include "strata/cli/command.h"
#include "strata/train/maxtext/checkpoint.h"
#include "strata/train/replay.h"

namespace strata::cli {
namespace {

namespace any_format = checkpoint::any_format;
namespace orbax = checkpoint::orbax;
using any_format::Format;
using nlohmann::ordered_json;

/// convert, reshard: a checkpoint in another format, or cut into other chunks.
struct ConvertOptions {
  std::string from, to, format;
  std::int64_t shards = 1;
  bool uncompressed = false, unscanned = false, json = false;
  std::int64_t scan_axis = 1;
};

Format target_of(const ConvertOptions& o) {
  if (auto named = any_format::named(o.format)) return *named;
  if (o.to.ends_with(".safetensors")) return Format::safetensors;
  if (o.to.ends_with(".gguf")) return Format::gguf;
  return Format::orbax;
}

Status check_given(std::string_view what, const std::string& path) {
  if (!path.empty()) return {};
  return Status(Code::invalid, "{} is empty: name a folder or a file", what);
}

/// What is wrong with a target by its name alone, and with options that its format has none of.
Status check_request(const ConvertOptions& o, Format format) {
  if (Status s = check_given("TO", o.to); !s.ok()) return s;
  const std::string ending = format == Format::safetensors ? ".safetensors"
                             : format == Format::gguf      ? ".gguf"
                                                           : "";
  if (!o.to.ends_with(ending))
    return Status(Code::invalid, "{}: name a file that ends in {}", o.to, ending);
  const bool orbax = format == Format::orbax || format == Format::orbax2;
  if (!orbax && (o.shards != 1 || o.uncompressed))
    return Status(Code::invalid, "{} is of Orbax's formats alone; --to {} has one way to write",
                  o.shards != 1 ? "--shards" : "--uncompressed", any_format::name(format));
  return {};
}

bool is_same(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  return a == b || (!is_object_path(a) && !is_object_path(b) &&
                    fs::weakly_canonical(a) == fs::weakly_canonical(b));
}

/// Says what was written.
int told(const ConvertOptions& o, const std::string& from, Format format, std::size_t tensors,
         std::uint64_t bytes) {
  if (o.json) {
    std::cout << ordered_json{{"from", from},
                              {"to", o.to},
                              {"format", any_format::name(format)},
                              {"tensors", tensors},
                              {"bytes", bytes}}
                     .dump()
              << "\n";
  } else {
    std::cout << fmt::format("{}: {} tensors of {} as {}\n", o.to, tensors, from,
                             any_format::name(format));
  }
  return kDone;
}

/// A whole state as MaxText's load_full_state_path takes it.
int convert_to_maxtext(const ConvertOptions& o) {
  if (Status s = check_given("TO", o.to); !s.ok()) return fail(s);
  const auto found = any_format::find(o.from);
  if (!found) return fail(found.status());
  note_damaged(found->damaged);
  if (is_same(found->folder, o.to))
    return fail(Status(Code::invalid, "{}: is the checkpoint that is read; name another", o.to));
  if (Status s = checkpoint::check_target(o.to); !s.ok()) return fail(s);
  if (Status s = train::maxtext::export_checkpoint(
          *found->checkpoint, o.to, {.scanned = !o.unscanned, .scan_axis = o.scan_axis});
      !s.ok())
    return fail(s);
  std::cout
      << (o.json ? ordered_json{{"from", found->folder}, {"to", o.to}, {"format", "maxtext"}}.dump()
                 : fmt::format("{}: the state of {} as maxtext", o.to, found->folder))
      << "\n";
  return kDone;
}

/// Whether a path is a checkpoint of Orbax's whose tree stands in the folder itself.
Result<bool> stands_in_folder(const std::string& path) {
  const auto format = any_format::format_of(path);
  if (!format) return format.status();
  if (*format != Format::orbax) return false;
  const auto directory = orbax::Directory::open(path);
  if (!directory) return directory.status();
  return directory->in_folder();
}

int convert(const ConvertOptions& o, Format format) {
  if (Status s = check_request(o, format); !s.ok()) return fail(s);
  auto found = any_format::find(o.from);
  if (!found) return fail(found.status());
  note_damaged(found->damaged);
  const bool ours = format == Format::strata;
  const std::string target = ours ? fmt::format("{}/{}", o.to, found->checkpoint->step) : o.to;
  if (is_same(found->folder, target))
    return fail(Status(Code::invalid, "{}: is the checkpoint that is read; name another", target));
  if (ours && !is_object_path(o.to) && file_exists(o.to + "/config.yml"))
    return fail(Status(Code::exists, "{}: is the folder of a run; name another", o.to));
  if (ours)
    if (Status s = checkpoint::check_target(target); !s.ok()) return fail(s);
  const auto in_folder = stands_in_folder(found->folder);
  if (!in_folder) return fail(in_folder.status());
  if (Status s = any_format::write(
          o.to, *found->checkpoint, format,
          {.shards = o.shards, .compressed = !o.uncompressed, .in_folder = *in_folder});
      !s.ok())
    return fail(s);
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
  for (const auto& [part, all] : found->checkpoint->parts) {
    tensors += all.size();
    for (const auto& [name, t] : all) bytes += t.bytes();
  }
  return told(o, found->folder, format, tensors, bytes);
}

/// An Orbax directory in other chunks: containers, kinds, metadata and other files stay.
int reshard_orbax(const ConvertOptions& o) {
  const auto found = any_format::find(o.from);
  if (!found) return fail(found.status());
  note_damaged(found->damaged);
  const std::string& from = found->folder;
  const auto format = any_format::format_of(from);
  if (!format) return fail(format.status());
  if (*format == Format::strata) return convert(o, Format::orbax);  // of a run that changed it
  if (is_same(from, o.to))
    return fail(Status(Code::invalid, "{}: is the checkpoint that is read; name another", o.to));
  if (Status s = checkpoint::check_target(o.to); !s.ok()) return fail(s);
  const auto directory = orbax::Directory::open(from);
  if (!directory) return fail(directory.status());
  auto contents = orbax::read_contents(*directory);
  if (!contents) return fail(contents.status());
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
  for (auto& [item, leaves] : contents->items)
    for (orbax::Leaf& leaf : leaves) {
      if (!leaf.value) continue;
      orbax::cut(leaf, o.shards);
      ++tensors;
      bytes += leaf.value->bytes();
    }
  for (auto& [item, stored] : contents->formats) stored.compressed = !o.uncompressed;
  if (Status s = orbax::save(o.to, *contents, {.api = *format == Format::orbax2 ? 2 : 1}); !s.ok())
    return fail(s);
  return told(o, from, **format, tensors, bytes);
}

int reshard(const ConvertOptions& o) {
  if (Status s = check_given("TO", o.to); !s.ok()) return fail(s);
  const auto format = any_format::format_of(o.from);
  if (!format) return fail(format.status());
  if (*format == Format::safetensors || *format == Format::gguf)
    return fail(Status(Code::invalid, "{}: a file has no shards; convert it first", o.from));
  if (!*format || **format == Format::strata) return convert(o, Format::orbax);
  return reshard_orbax(o);
}

/// prune: removes checkpoints of a run.
struct PruneOptions {
  std::string path;
  std::int64_t newest = 0, every = 0;
  bool dry_run = false, json = false;
};

using Steps = std::vector<std::pair<std::int64_t, std::string>>;

/// The first of the newest `count` whole steps: damaged ones do not count, and are told. 0 where
/// fewer are whole. What cannot be read is a failure: nobody knows whether it is whole.
Result<std::size_t> first_of_newest(const Steps& all, std::int64_t count) {
  std::size_t i = all.size();
  while (i > 0 && count > 0) {
    const std::vector<Status> wrong = any_format::verify(all[--i].second);
    for (const Status& s : wrong)
      if (s.code() != Code::corrupt && s.code() != Code::not_found) return s;
    if (!wrong.empty())
      std::cerr << fmt::format("strata: damaged, stays and does not count: {}\n",
                               wrong.front().message());
    count -= wrong.empty() ? 1 : 0;
  }
  return i;
}

/// Holds the run whose checkpoints stand below `root`, where that is a run's: a trainer removes
/// what it saved before by itself, and must find it.
Result<std::optional<FileLock>> hold_run(const std::string& root) {
  const std::string lock = root + "/../lock";
  if (is_object_path(root) || !file_exists(lock)) return std::optional<FileLock>();
  auto taken = FileLock::take(lock);
  if (taken) return std::optional(std::move(*taken));
  if (taken.status().code() != Code::exists) return taken.status();
  return Status(Code::exists,
                "{}: `strata train` is writing this run; its max_num_checkpoints_to_keep removes "
                "old checkpoints, or wait until it has ended",
                root);
}

/// Whether a folder that has a step's name holds a checkpoint, whole or not.
Result<bool> holds_checkpoint(const std::string& folder) {
  for (const char* mark : {"/manifest.json", "/params.safetensors"}) {
    const auto there = is_there(folder + mark);
    if (!there || *there) return there;
  }
  return orbax::is_checkpoint(folder);
}

int prune(const PruneOptions& o) {
  const auto found = checkpoint::root_of(o.path);
  if (!found) return fail(found.status());
  const std::string& root = *found;
  if (const auto one = any_format::all_of(root); one && *one == std::vector<std::string>{root})
    return fail(Status(Code::invalid, "{}: is one checkpoint; prune takes a run's folder", root));
  const auto held = o.dry_run ? Result<std::optional<FileLock>>(std::nullopt) : hold_run(root);
  if (!held) return fail(held.status());
  const auto steps = any_format::steps(root);
  if (!steps) return fail(steps.status());
  const Steps& all = *steps;
  if (all.empty()) return fail(any_format::no_checkpoint(o.path));
  const auto first = first_of_newest(all, o.newest);
  if (!first) return fail(first.status());
  ordered_json removed = ordered_json::array(), kept = ordered_json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [step, folder] = all[i];
    if (i >= *first || (o.every > 0 && step % o.every == 0)) {
      kept.push_back(step);
      continue;
    }
    const auto is_one = holds_checkpoint(folder);
    if (!is_one) return fail(is_one.status());
    if (!*is_one) {
      std::cerr << fmt::format("strata: {}: is no checkpoint; it stays\n", folder);
      kept.push_back(step);
      continue;
    }
    if (!o.dry_run)
      if (Status s = checkpoint::remove_step(folder); !s.ok()) return fail(s);
    removed.push_back(step);
    if (!o.json)
      std::cout << fmt::format("{} {}\n", o.dry_run ? "would remove" : "removed", folder);
  }
  // In a bucket the run's own process does that, since it cannot be kept from saving.
  if (!o.dry_run && !is_object_path(root))
    if (Status s = checkpoint::collect_chunks(root); !s.ok()) return fail(s);
  if (o.json) std::cout << ordered_json{{"removed", removed}, {"kept", kept}}.dump() << "\n";
  return kDone;
}

/// materialize: a step that was not kept.
struct MaterializeOptions {
  std::string run, out, format = "strata";
  std::int64_t step = 0;
  bool json = false;
};

/// What is known of the steps that were taken again.
std::string checked(const train::Replayed& r) {
  if (r.steps == 0) return "as it was saved";
  const std::string taken = fmt::format("{} step{} taken again", r.steps, r.steps == 1 ? "" : "s");
  if (r.unchecked == 0) return taken + ", with the figures of the run's metrics";
  return fmt::format("{}, {} of which could not be checked: the run's metrics have no line of {}",
                     taken, r.unchecked, r.unchecked == 1 ? "it" : "them");
}

int materialize(const MaterializeOptions& o) {
  if (Status s = check_given("OUT", o.out); !s.ok()) return fail(s);
  if (o.format != "strata")
    if (Status s = checkpoint::check_target(o.out); !s.ok()) return fail(s);
  Progress progress(STDERR_FILENO);
  auto c = train::replay(o.run, o.step, progress);
  if (!c) return fail(c.status());
  if (Status s = any_format::write(o.out, c->checkpoint, *any_format::named(o.format)); !s.ok())
    return fail(s);
  const std::string at = o.format == "strata" ? fmt::format("{}/{}", o.out, o.step) : o.out;
  if (o.json) {
    std::cout << ordered_json{{"step", o.step},
                              {"folder", at},
                              {"replayed", c->steps},
                              {"unchecked", c->unchecked}}
                     .dump()
              << "\n";
  } else {
    std::cout << fmt::format("{}: step {} of {}, {}\n", at, o.step, o.run, checked(*c));
  }
  return kDone;
}

template <class Options>
CommandLine& add(CommandLine& parent, std::function<int()>& action, const std::string& name,
                 const std::string& line, const std::string& text,
                 const std::shared_ptr<Options>& options, std::function<int(const Options&)> run) {
  CommandLine& command = parent.add_subcommand(name, line);
  command.description(text);
  command.add_flag("--json", options->json, "print one JSON object instead");
  command.callback([options, run, &action] { action = [options, run] { return run(*options); }; });
  return command;
}

constexpr const char* kFrom =
    "a checkpoint's folder or file, or a run's folder, whose newest whole one is taken";

}  // namespace

void add_checkpoint_writers(CommandLine& command, std::function<int()>& action) {
  auto c = std::make_shared<ConvertOptions>();
  CommandLine& convert_command = add<ConvertOptions>(
      command, action, "convert", "a checkpoint in another format",
      "Writes a checkpoint in another format: Strata's, Orbax's, safetensors "
      "or GGUF (plain tensors "
      "of any names; `strata convert` makes whole models), or a run's whole "
      "state as MaxText's load_full_state_path takes it. A checkpoint that was there "
      "stays until the new one is whole; a folder of anything else is refused.\n\n"
      "Example:\n  strata checkpoint convert runs/first/checkpoints/400 "
      "out/400 --to orbax\n  strata "
      "checkpoint convert jax/400 weights.safetensors\n",
      c, [](const ConvertOptions& o) {
        return o.format == "maxtext" ? convert_to_maxtext(o) : convert(o, target_of(o));
      });
  convert_command.add_option("FROM", c->from, kFrom).required();
  convert_command.add_option("TO", c->to, "what is written; of Strata's format the root: TO/STEP")
      .required();
  convert_command.add_option("--to", c->format, "the format; else by TO's ending, or Orbax's")
      .one_of({"strata", "orbax", "orbax-v1", "safetensors", "gguf", "maxtext"});
  convert_command.add_flag("--unscanned", c->unscanned, "of MaxText's: scan_layers=false");
  convert_command.add_option("--scan-axis", c->scan_axis, "of MaxText's: param_scan_axis")
      .in_range(0, 8)
      .show_default();
  convert_command.add_option("--shards", c->shards, "of Orbax's: chunks of each array")
      .in_range(1, 65536);
  convert_command.add_flag("--uncompressed", c->uncompressed, "of Orbax's: elements as they are");

  auto r = std::make_shared<ConvertOptions>();
  CommandLine& reshard_command = add<ConvertOptions>(
      command, action, "reshard", "the same checkpoint in other chunks",
      "Writes an Orbax directory whose arrays are cut into other chunks: along the first axis that "
      "their number divides. Containers, metadata and other files stay as they are. Strata's "
      "checkpoints become one.\n\n"
      "Example:\n  strata checkpoint reshard jax/400 jax8/400 --shards 8\n",
      r, reshard);
  reshard_command.add_option("FROM", r->from, kFrom).required();
  reshard_command
      .add_option("TO", r->to, "the folder that is written: not there, empty, or a checkpoint")
      .required();
  reshard_command.add_option("--shards", r->shards, "chunks of each array")
      .in_range(1, 65536)
      .required();
  reshard_command.add_flag("--uncompressed", r->uncompressed, "elements as they are");

  auto p = std::make_shared<PruneOptions>();
  CommandLine& prune_command = add<PruneOptions>(
      command, action, "prune", "removes old checkpoints",
      "Removes the checkpoints of a run but the newest and those of every so many steps. The "
      "newest "
      "are read: a damaged one stays, is told and does not count. A run that trains is refused: "
      "its "
      "max_num_checkpoints_to_keep does the same.\n\n"
      "Example:\n  strata checkpoint prune runs/first --newest 3 --every 1000 --dry-run\n",
      p, prune);
  prune_command.add_option("RUN", p->path, "a run's folder, or the folder of its checkpoints")
      .required();
  prune_command.add_option("--newest", p->newest, "so many stay").in_range(1, 1000000).required();
  prune_command.add_option("--every", p->every, "and those of steps that this divides")
      .in_range(1, 1000000000);
  prune_command.add_flag("--dry-run", p->dry_run, "list what would be removed, remove nothing");

  auto m = std::make_shared<MaterializeOptions>();
  CommandLine& materialize_command = add<MaterializeOptions>(
      command, action, "materialize", "any step of a run, computed again",
      "Computes a step of a run again, from the newest checkpoint at or before it, and writes its "
      "checkpoint: equal to the bit to what the run had. The run is only read. Text files are "
      "found as the run found them, from the same folder; each step is taken under the keys that "
      "the run had then. Refused are other texts than the run read, and a step of another loss "
      "than the run's metrics have; of how "
      "many steps they have no line is said.\n\n"
      "Example:\n  strata checkpoint materialize --step 1234 runs/first out\n",
      m, materialize);
  materialize_command.add_option("RUN", m->run, "a run's folder").required();
  materialize_command
      .add_option("OUT", m->out, "what is written: OUT/STEP in Strata's format, OUT in Orbax's")
      .required();
  materialize_command.add_option("--step", m->step, "which")
      .in_range(std::int64_t{0}, std::int64_t{1000000000000})
      .required();
  materialize_command.add_option("--to", m->format, "the format")
      .one_of({"strata", "orbax", "orbax-v1"})
      .show_default();
}

}  // namespace strata::cli
