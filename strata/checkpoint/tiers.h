// Frequent copies in memory or on this machine's disk, rarer ones where they last.
//
//   checkpoint::Tiers tiers({.local = "/dev/shm/run/0", .local_period = 10,
//                            .persistent = "runs/first/checkpoints", .persistent_period = 1000});
//   auto restored = tiers.restore();                     // in every process, before the first step
//   while (step()) if (Status s = tiers.save(snapshot()); !s.ok()) return s;
//   return tiers.wait();
//
// Each process of a job (distributed.h) keeps what it holds in a local folder of its own: /dev/shm,
// which a restart of the process outlives, or a disk. Processes of one `shard` hold the same bits:
// replicas. `restore` takes the newest step that is whole over all processes, which means that of
// each shard some process has it; who lacks it gets it from a replica, over the processes'
// collectives, and keeps it again. Where the local copies make no whole step, or an older one than
// the persistent tier has, all processes take the newest step that is whole for all of them there.
//
// Source: google/orbax, checkpoint/orbax/checkpoint/experimental/emergency (checkpoint_manager.py,
// p2p/). Deviations: a local copy counts where each of its bytes is as it was written; a single
// replica may have a local tier, too; a step that one process cannot take from its peer is taken
// from the persistent tier by all, and none waits for another that gave up; bytes travel by the
// processes' own connections, not by further servers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/writer.h"

namespace strata::checkpoint {

/// Where copies are kept and how often they are made.
struct TierOptions {
  /// This process's folder for frequent copies: no other process's.
  std::string local;
  /// A copy of every step that this divides; 0: none.
  std::int64_t local_period = 0;
  /// So many local ones stay; the newest is not removed before its successor is whole.
  std::int64_t local_keep = 1;
  /// The folder or bucket of the run's checkpoints.
  std::string persistent;
  std::int64_t persistent_period = 0;
  Keep persistent_keep;
  /// Of replicas, who writes the persistent copy.
  bool writes_persistent = true;
  /// What this process holds: those of one name hold the same bits.
  std::string shard = "whole";
  any_format::Format format = any_format::Format::strata;
  /// What a step of the persistent tier needs besides, as load_latest's.
  any_format::Check check = {};
};

/// What `restore` found.
struct Restored {
  enum class From { nowhere, local, peer, persistent };
  From from = From::nowhere;
  std::optional<Checkpoint> checkpoint;
  /// The folder that holds it now.
  std::string folder;
  /// The process that gave it, where a peer did.
  int peer = -1;
  /// What could not be used, newest first, with the reason.
  std::vector<Status> damaged;
};

/// For one thread, on which alone `saved` is called.
class Tiers {
 public:
  /// `saved(folder)` as Writer's, of both tiers.
  explicit Tiers(TierOptions options, std::function<void(const std::string& folder)> saved = {});
  /// The newest step that is whole over all processes. All of them call it. Fails as
  /// any_format::load_latest; throws Error where a process dies meanwhile.
  Result<Restored> restore();
  /// Whether a step is to be saved at all; so no snapshot is made in vain.
  bool due(std::int64_t step) const;
  /// Begins the copies that are due of the checkpoint's step, as Writer::save. With `last`, of a
  /// run's end, the persistent one is always.
  Status save(Checkpoint checkpoint, const Still& still = {}, bool last = false);
  /// As Writer's.
  Status poll();
  Status wait();

 private:
  bool due_locally(std::int64_t step) const;
  bool due_persistently(std::int64_t step) const;
  TierOptions options_;
  Writer local_, persistent_;
};

}  // namespace strata::checkpoint
