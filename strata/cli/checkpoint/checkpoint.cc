#include "strata/checkpoint/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/base/text.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/diff.h"
#include "strata/cli/checkpoint/checkpoint_commands.h"
#include "strata/cli/command.h"

namespace strata::cli {
namespace {

using checkpoint::Checkpoint;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string size_text(std::uint64_t bytes) {
  const std::string count = human_count(static_cast<double>(bytes));
  return count + (count.find(' ') == std::string::npos ? " B" : "B");
}

/// Numbers that JSON lacks are texts there: "inf", "nan".
ordered_json number(double x) {
  return std::isfinite(x) ? ordered_json(x) : ordered_json(fmt::format("{}", x));
}

ordered_json note(const Checkpoint& c, const std::string& name) {
  const auto found = c.notes.find(name);
  return found == c.notes.end() ? ordered_json()
                                : ordered_json::parse(found->second, nullptr, false);
}

/// What the file system knows of a checkpoint's folder.
struct Place {
  std::uint64_t bytes = 0;
  std::string written;  // in UTC; empty where that is not known
};

Place place_of(const std::string& folder) {
  Place out;
  if (is_object_path(folder)) {
    auto at = find_object(folder + "/");
    auto all = at ? at->store->list(at->key, true) : Result<ObjectListing>(at.status());
    if (all)
      for (const ObjectInfo& object : all->objects) out.bytes += object.size;
    return out;
  }
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    if (it->is_regular_file(ignored)) out.bytes += it->file_size(ignored);
  }
  const std::string last =
      folder +
      (file_exists(folder + "/manifest.json") ? "/manifest.json" : "/_CHECKPOINT_METADATA");
  const auto time = fs::last_write_time(last, ignored);
  if (ignored) return out;
  const auto seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(
          std::chrono::file_clock::to_sys(time)));
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  out.written.assign(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
  return out;
}

/// list: every checkpoint of a run, and whether it is whole.
struct ListOptions {
  std::string path;
  bool json = false;
};

int list(const ListOptions& o) {
  const auto found = checkpoint::root_of(o.path);
  if (!found) return fail(found.status());
  const std::string& root = *found;
  const auto there = is_there(root);
  if (!there) return fail(there.status());
  if (!*there) return fail(checkpoint::any_format::no_checkpoint(o.path));
  auto steps = checkpoint::any_format::steps(root);
  if (!steps) return fail(steps.status());
  if (steps->empty()) {
    // A checkpoint's own folder is a list of one.
    const auto one = checkpoint::any_format::find(o.path);
    if (one) steps->emplace_back(one->checkpoint->step, o.path);
    std::error_code error;
    if (!one && !is_object_path(root) && !fs::is_directory(root, error))
      return fail(checkpoint::any_format::no_checkpoint(o.path));
  }
  ordered_json all = ordered_json::array();
  std::string table =
      fmt::format("{:>9}  {:<20}  {:>9}  {:>8}  state\n", "step", "written", "size", "loss");
  for (const auto& [step, folder] : *steps) {
    const Place place = place_of(folder);
    auto c = checkpoint::any_format::load(folder);
    const ordered_json loss = c ? note(*c, "loss") : ordered_json();
    const std::string problem = c ? "" : c.status().message();
    all.push_back({{"step", step},
                   {"folder", folder},
                   {"written", place.written},
                   {"bytes", place.bytes},
                   {"loss", loss},
                   {"whole", c.ok()},
                   {"problem", problem}});
    table += fmt::format(
        "{:>9}  {:<20}  {:>9}  {:>8}  {}\n", step, place.written, size_text(place.bytes),
        loss.is_number() ? fmt::format("{:.4f}", loss.get<double>()) : "",
        c ? "whole"
        : c.status().code() == Code::corrupt || c.status().code() == Code::not_found
            ? "damaged: " + problem
            : problem);
  }
  if (o.json) {
    std::cout << ordered_json{{"root", root}, {"checkpoints", all}}.dump() << "\n";
  } else {
    std::cout << (steps->empty() ? fmt::format("{}: no checkpoints\n", root) : table);
  }
  return kDone;
}

/// show: what one holds.
struct ShowOptions {
  std::string path;
  bool json = false;
};

ordered_json tensors_of(const checkpoint::Tensors& tensors) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, t] : tensors) {
    const checkpoint::Norms norms = checkpoint::norms(t);
    out[name] = {{"dtype", strata::name(t.dtype())},
                 {"shape", t.shape().sizes()},
                 {"bytes", t.bytes()},
                 {"l2", number(norms.l2)},
                 {"max_abs", number(norms.max_abs)},
                 {"not_finite", norms.not_finite}};
  }
  return out;
}

