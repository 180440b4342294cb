// The devices of one launch of a compiled program, and where they meet: what operations between
// processes are to compiled code (collective_calls.h).
//
//   Lockstep run(1, 8);
//   // on the thread of device d:
//   WithParticipant here({&run, d});
//   executable.run_at(...);
//   run.end(d);
//
// A device that waits sleeps. Devices that come to one meeting for different reasons are told from
// each other, a device that fails or ends while others wait for it ends their waiting, and so does
// a wait of all for each other: each with an error that names who waits for whom, and where.
//
// Devices may be of several processes (peers.h): those of this one meet first, the last of them
// fetches what they want of the others' operands.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/op/collective/peers.h"

namespace strata::op {

/// What a device brings to a meeting: where its operands are, and where its results go.
struct Brought {
  std::vector<void*> operands, results;
};

/// Bytes of an operand: `rows` times `bytes`, the first at `offset`, `stride` apart.
struct Rows {
  std::size_t operand = 0;
  std::int64_t offset = 0, stride = 0, rows = 1, bytes = 0;
  bool operator==(const Rows&) const = default;
};

/// What devices take of each other's operands; between processes nothing else is moved.
struct Wanted {
  /// How large each operand is.
  std::vector<std::int64_t> bytes;
  /// What the device at place `target` of the group takes of what the one at `source` brings.
  std::function<std::vector<Rows>(std::size_t source, std::size_t target)> rows;
};

/// Thread-safe. Devices are numbered replica * partitions + partition.
class Lockstep {
 public:
  /// Without peers all devices are of this process.
  Lockstep(std::int64_t replicas, std::int64_t partitions, std::shared_ptr<Peers> peers = nullptr);
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  std::int64_t replicas() const { return replicas_; }
  std::int64_t partitions() const { return partitions_; }
  int devices() const { return static_cast<int>(replicas_ * partitions_); }
  /// Held while a launch is put into the queues of its devices: programs of several devices wait
  /// for each other, so all devices must take them in one order. One for the process, never
  /// destroyed.
  static std::mutex& order();
  /// Whether the device is of this process.
  bool here(int device) const { return peers_ == nullptr || peers_->here(device); }
  /// Whether some of the group are of other processes.
  bool is_split(const std::vector<int>& group) const;
  /// "device 3", or "device 3 (replica 1, partition 1)" where there are several replicas, or
  /// "device 3 of process 1".
  std::string name(int device) const;

  /// Waits until every device of `group`, which holds `device`, has come with the same `what`, and
  /// gives what each brought, in the group's order: good until `device` comes to a meeting of the
  /// group again. What a device brings stays as it is until all have come to `leave`. Of devices of
  /// other processes it gives copies of operands, of which what is `wanted` is there, and no
  /// results.
  Result<std::span<const Brought>> meet(int device, const std::vector<int>& group,
                                        const std::string& what, Brought brought,
                                        const Wanted& wanted = {});
  /// Waits until all of the group that are of this process have come here.
  Status leave(int device, const std::vector<int>& group, const std::string& what);

  /// The device has done its part, or failed with `why`: whoever waits for it, or comes to, hears
  /// so. Once for each device.
  void end(int device, const std::string& why = "");

 private:
  struct Meeting {
    std::vector<Brought> brought;
    std::vector<std::string> what;   // of each place; empty until it has come
    std::size_t come = 0, here = 0;  // how many have come, and how many are of this process
    std::vector<std::unique_ptr<std::byte[]>> fetched;  // what `brought` of others points into
    std::uint64_t turn = 0;
    bool is_fetching = false;  // operands are being read: nobody goes, whatever has failed
    std::condition_variable changed;
  };
  struct Device {
    bool ended = false;
    const std::vector<int>* waits_with = nullptr;  // the group of the meeting that it waits at
    const Meeting* waits_at = nullptr;
  };
  /// Both halves of a meeting: comes, and waits for the others. The last fetches what is wanted.
  Status come(std::unique_lock<std::mutex>& lock, Meeting& m, int device,
              const std::vector<int>& group, const std::string& what, const Wanted* wanted);
  /// Brings what other processes' devices bring; the mutex is not held.
  Status fetch(Meeting& m, const std::vector<int>& group, const std::string& what,
               const Wanted& wanted);
  Meeting& meeting(const std::vector<int>& group);
  /// Ends all waiting.
  void fail(Status why);
  /// Fails when nobody who has not ended can go on.
  void check_progress();

  const std::int64_t replicas_, partitions_;
  const std::shared_ptr<Peers> peers_;
  std::mutex mutex_;
  std::map<std::vector<int>, std::unique_ptr<Meeting>> meetings_;
  std::vector<Device> all_;
  Status failed_;
};

/// A device of a launch, as the code that runs on its thread sees it.
struct Participant {
  Lockstep* run = nullptr;
  int device = 0;
};

/// This thread runs programs as that device while it lives, or as none where `run` is null. They
/// nest.
class WithParticipant {
 public:
  explicit WithParticipant(const Participant& participant);
  ~WithParticipant();
  WithParticipant(const WithParticipant&) = delete;
  WithParticipant& operator=(const WithParticipant&) = delete;

 private:
  Participant here_;
  const Participant* before_;
};
/// Null on a thread that runs as no device.
const Participant* current_participant();

}  // namespace strata::op
