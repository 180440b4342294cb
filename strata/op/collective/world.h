// Several processes of one program under reference evaluation, and the host they share.
//
//   World world;
//   world.infeed.push_back({batch});
//   run_grid(world, 2, 1, [&](Process& p) { results[p.id().replica] = evaluate(f.body, arguments,
//   p); });
//
// A grid runs one process at a time and changes over only where a process has to wait for another
// (collective operations, recv), in the order of their ids. So a program with effects does the same
// in each run, and processes that wait for each other for ever are found at once and told, not
// timed.
#pragma once

#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

/// The host's side: what evaluations read from it and leave to it.
struct World {
  std::deque<Literals> infeed;    // each infeed takes the first
  std::vector<Literals> outfeed;  // each outfeed adds one
  std::map<std::int64_t, std::deque<Literals>>
      channels;  // sent and not yet received, by channel id
  std::function<void(const std::string&)>
      print;  // takes what interpreter.print prints; empty: stdout
};

/// StableHLO's process_id.
struct ProcessId {
  std::int64_t replica = 0, partition = 0;
  auto operator<=>(const ProcessId&) const = default;
};
using ProcessGroup = std::vector<ProcessId>;

/// One process of a grid, as the operations that it runs see it.
class Process {
 public:
  virtual ~Process() = default;
  virtual ProcessId id() const = 0;
  virtual std::int64_t replicas() const = 0;
  virtual std::int64_t partitions() const = 0;
  virtual World& world() = 0;
  /// Gives values to the group, waits until every process of it has come, and returns what each
  /// gave, in the group's order. All must come with the same `what` (the operation, its channel,
  /// anything that has to agree).
  virtual std::vector<Literals> meet(const ProcessGroup& group, const std::string& what,
                                     Literals given) = 0;
  /// Channels keep what was sent in order; receiving waits for it.
  virtual void send(std::int64_t channel, Literals values) = 0;
  virtual Literals receive(std::int64_t channel) = 0;
};

/// Runs `program` as each process of a grid; returns when all have ended. The first error of any
/// process ends all and is thrown here; so does strata::Error when all that have not ended wait.
void run_grid(World& world, std::int64_t replicas, std::int64_t partitions,
              const std::function<void(Process&)>& program);

}  // namespace strata::op
