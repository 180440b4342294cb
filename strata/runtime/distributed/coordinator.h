// What process 0 keeps for all: a store of keys and values, barriers, and who is alive.
//
//   auto c = Coordinator::start({.host = "", .port = 63213, .processes = 4});    // in process 0
//   auto m = Member::join({.host = "node0", .port = 63213, .processes = 4, .process = 2});
//   (*m)->set("tuned", "128"); (*m)->get("tuned", 5s); (*m)->barrier("ready", 5s);
//
// A process that is dead (its connection closed without a word, or nothing was heard from it for
// `silence`) is named to all others, and ends their waiting here. Source: JAX's coordination
// service. Plain TCP, for a network that is trusted, as there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "strata/runtime/distributed/wire.h"

namespace strata::runtime::distributed {

using Milliseconds = std::chrono::milliseconds;

/// The service. It ends with this.
class Coordinator {
 public:
  struct Options {
    std::string host = {};  // empty: at every address of the machine
    int port = 0;           // 0: any
    int processes = 1;
    Milliseconds silence{10000};
  };
  /// Codes: io where it cannot listen.
  static Result<std::unique_ptr<Coordinator>> start(const Options& options);
  ~Coordinator();
  int port() const { return port_; }

 private:
  struct Connection {
    explicit Connection(int fd) : wire(fd) {}
    Wire wire;
    int process = -1;  // until it has said which
    Clock::time_point heard = Clock::now();
  };
  struct Waiter {
    Connection* who;
    std::uint64_t id;
    Clock::time_point until;
    std::int64_t waits_ms;
  };
  Coordinator(Options options, int fd);
  void accept_all();
  void look_at_clock();
  void on_message(Connection& from, Wire::Frame frame);
  void greet(Connection& from, WordReader& words);
  void ask(Connection& from, std::uint32_t kind, WordReader& words);
  void answer(const Waiter& to, Code code, std::string_view text);
  void come(const std::string& barrier, const Waiter& waiter);
  /// Nothing more comes from the process: it has left, or died of `why`.
  void gone(int process, const std::string& why);
  /// "processes 2, 3 of 4", of those that are not in `come`.
  std::string missing(const std::set<int>& come) const;

  const Options options_;
  const int fd_, port_;
  const std::string token_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<int, Connection*> members_;
  std::map<int, std::string> gone_;  // why; empty for those that left
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<Waiter>> reads_;     // by the key that they wait for
  std::map<std::string, std::vector<Waiter>> barriers_;  // those that have come
  std::vector<Waiter> leaving_;
  std::thread accepting_, clock_;
};

/// A process, as it talks to the coordinator. Thread-safe.
class Member {
 public:
  struct Options {
    std::string host;
    int port = 0;
    int processes = 1, process = 0;
    Milliseconds timeout{300000}, silence{10000};
    /// Called on another thread for each process that has died.
    std::function<void(int process, const std::string& why)> on_death = {};
  };
  /// Codes: cancelled where no coordinator answers in time; invalid where it refuses.
  static Result<std::unique_ptr<Member>> join(const Options& options);
  ~Member();

  /// Codes of all: cancelled with who has died, or when it takes too long.
  /// exists: the key has a value already, and `overwrite` is not asked for.
  Status set(const std::string& key, const std::string& value, bool overwrite = false);
  /// Waits until the key has a value.
  Result<std::string> get(const std::string& key, Milliseconds timeout);
  /// not_found: it has none now.
  Result<std::string> try_get(const std::string& key);
  Status erase(const std::string& key);
  /// Waits until every process has come. Late ones are named.
  Status barrier(const std::string& name, Milliseconds timeout);
  /// Says that this process ends as it should, and waits for the others to do so, or to die.
  Status leave(Milliseconds timeout);

  /// What tells this job's processes from strangers.
  const std::string& token() const { return token_; }
  /// This machine's address as the coordinator sees it.
  const std::string& own_address() const { return own_address_; }

 private:
  Member(Options options, int fd);
  Result<std::string> asked(std::uint32_t kind, Words words, Milliseconds timeout);
  void on_message(Wire::Frame frame);
  void end(const std::string& why);

  const Options options_;
  const std::string own_address_;
  std::string token_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t asked_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Result<std::string>>> answers_;  // null: not come yet
  std::string ended_;
  bool stopping_ = false;
  Wire wire_;
  std::thread beat_;
};

}  // namespace strata::runtime::distributed
