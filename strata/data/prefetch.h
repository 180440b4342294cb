// Batches made ahead of their use by a thread of their own.
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

#include "strata/data/dataset.h"

namespace strata::data {

/// Gives make(first), make(first + 1) ... make(last - 1), in this order, at most `ahead` of them
/// made before they are asked for.
class Prefetch {
 public:
  Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
           std::size_t ahead = 2);
  /// Waits for the batch that is being made, and for no other.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next batch. What `make` threw is thrown here, in that batch's turn, and at each later
  /// call. Needs fewer than last - first calls before.
  Batch operator()();

 private:
  void run(std::int64_t first, std::int64_t last);
  std::function<Batch(std::int64_t)> make_;
  const std::size_t ahead_;
  std::int64_t left_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace strata::data
