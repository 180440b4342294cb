#include "strata/data/prefetch.h"

#include <algorithm>

namespace strata::data {

Prefetch::Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
                   std::size_t ahead)
    : make_(std::move(make)),
      ahead_(std::max<std::size_t>(ahead, 1)),
      left_(last - first),
      thread_([this, first, last] { run(first, last); }) {}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetch::run(std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step < last; ++step) {
    Batch batch;
    std::exception_ptr error;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ready_.size() < ahead_; });
      if (stop_) return;
    }
    try {
      batch = make_(step);
    } catch (...) {
      error = std::current_exception();
    }
    {
      std::lock_guard lock(mutex_);
      error_ = error;
      if (!error) ready_.push_back(std::move(batch));
    }
    changed_.notify_all();
    if (error) return;
  }
}

Batch Prefetch::operator()() {
  std::unique_lock lock(mutex_);
  STRATA_CHECK(left_ > 0 || error_, "all batches were taken");
  changed_.wait(lock, [&] { return !ready_.empty() || error_; });
  if (ready_.empty()) std::rethrow_exception(error_);
  Batch out = std::move(ready_.front());
  ready_.pop_front();
  --left_;
  lock.unlock();
  changed_.notify_all();
  return out;
}

}  // namespace strata::data