void print_tensors(const std::string& part, const checkpoint::Tensors& tensors) {
  std::size_t width = 6;
  for (const auto& [name, t] : tensors) width = std::max(width, name.size());
  std::cout << fmt::format("\n{:<{}}  {:<20}  {:>9}  {:>12}  {:>12}\n", part, width, "type", "size",
                           "l2 norm", "max |x|");
  for (const auto& [name, t] : tensors) {
    const checkpoint::Norms norms = checkpoint::norms(t);
    std::cout << fmt::format(
        "{:<{}}  {:<20}  {:>9}  {:>12.6g}  {:>12.6g}{}\n", name, width, t.type().to_string(),
        size_text(t.bytes()), norms.l2, norms.max_abs,
        norms.not_finite ? fmt::format("  {} not finite", norms.not_finite) : "");
  }
}

int show(const ShowOptions& o) {
  auto found = checkpoint::any_format::find(o.path);
  if (!found) return fail(found.status());
  note_damaged(found->damaged);
  const Checkpoint& c = *found->checkpoint;
  const Place place = place_of(found->folder);
  std::uint64_t elements = 0;
  ordered_json parts = ordered_json::object(), notes = ordered_json::object();
  for (const auto& [part, tensors] : c.parts) {
    for (const auto& [name, t] : tensors) elements += static_cast<std::uint64_t>(t.count());
    if (o.json) parts[part] = tensors_of(tensors);
  }
  for (const auto& [name, text] : c.notes) notes[name] = note(c, name);
  if (o.json) {
    ordered_json out = {{"folder", found->folder},
                        {"step", c.step},
                        {"written", place.written},
                        {"bytes", place.bytes}};
    out["notes"] = notes;
    out["parts"] = parts;
    std::cout << out.dump() << "\n";
    return kDone;
  }
  std::cout << fmt::format("{:<12}{}\n{:<12}{}\n{:<12}{}\n{:<12}{}, {} numbers\n", "checkpoint",
                           found->folder, "step", c.step, "written", place.written, "size",
                           size_text(place.bytes), human_count(static_cast<double>(elements)));
  for (const auto& [name, value] : notes.items()) {
    if (!value.is_object()) std::cout << fmt::format("{:<12}{}\n", name, value.dump());
  }
  for (const auto& [name, value] : notes.items()) {
    if (!value.is_object()) continue;
    std::cout << fmt::format("\n{}\n", name);
    for (const auto& [key, member] : value.items())
      std::cout << fmt::format("  {}: {}\n", key, member.dump());
  }
  for (const auto& [part, tensors] : c.parts) print_tensors(part, tensors);
  return kDone;
}

/// verify: every byte of one, or of all of a run.
struct VerifyOptions {
  std::vector<std::string> paths;
  bool json = false;
};

/// One that could not be read need not be damaged.
const char* state_of(const std::vector<Status>& wrong) {
  if (wrong.empty()) return "whole";
  const bool unread = std::ranges::all_of(wrong, [](const Status& s) {
    return s.code() == Code::denied || s.code() == Code::io || s.code() == Code::unsupported;
  });
  return unread ? "cannot be read" : "damaged";
}

