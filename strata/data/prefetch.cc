#include "strata/data/prefetch.h"

#include <algorithm>
#include <utility>

#include "strata/base/error.h"

namespace strata::data {

Prefetch::Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
                   PrefetchOptions o)
    : make_(std::move(make)), last_(last), begin_(first), next_(first) {
  o.ahead = std::max<std::size_t>(o.ahead, 1);
  o.threads = std::max<std::size_t>(o.threads, 1);
  options_ = o;
  tuned_ = first + static_cast<std::int64_t>(o.ahead);
  for (std::size_t i = 0; i < o.threads; ++i) threads_.emplace_back([this] { run(); });
}

Prefetch::Prefetch(std::function<Batch(std::int64_t)> make, std::int64_t first, std::int64_t last,
                   std::size_t ahead)
    : Prefetch(std::move(make), first, last, {.ahead = ahead, .most_ahead = ahead}) {}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Prefetch::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(
        lock, [&] { return stop_ || failed_ || next_ == last_ || slots_.size() < options_.ahead; });
    if (stop_ || failed_ || next_ == last_) return;
    const std::int64_t step = next_++;
    slots_.emplace_back();
    lock.unlock();
    Slot made;
    made.done = true;
    try {
      made.batch = make_(step);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    failed_ = failed_ || made.error;
    slots_[static_cast<std::size_t>(step - begin_)] = std::move(made);
    changed_.notify_all();
  }
}

void Prefetch::grow() {
  // What tuning added is judged only once it had time to make batches ahead.
  if (begin_ < tuned_ || next_ == last_) return;
  const auto making = static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.done; }));
  if (making < options_.threads && slots_.size() < options_.ahead) return;
  if (options_.ahead < options_.most_ahead)
    options_.ahead = std::min(2 * options_.ahead, options_.most_ahead);
  if (options_.threads < options_.most_threads) {
    ++options_.threads;
    threads_.emplace_back([this] { run(); });
  }
  tuned_ = begin_ + 2 * static_cast<std::int64_t>(options_.ahead);
  changed_.notify_all();
}

Batch Prefetch::operator()() {
  std::unique_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  STRATA_CHECK(begin_ < last_, "all batches were taken");
  const auto ready = [&] { return !slots_.empty() && slots_.front().done; };
  if (!ready()) grow();
  changed_.wait(lock, ready);
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  ++begin_;
  error_ = slot.error;
  if (error_) std::rethrow_exception(error_);
  lock.unlock();
  changed_.notify_all();
  return std::move(slot.batch);
}

PrefetchOptions Prefetch::options() const {
  std::lock_guard lock(mutex_);
  return options_;
}

}  // namespace strata::data
