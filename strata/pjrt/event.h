// When something is done, and how it ended.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "strata/pjrt/error.h"

namespace strata::pjrt {

/// Set once. Shared by all that wait for the same thing; thread-safe.
class Ready {
 public:
  using Waiter = std::function<void(const Problem&)>;
  /// One that is set from the start.
  static std::shared_ptr<Ready> now(Problem problem = {});

  /// A second call changes nothing. Waiters run on this thread, outside any lock.
  void set(Problem problem = {});
  bool is_set() const;
  /// Blocks until set; null when all went well.
  const PJRT_Error* wait();
  /// How it ended, for one that is set.
  const Problem& outcome() const { return problem_; }
  /// Runs it when set: at once, on this thread, if it is.
  void then(Waiter waiter);

 private:
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  std::atomic<bool> done_ = false;
  Problem problem_;
  std::vector<Waiter> waiters_;
};

}  // namespace strata::pjrt

struct PJRT_Event : PJRT_Object {
  std::shared_ptr<strata::pjrt::Ready> ready;
};