/// Says how a damaged step of a run comes back, where the run itself was named.
void hint_at_replay(const std::string& run, const std::string& folder) {
  if (is_object_path(run) || !file_exists(run + "/config.yml")) return;
  std::cerr << fmt::format(
      "strata: `strata checkpoint materialize --step {} {} OUT` computes a damaged step again from "
      "the newest whole one before it\n",
      fs::path(folder).filename().string(), run);
}

int verify(const VerifyOptions& o) {
  ordered_json all = ordered_json::array();
  bool whole = true;
  for (const std::string& path : o.paths) {
    auto folders = checkpoint::any_format::all_of(path);
    if (!folders) return fail(folders.status());
    for (const std::string& folder : *folders) {
      const std::vector<Status> wrong = checkpoint::any_format::verify(folder);
      if (!wrong.empty() && folder != path) {
        const auto there = is_there(folder);
        if (there && !*there) {
          std::cerr << fmt::format("strata: {}: removed meanwhile\n", folder);
          continue;
        }
      }
      whole &= wrong.empty();
      ordered_json problems = ordered_json::array();
      for (const Status& s : wrong) problems.push_back(s.message());
      if (!o.json) std::cout << fmt::format("{}: {}\n", folder, state_of(wrong));
      for (const Status& s : wrong) {
        if (!o.json) std::cout << fmt::format("  {}\n", s.message());
      }
      if (!wrong.empty()) hint_at_replay(path, folder);
      all.push_back({{"folder", folder}, {"whole", wrong.empty()}, {"problems", problems}});
    }
  }
  if (o.json) std::cout << ordered_json{{"whole", whole}, {"checkpoints", all}}.dump() << "\n";
  return whole ? kDone : kWorkFailed;
}

/// diff: where two differ.
struct DiffOptions {
  std::string first, second;
  bool json = false;
};

ordered_json to_json(const std::vector<checkpoint::NoteDifference>& notes) {
  ordered_json out = ordered_json::array();
  for (const auto& n : notes)
    out.push_back(
        {{"note", n.note}, {"member", n.member}, {"first", n.first}, {"second", n.second}});
  return out;
}

ordered_json to_json(const checkpoint::Differences& d) {
  ordered_json tensors = ordered_json::array();
  for (const auto& t : d.tensors) {
    tensors.push_back({{"part", t.part},
                       {"tensor", t.tensor},
                       {"kind", t.kind},
                       {"count", t.count},
                       {"max_abs", number(t.max_abs)},
                       {"max_ulp", number(t.max_ulp)},
                       {"relative_l2", number(t.relative_l2)}});
  }
  return {{"same", d.same()},
          {"compared", d.compared},
          {"tensors", tensors},
          {"data", to_json(d.data)},
          {"others", to_json(d.others)}};
}

void print(const checkpoint::NoteDifference& n) {
  auto text = [](const std::string& value) { return value.empty() ? "missing" : value; };
  std::cout << fmt::format("  {}{}: {} and {}\n", n.note, n.member, text(n.first), text(n.second));
}

void print(const checkpoint::Differences& d) {
  std::size_t width = 6;
  for (const auto& t : d.tensors) width = std::max(width, t.part.size() + 1 + t.tensor.size());
  if (!d.tensors.empty())
    std::cout << fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:>11}\n", "tensor", width,
                             "elements", "max abs", "max ulp", "relative l2");
  for (const auto& t : d.tensors) {
    std::cout << fmt::format("{:<{}}  ", t.part + ":" + t.tensor, width)
              << (t.kind.empty() ? fmt::format("{:>10}  {:>10.3g}  {:>10.3g}  {:>11.3g}", t.count,
                                               t.max_abs, t.max_ulp, t.relative_l2)
                                 : t.kind)
              << "\n";
  }
  if (!d.data.empty()) std::cout << "state of the data\n";
  for (const auto& n : d.data) print(n);
  if (!d.others.empty()) std::cout << "other notes, which make no difference\n";
  for (const auto& n : d.others) print(n);
  std::cout << (d.same() ? fmt::format("same: {} tensors and the state of the data\n", d.compared)
                         : fmt::format("different: {} tensors, {} members of the data's state\n",
                                       d.tensors.size(), d.data.size()));
}

