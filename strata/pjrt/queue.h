// What runs after the call that asked for it: one thread that takes jobs in the order in which they
// came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace strata::pjrt {

/// The thread begins with the first job, and anew in a forked child (what the parent had waiting is
/// the parent's).
class Queue {
 public:
  using Job = std::function<void()>;
  /// Its thread's loops run on so many threads of its own; 0: on the process's.
  explicit Queue(int threads = 0) : threads_(threads) {}
  /// Runs what waits, then ends.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void submit(Job job);
  /// Whether nothing waits and nothing runs: a job done now by the caller is done in order.
  bool idle() const;
  /// Whether this is the queue's thread, which must not wait for its own later jobs.
  bool is_mine() const;

 private:
  void begin();
  void work();

  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::thread thread_;
  int process_ = 0;
  bool running_ = false, ending_ = false;
};

}  // namespace strata::pjrt
