// The checkpoints of a program below one folder, as Orbax's CheckpointManager keeps them.
//
//   auto manager = checkpoint::Manager::open("run", {.preservation = checkpoint::latest_n(3)});
//   if (manager->should_save(step))
//     manager->save(step, {.items = {{"state", leaves}}, .json = {{"meta", "{}"}},
//                          .files = {{"data", {{"process_0-of-1.json", iterator_state}}}}});
//   ...
//   manager->wait();
//   auto tree = manager->directory(*manager->latest_step())->tree("state");
//
// All items of a step are there or none. A save shares its arrays' memory and is written in the
// background, one at a time: the caller is blocked for the list of leaves alone, whatever their
// size. What is no longer kept is removed there too, after the new one is durable; the next save
// does not wait for that. Source: google/orbax, checkpoint/orbax/checkpoint/checkpoint_manager.py.
#pragma once

#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/checkpoint/manager/policy.h"
#include "strata/checkpoint/orbax/directory.h"

namespace strata::checkpoint {

struct ManagerOptions {
  /// Steps are called PREFIX_N, with a prefix; N has at least so many digits.
  std::string prefix;
  int digits = 0;
  SavePolicy decision;              // none: every step
  PreservationPolicy preservation;  // none: all
  bool asynchronous = true;
  /// Nothing is written or removed.
  bool read_only = false;
  /// The root's folder is made where there is none; else Code::not_found.
  bool create = true;
  /// Old steps are moved to this folder below the root instead of being removed: Orbax's
  /// todelete_subdir. Of a disk alone: a bucket's are removed.
  std::string aside;
  /// A JSON object of the whole folder, written where it has none yet: Orbax's root metadata.
  std::string metadata;
  orbax::SaveOptions layout;
};

/// For one thread.
class Manager {
 public:
  /// Makes the folder, reads which steps it has, and removes what earlier saves and removals left
  /// unfinished.
  static Result<Manager> open(const std::string& root, ManagerOptions options = {});
  Manager(Manager&&) = default;

  /// Whether the decision is to save a step; never at or before the newest one.
  bool should_save(std::int64_t step) const;
  /// Waits for the save before, not for removals, and gives its failure: then nothing begins, and
  /// nothing was removed; a removal that failed meanwhile is told so too. Then begins this one, and
  /// decides what goes when it is durable. `metrics` are what best_n ranks by. Code::exists for a
  /// step that is there, Code::invalid where the manager only reads.
  Status save(std::int64_t step, orbax::Contents contents,
              std::optional<std::map<std::string, double>> metrics = {});
  /// Waits for the save under way, and for all removals. A save that failed leaves the list of
  /// steps.
  Status wait();

  /// The checkpoints, in the order of their steps, one that is being written among them.
  const std::vector<CheckpointInfo>& checkpoints() const { return infos_; }
  std::optional<std::int64_t> latest_step() const;
  /// The step with the largest metric, or the smallest; the later of two.
  std::optional<std::int64_t> best_step(const std::string& metric, bool smallest = false) const;
  /// A step for reading. Code::not_found where there is none.
  Result<orbax::Directory> directory(std::int64_t step) const;
  /// The JSON object of the whole folder; "{}" where there is none. Code::corrupt for a damaged
  /// one.
  Result<std::string> metadata() const;
  /// The folder of a step.
  std::string folder(std::int64_t step) const;
  /// Removes a step. Code::not_found where there is none.
  Status remove(std::int64_t step);

 private:
  Manager(std::string root, ManagerOptions options)
      : root_(std::move(root)), options_(std::move(options)) {}
  /// A save, and the removals behind it.
  struct Task {
    std::future<Status> saved;
    std::vector<std::string> folders;  // that are removed
    std::future<Status> removed;       // of std::async: its destructor waits
  };
  /// Those that need not stay once step `added`, which is in the list, is durable.
  std::vector<std::int64_t> superfluous(const std::vector<CheckpointInfo>& infos,
                                        std::int64_t added) const;
  /// Waits for the save under way and writes down what came of it.
  Status settle();
  /// What came of removals: of all, or of those that are over.
  Status removals(bool all);

  std::string root_;
  ManagerOptions options_;
  std::vector<CheckpointInfo> infos_;
  std::map<std::int64_t, std::string> folders_;  // of steps that were found
  std::optional<std::int64_t> being_saved_;
  std::vector<std::int64_t> going_;  // steps that leave the list when that one is durable
  std::list<Task> tasks_;            // the last one's save is under way where `being_saved_` is
};

}  // namespace strata::checkpoint
