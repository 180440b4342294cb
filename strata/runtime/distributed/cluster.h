// The processes of a job, connected each with each, and launches of programs over them.
//
//   auto cluster = Cluster::join(*find_place({}), {});
//   (*cluster)->member().barrier("ready", 5s);
//   auto peers = (*cluster)->launch({0, 1}, {0, 0, 1, 1}, "step", fingerprint);   // for Lockstep
//
// What ends a wait in a launch, with an error that names the process: it has died (its connections
// closed, or the coordinator heard nothing from it), it has left, its part of the launch failed, it
// runs another program as this launch, or it came to another collective.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "strata/op/collective/peers.h"
#include "strata/runtime/distributed/bulk.h"
#include "strata/runtime/distributed/coordinator.h"
#include "strata/runtime/distributed/place.h"

namespace strata::runtime::distributed {

/// Thread-safe.
class Cluster {
 public:
  struct Options {
    /// How long all may take to come, and to leave.
    Milliseconds timeout{300000}, shutdown_timeout{300000};
    /// After how long a process of which nothing is heard counts as dead.
    Milliseconds silence{10000};
  };
  /// Returns when all processes are there and connected. Codes: cancelled with who did not come in
  /// time; invalid for an address that is none, and what the coordinator refuses.
  static Result<std::unique_ptr<Cluster>> join(const Place& place, const Options& options);
  ~Cluster();

  int process() const { return place_.process; }
  int processes() const { return place_.processes; }
  const Place& place() const { return place_; }
  Member& member() { return *member_; }
  /// "process 2 (pid 4711 on node7)".
  std::string name(int process) const;
  /// "Gloo" or "TCP": what moves the bytes of arrays.
  const char* transport() const { return bulk_ != nullptr ? "Gloo" : "TCP"; }
  /// Whether a process is known to have died, or another one said so of a launch: what fails then
  /// is not the program's mistake.
  bool has_lost_one() const;
  /// Says goodbye to all and waits until they do so, too. Once.
  Status leave();

  /// The next launch over these processes, in ascending order: all of them count launches over
  /// the same processes alike. `of_device[d]` is the process that runs device d, `program` and
  /// `fingerprint` say what it runs.
  std::shared_ptr<op::Peers> launch(std::vector<int> processes, std::vector<int> of_device,
                                    std::string program, std::string fingerprint);

 private:
  class Launch;
  struct Key {
    std::vector<int> processes;
    std::uint64_t number = 0;
    auto operator<=>(const Key&) const = default;
  };
  /// What a process has brought to a meeting.
  struct Message {
    std::string program, fingerprint, what;
    std::size_t bytes = 0;
    std::uint64_t slot = 0;
    std::unique_ptr<std::byte[]> body;
  };
  struct State {
    bool ended = false;
    std::string program;
    Status failed;
    std::map<std::pair<int, std::vector<int>>, std::deque<Message>> inbox;  // by process and group
  };

  Cluster(Place place, Options options) : place_(std::move(place)), options_(options) {}
  Status connect();
  void on_message(int from, Wire::Frame frame);
  void on_end(int process, const std::string& why);
  /// The process will not answer any more.
  void gone(int process, const std::string& why);
  /// Marks the launch, ends its moves and tells its other processes. The mutex is held.
  void fail(const Key& key, State& state, Status why);
  /// Why nothing more comes from the process; empty while something may. The mutex is held.
  std::string end_of(int process) const;
  void send_notices();

  const Place place_;
  const Options options_;
  std::unique_ptr<Coordinator> coordinator_;  // of process 0
  std::unique_ptr<Member> member_;
  std::vector<std::unique_ptr<Wire>> wires_;  // by process; null for the own
  std::vector<std::string> names_;
  std::unique_ptr<Bulk> bulk_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool left_ = false;
  std::map<int, std::string> gone_;  // why
  std::map<std::vector<int>, std::uint64_t> launches_of_;
  std::map<Key, State> launches_;
  std::uint64_t slots_ = 0;
  struct Moving {
    int with;
    Key launch;
  };
  std::map<Move*, Moving> moving_;
  std::deque<std::pair<int, std::string>> notices_;  // failures to tell, and whom
  std::thread notifier_;                             // sends them: nobody waits for that
  bool stopping_ = false;
};

}  // namespace strata::runtime::distributed
