#include "strata/op/collective/world.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "strata/base/error.h"

namespace strata::op {
namespace {

/// Thrown through a process that ends because another one failed.
struct Abandoned {};

std::string text(const ProcessId& id) { return fmt::format("({}, {})", id.replica, id.partition); }

class Member;

/// Whose turn it is, and where processes meet.
class Grid {
 public:
  Grid(World& world, std::int64_t replicas, std::int64_t partitions)
      : world(world),
        replicas(replicas),
        partitions(partitions),
        members_(static_cast<std::size_t>(replicas * partitions)) {}

  void run(const std::function<void(Process&)>& program);
  /// Gives the turn to others until `ready` holds; `waits` says for what, in messages.
  void wait(std::size_t self, const std::string& waits, const std::function<bool()>& ready);

  /// One coming together of a group: what the processes that have come gave.
  struct Meeting {
    std::map<ProcessId, Literals> given;
    std::size_t left = 0;
  };
  std::deque<Meeting>& meetings(const ProcessGroup& group, const std::string& what) {
    return meetings_[{group, what}];
  }
  std::size_t place(const ProcessId& id) const {
    return static_cast<std::size_t>(id.replica * partitions + id.partition);
  }

  World& world;
  const std::int64_t replicas, partitions;

 private:
  struct State {
    bool done = false;
    const std::function<bool()>* ready = nullptr;
    std::string waits;
  };

  void thread(std::size_t self, const std::function<void(Process&)>& program);
  void pass_on(std::size_t from);
  void fail(std::exception_ptr error);
  ProcessId id(std::size_t place) const {
    return {static_cast<std::int64_t>(place) / partitions,
            static_cast<std::int64_t>(place) % partitions};
  }
  std::string stuck() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::exception_ptr error_;
  std::vector<State> members_;
  std::map<std::pair<ProcessGroup, std::string>, std::deque<Meeting>> meetings_;
};

class Member : public Process {
 public:
  Member(Grid& grid, ProcessId id) : grid_(grid), id_(id) {}
  ProcessId id() const override { return id_; }
  std::int64_t replicas() const override { return grid_.replicas; }
  std::int64_t partitions() const override { return grid_.partitions; }
  World& world() override { return grid_.world; }

  std::vector<Literals> meet(const ProcessGroup& group, const std::string& what,
                             Literals given) override {
    std::deque<Grid::Meeting>& meetings = grid_.meetings(group, what);
    std::size_t mine = 0;  // the first to which this process has not come: earlier ones may still
                           // have to be left by others
    while (mine < meetings.size() && meetings[mine].given.count(id_) != 0) ++mine;
    if (mine == meetings.size()) meetings.emplace_back();
    Grid::Meeting* meeting =
        &meetings[mine];  // deques keep their elements in place while others join at the end
    meeting->given.emplace(id_, std::move(given));
    grid_.wait(grid_.place(id_), fmt::format("{} of {}", what, group_text(group)),
               [&] { return meeting->given.size() == group.size(); });
    std::vector<Literals> out;
    for (const ProcessId& p : group) out.push_back(meeting->given.at(p));
    ++meeting->left;
    while (!meetings.empty() && meetings.front().left == group.size()) meetings.pop_front();
    return out;
  }

  void send(std::int64_t channel, Literals values) override {
    grid_.world.channels[channel].push_back(std::move(values));
  }
  Literals receive(std::int64_t channel) override {
    std::deque<Literals>& queue = grid_.world.channels[channel];
    grid_.wait(grid_.place(id_), fmt::format("recv on channel {}", channel),
               [&] { return !queue.empty(); });
    Literals out = std::move(queue.front());
    queue.pop_front();
    return out;
  }

 private:
  static std::string group_text(const ProcessGroup& group) {
    std::string out;
    for (const ProcessId& p : group) out += (out.empty() ? "" : " ") + text(p);
    return out;
  }
  Grid& grid_;
  ProcessId id_;
};

void Grid::run(const std::function<void(Process&)>& program) {
  if (members_.size() == 1) {  // nobody to wait for: on the caller's own thread
    Member alone(*this, {});
    return program(alone);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < members_.size(); ++i)
    threads.emplace_back([this, i, &program] { thread(i, program); });
  for (std::thread& t : threads) t.join();
  if (error_) std::rethrow_exception(error_);
}

void Grid::thread(std::size_t self, const std::function<void(Process&)>& program) {
  bool has_begun = false;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == self || error_; });
    has_begun = !error_;
  }
  std::exception_ptr mine;
  try {
    Member member(*this, id(self));
    if (has_begun) program(member);
  } catch (const Abandoned&) {
  } catch (...) {
    mine = std::current_exception();
  }
  std::lock_guard lock(mutex_);
  members_[self].done = true;
  if (mine) fail(mine);
  if (!error_) pass_on(self);
}

void Grid::wait(std::size_t self, const std::string& waits, const std::function<bool()>& ready) {
  std::unique_lock lock(mutex_);
  if (ready()) return;
  members_[self].ready = &ready;
  members_[self].waits = waits;
  if (members_.size() == 1) throw Error("run_parallel", "waits for ever: {}", stuck());
  pass_on(self);
  changed_.wait(lock, [&] { return turn_ == self || error_; });
  members_[self].ready = nullptr;
  if (error_) throw Abandoned();
}

/// The turn goes to the next process that can go on; with the mutex held.
void Grid::pass_on(std::size_t from) {
  bool all_done = true;
  for (std::size_t i = 1; i <= members_.size(); ++i) {
    std::size_t next = (from + i) % members_.size();
    if (members_[next].done) continue;
    all_done = false;
    if (members_[next].ready != nullptr && !(*members_[next].ready)()) continue;
    turn_ = next;
    changed_.notify_all();
    return;
  }
  if (!all_done)
    fail(std::make_exception_ptr(Error("run_parallel", "processes wait for ever: {}", stuck())));
}

void Grid::fail(std::exception_ptr error) {
  if (!error_) error_ = error;
  changed_.notify_all();
}

std::string Grid::stuck() const {
  std::string out;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!members_[i].done)
      out += fmt::format("{}{} in {}", out.empty() ? "" : "; ", text(id(i)), members_[i].waits);
  return out;
}

}  // namespace

void run_grid(World& world, std::int64_t replicas, std::int64_t partitions,
              const std::function<void(Process&)>& program) {
  STRATA_CHECK(replicas > 0 && partitions > 0, "a grid of {} by {} processes", replicas,
               partitions);
  if (replicas * partitions > 4096)
    throw Error("run_parallel", "a grid of {} by {} processes is too large", replicas, partitions)
        .unsupported();
  Grid(world, replicas, partitions).run(program);
}

}  // namespace strata::op
