// Batches made ahead of their use by threads of their own.
//
//   data::Prefetch next([&](std::int64_t step) { return data.batch(step); }, first_step,
//   last_step); for (std::int64_t step = first_step; step < last_step; ++step) use(next());
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "strata/data/dataset.h"

namespace strata::data {

/// How far and by how many threads batches are made ahead. Never changes which batches come, or
/// their order.
struct PrefetchOptions {
  /// Batches made before they are asked for, and threads, at the beginning.
  std::size_t ahead = 2, threads = 1;
  /// How far both may grow: where the user had to wait although every thread was at work, there is
  /// one thread more, and twice as many batches are made ahead.
  std::size_t most_ahead = 2, most_threads = 1;
};

/// Gives make(first), make(first + 1) ... make(last - 1), in this order. With several threads,
/// `make` is called by several at once.
class Prefetch {
 public:
  Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
           PrefetchOptions options);
  Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
           std::size_t ahead = 2);
  /// Waits for the batches that are being made, and for no others.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next batch. What `make` threw is thrown here, in that batch's turn, and at each later
  /// call. Needs fewer than last - first calls before.
  Batch operator()();
  /// What tuning has come to: `ahead` and `threads`.
  PrefetchOptions options() const;

 private:
  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool done = false;
  };
  void run();
  void grow();
  std::function<Batch(std::int64_t)> make_;
  const std::int64_t last_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PrefetchOptions options_;
  std::deque<Slot> slots_;  // of batches begin_ .. next_ - 1
  std::int64_t begin_, next_;
  std::int64_t tuned_;        // the batch before which nothing is tuned
  std::exception_ptr error_;  // thrown already
  bool failed_ = false, stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strata::data
