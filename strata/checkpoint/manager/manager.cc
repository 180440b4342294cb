#include "strata/checkpoint/manager/manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"

namespace strata::checkpoint {
namespace {

using nlohmann::json;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Whether a folder is what an earlier save or removal left.
Result<bool> is_left_over(const std::string& path) {
  if (!is_object_path(path)) return path.ends_with(orbax::kTemporary);
  const auto known = orbax::is_checkpoint(path);
  if (!known || !*known) return known;
  return orbax::is_unfinished(path);
}

/// Removes what earlier saves and removals left.
Status remove_unfinished(const std::string& root) {
  const bool bucket = is_object_path(root);
  auto names = list_folder(root);
  if (!names) return bucket && names.status().code() == Code::not_found ? Status() : names.status();
  for (const std::string& name : *names) {
    const std::string path = root + "/" + name;
    const auto left = is_left_over(path);
    if (!left) return left.status();
    if (!*left) continue;
    if (Status s = bucket ? orbax::remove(path) : remove_all(path); !s.ok()) return s;
  }
  return {};
}

constexpr const char* kRootMetadata = "/metadata/_ROOT_METADATA";

/// Writes the root metadata (RootMetadata of Orbax's manager), unless the folder has one.
Status add_metadata(const std::string& root, const std::string& metadata) {
  const json custom = json::parse(metadata, nullptr, false);
  if (!custom.is_object()) throw Error("Manager::open", "metadata is no JSON object: {}", metadata);
  const auto there = is_there(root + kRootMetadata);
  if (!there || *there) return there.status();
  if (Status s = make_folders(root + "/metadata"); !s.ok()) return s;
  const json all = {{"internal_metadata", json::object()}, {"custom_metadata", custom}};
  return write_file_atomic(root + kRootMetadata, all.dump());
}

bool is_ready(const std::future<Status>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Removes a step, or moves it to another folder, in the place of one that is there.
Status put_away(const std::string& folder, const std::string& aside) {
  if (aside.empty() || is_object_path(folder)) return orbax::remove(folder);
  const std::size_t slash = folder.rfind('/');
  const std::string beside = folder.substr(0, slash + 1) + aside;
  if (Status s = make_folders(beside); !s.ok()) return s;
  const std::string to = beside + folder.substr(slash);
  if (Status s = remove_all(to); !s.ok()) return s;
  return rename_synced(folder, to);
}

/// A save, told as soon as it is durable, and the removals that follow it.
Status save_and_remove(std::promise<Status> saved, const std::string& path,
                       orbax::Contents contents, const orbax::SaveOptions& layout,
                       const std::vector<std::string>& old, const std::string& aside) {
  Status status;
  try {
    status = orbax::save(path, contents, layout);
  } catch (const Error& e) {  // a mistake of the caller's
    status = Status(Code::invalid, "{}", e.what());
  }
  contents = {};  // its memory goes before anybody hears of it
  const bool durable = status.ok();
  saved.set_value(std::move(status));
  for (const std::string& folder : old)
    if (Status s = durable ? put_away(folder, aside) : Status(); !s.ok()) return s;
  return {};
}

/// The metrics that a step was saved with.
std::optional<std::map<std::string, double>> metrics_of(const orbax::Directory& directory) {
  const auto found = directory.json().find("metrics");
  if (found == directory.json().end()) return {};
  const json all = json::parse(found->second, nullptr, false);
  if (!all.is_object()) return {};
  std::map<std::string, double> out;
  for (const auto& [name, value] : all.items())
    if (value.is_number()) out[name] = value.get<double>();
  return out;
}

}  // namespace

Result<Manager> Manager::open(const std::string& root, ManagerOptions options) {
  Manager out(root, std::move(options));
  if (!out.options_.read_only && out.options_.create)
    if (Status s = make_folders(root); !s.ok()) return s;
  if (!out.options_.read_only)
    if (Status s = remove_unfinished(root); !s.ok()) return s;
  if (!out.options_.read_only && !out.options_.metadata.empty())
    if (Status s = add_metadata(root, out.options_.metadata); !s.ok()) return s;
  auto steps = orbax::steps(root);
  if (!steps) return steps.status();
  for (const auto& [step, folder] : *steps) {
    auto directory = orbax::Directory::open(folder);
    if (!directory) return directory.status();
    out.folders_[step] = folder;
    out.infos_.push_back({step, directory->commit_time(), metrics_of(*directory)});
  }
  return out;
}

Result<std::string> Manager::metadata() const {
  const auto text = read_file(root_ + kRootMetadata);
  if (!text && text.status().code() == Code::not_found) return std::string("{}");
  if (!text) return text.status();
  const json all = json::parse(*text, nullptr, false);
  if (!all.is_object() || !all.contains("custom_metadata") || !all["custom_metadata"].is_object())
    return Status(Code::corrupt, "{}{}: is no metadata", root_, kRootMetadata);
  return all["custom_metadata"].dump();
}

std::string Manager::folder(std::int64_t step) const {
  if (const auto found = folders_.find(step); found != folders_.end()) return found->second;
  const std::string prefix = options_.prefix.empty() ? "" : options_.prefix + "_";
  return fmt::format("{}/{}{:0{}}", root_, prefix, step, options_.digits);
}

bool Manager::should_save(std::int64_t step) const {
  if (options_.read_only || (!infos_.empty() && infos_.back().step >= step)) return false;
  if (!options_.decision) return true;
  SaveQuestion question{.step = step, .saving = being_saved_.has_value(), .now = now()};
  if (!infos_.empty()) question.latest = infos_.back();
  if (being_saved_) question.saving = !is_ready(tasks_.back().saved);
  return options_.decision(question);
}

std::vector<std::int64_t> Manager::superfluous(const std::vector<CheckpointInfo>& infos,
                                               std::int64_t added) const {
  std::vector<std::int64_t> out;
  if (!options_.preservation) return out;
  const std::vector<bool> kept = options_.preservation(infos, now());
  for (std::size_t i = 0; i < infos.size(); ++i)  // the new one stays in any case
    if (!kept[i] && infos[i].step != added) out.push_back(infos[i].step);
  return out;
}

Status Manager::save(std::int64_t step, orbax::Contents contents,
                     std::optional<std::map<std::string, double>> metrics) {
  if (options_.read_only)
    return Status(Code::invalid, "{}: the manager was opened for reading", root_);
  if (step < 0) throw Error("Manager::save", "step {} is negative", step);
  if (Status s = settle(); !s.ok()) return s;
  if (Status s = removals(/*all=*/false); !s.ok()) return s;
  const std::string path = folder(step);
  if (std::any_of(infos_.begin(), infos_.end(), [&](auto& c) { return c.step == step; }))
    return Status(Code::exists, "{}: the step is there", path);
  for (const Task& task : tasks_)  // a step that was removed, and is saved again
    if (std::find(task.folders.begin(), task.folders.end(), path) != task.folders.end())
      task.removed.wait();
  if (metrics) contents.json["metrics"] = json(*metrics).dump();
  std::vector<CheckpointInfo> infos = infos_;
  infos.push_back({step, now(), std::move(metrics)});
  std::sort(infos.begin(), infos.end(), [](auto& a, auto& b) { return a.step < b.step; });
  going_ = superfluous(infos, step);  // may throw: a metric that is missing
  infos_ = std::move(infos);
  being_saved_ = step;
  Task task;
  for (std::int64_t old : going_) task.folders.push_back(folder(old));
  std::promise<Status> saved;
  task.saved = saved.get_future();
  task.removed = std::async(std::launch::async, save_and_remove, std::move(saved), path,
                            std::move(contents), options_.layout, task.folders, options_.aside);
  tasks_.push_back(std::move(task));
  return options_.asynchronous ? Status() : wait();
}

Status Manager::settle() {
  if (!being_saved_) return {};
  Status status = tasks_.back().saved.get();
  std::erase_if(infos_, [&](const CheckpointInfo& c) {
    if (!status.ok()) return c.step == *being_saved_;
    return std::find(going_.begin(), going_.end(), c.step) != going_.end();
  });
  if (status.ok())
    for (std::int64_t old : going_) folders_.erase(old);
  being_saved_.reset();
  going_.clear();
  return status;
}

Status Manager::removals(bool all) {
  Status first;
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (!all && !is_ready(task->removed)) {
      ++task;
      continue;
    }
    Status s = task->removed.get();
    if (first.ok()) first = std::move(s);
    task = tasks_.erase(task);
  }
  return first;
}

Status Manager::wait() {
  Status saved = settle();
  Status removed = removals(/*all=*/true);
  return saved.ok() ? removed : saved;
}

std::optional<std::int64_t> Manager::latest_step() const {
  if (infos_.empty()) return {};
  return infos_.back().step;
}

std::optional<std::int64_t> Manager::best_step(const std::string& metric, bool smallest) const {
  std::optional<std::int64_t> out;
  double best = 0;
  for (const CheckpointInfo& c : infos_) {
    if (!c.metrics || !c.metrics->count(metric)) continue;
    const double value = smallest ? -c.metrics->at(metric) : c.metrics->at(metric);
    if (out && value < best) continue;
    out = c.step;
    best = value;
  }
  return out;
}

Result<orbax::Directory> Manager::directory(std::int64_t step) const {
  return orbax::Directory::open(folder(step));
}

Status Manager::remove(std::int64_t step) {
  if (Status s = wait(); !s.ok()) return s;
  const std::string path = folder(step);
  const auto there = is_there(path);
  if (!there) return there.status();
  if (!*there) return Status(Code::not_found, "{}: no such step", path);
  std::erase_if(infos_, [&](const CheckpointInfo& c) { return c.step == step; });
  folders_.erase(step);
  return put_away(path, options_.aside);
}

}  // namespace strata::checkpoint