int diff(const DiffOptions& o) {
  auto first = checkpoint::any_format::find(o.first),
       second = checkpoint::any_format::find(o.second);
  for (const auto* side : {&first, &second}) {
    if (!*side) return fail(side->status());
    note_damaged((*side)->damaged);
  }
  const checkpoint::Differences d = checkpoint::diff(*first->checkpoint, *second->checkpoint);
  if (o.json) {
    std::cout << to_json(d).dump() << "\n";
  } else {
    print(d);
  }
  return d.same() ? kDone : kWorkFailed;
}

/// Adds a subcommand whose options end with --json.
template <class Options>
CommandLine& add(CommandLine& parent, std::function<int()>& action, const std::string& name,
                 const std::string& line, const std::string& text,
                 const std::shared_ptr<Options>& options, int (*run)(const Options&)) {
  CommandLine& command = parent.add_subcommand(name, line);
  command.description(text);
  command.add_flag("--json", options->json, "print one JSON object instead");
  command.callback([options, run, &action] { action = [options, run] { return run(*options); }; });
  return command;
}

constexpr const char* kPath = "a checkpoint's folder, or a run's, whose newest whole one is taken";

}  // namespace

void add_checkpoint(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("checkpoint", "lists, shows, verifies, compares and converts checkpoints");
  command.description(
      "Lists, shows, verifies, compares and converts checkpoints: Strata's own, Orbax's "
      "directories, "
      "safetensors and GGUF files.\n\n"
      "Example:\n  strata checkpoint list runs/first\n  strata checkpoint verify runs/first\n  "
      "strata checkpoint diff runs/first runs/second\n  strata checkpoint convert runs/first "
      "out/400 "
      "--to orbax\n");
  command.require_subcommand();

  auto l = std::make_shared<ListOptions>();
  add(command, action, "list", "the checkpoints of a run",
      "Lists the checkpoints of a run: step, time, size, loss, and whether every byte is as it was "
      "written.\n\n"
      "Example:\n  strata checkpoint list runs/first\n",
      l, list)
      .add_option("RUN", l->path, "a run's folder, or the folder of its checkpoints")
      .required();

  auto s = std::make_shared<ShowOptions>();
  add(command, action, "show", "what a checkpoint holds",
      "Shows what a checkpoint holds: configuration, state of the data, and each tensor's type, "
      "size and norms.\n\n"
      "Example:\n  strata checkpoint show runs/first/checkpoints/400\n  strata checkpoint show "
      "runs/first --json\n",
      s, show)
      .add_option("CHECKPOINT", s->path, kPath)
      .required();

  auto v = std::make_shared<VerifyOptions>();
  add(command, action, "verify", "reads every byte",
      "Reads every byte of checkpoints and compares it with their checksums. Exit status: 0 all "
      "are whole; 1 one is damaged, and each\n"
      "file and tensor that is not as it was written is named; 2 there is none.\n\n"
      "Example:\n  strata checkpoint verify runs/first\n  strata checkpoint verify "
      "runs/first/checkpoints/400\n",
      v, verify)
      .add_option("PATH", v->paths,
                  "checkpoints' folders, or runs', all of whose checkpoints are read")
      .required();

  auto d = std::make_shared<DiffOptions>();
  CommandLine& compare = add(command, action, "diff", "where two checkpoints differ",
                             "Compares two checkpoints. Exit status: 0 every tensor and the state "
                             "of the data are the same bits; 1 they differ, and what\n"
                             "differs is listed with its largest absolute and ulp distance and "
                             "relative L2 norm; 2 one cannot be read.\n\n"
                             "Example:\n  strata checkpoint diff runs/first runs/second\n  strata "
                             "checkpoint diff a/checkpoints/400 b/checkpoints/400 --json\n",
                             d, diff);
  compare.add_option("A", d->first, kPath).required();
  compare.add_option("B", d->second, kPath).required();
  add_checkpoint_writers(command, action);
}

}  // namespace strata::cli
