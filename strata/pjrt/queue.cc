#include "strata/pjrt/queue.h"

#include <unistd.h>

#include <optional>

#include "strata/base/thread_share.h"

namespace strata::pjrt {
namespace {

thread_local const Queue* current = nullptr;

}  // namespace

Queue::~Queue() {
  if (!thread_.joinable()) return;
  if (process_ != getpid()) {  // a child: the thread is not there
    thread_.detach();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (is_mine())
    thread_.detach();
  else
    thread_.join();
}

void Queue::begin() {
  if (process_ == getpid()) return;
  if (thread_.joinable()) thread_.detach();
  jobs_.clear();
  running_ = false;
  process_ = getpid();
  thread_ = std::thread([this] { work(); });
}

void Queue::submit(Job job) {
  {
    std::lock_guard lock(mutex_);
    begin();
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

bool Queue::idle() const {
  std::lock_guard lock(mutex_);
  return (jobs_.empty() && !running_) || process_ != getpid();
}

bool Queue::is_mine() const { return current == this; }

void Queue::work() {
  current = this;
  std::optional<ThreadShare> share;
  if (threads_ > 0) share.emplace(threads_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      running_ = true;
      lock.unlock();
      job();
    }  // what it held goes before the queue is called idle
    lock.lock();
    running_ = false;
  }
}

}  // namespace strata::pjrt
