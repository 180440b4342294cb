#include "strata/checkpoint/store/parallel.h"

#include <atomic>
#include <future>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/thread_pool.h"

namespace strata::checkpoint {
namespace {

/// A group of so many bytes, which gives each thread something, waits for no more: the sooner the
/// first one is taken, the longer both stages work at once.
constexpr std::uint64_t kEnough = std::uint64_t{32} << 20;

/// Waits for what takes the bytes, whatever happens: it refers to the caller's variables.
class Taking {
 public:
  ~Taking() {
    if (status_.valid()) status_.wait();
  }
  Status wait() { return status_.valid() ? status_.get() : Status(); }
  void begin(std::function<Status()> f) { status_ = std::async(std::launch::async, std::move(f)); }

 private:
  std::future<Status> status_;
};

}  // namespace

Status for_each(std::int64_t n, const std::function<Status(std::int64_t)>& f) {
  struct Work {
    const std::function<Status(std::int64_t)>& f;
    std::vector<Status> status;
    std::atomic<std::int64_t> failed{std::numeric_limits<std::int64_t>::max()};
  } work{f, std::vector<Status>(static_cast<std::size_t>(n))};
  parallel_for(
      n, 1,
      [](void* ctx, std::int64_t begin, std::int64_t end) {
        Work& w = *static_cast<Work*>(ctx);
        for (std::int64_t i = begin; i < end; ++i) {
          if (i > w.failed.load(std::memory_order_relaxed)) continue;
          Status s = w.f(i);
          if (s.ok()) continue;
          w.status[static_cast<std::size_t>(i)] = std::move(s);
          std::int64_t first = w.failed.load();
          while (i < first && !w.failed.compare_exchange_weak(first, i)) {
          }
        }
      },
      &work);
  const std::int64_t first = work.failed.load();
  return first < n ? std::move(work.status[static_cast<std::size_t>(first)]) : Status();
}

Status in_order(std::int64_t n, const Stages& stages, std::uint64_t most) {
  Taking taking;
  for (std::int64_t begin = 0; begin < n;) {
    // Two groups live at a time: one that is made, and one that is taken.
    std::int64_t end = begin;
    std::uint64_t held = 0;
    do {
      held += stages.bytes(end++);
    } while (end < n && held + stages.bytes(end) <= most / 2 &&
             (held < kEnough || end - begin < num_threads()));
    auto group = std::make_shared<std::vector<Payload>>(static_cast<std::size_t>(end - begin));
    const Status made = for_each(end - begin, [&](std::int64_t i) {
      (*group)[static_cast<std::size_t>(i)] = stages.make(begin + i);
      return Status();
    });
    STRATA_CHECK(made.ok(), "making bytes cannot fail");
    if (Status s = taking.wait(); !s.ok()) return s;
    taking.begin([&stages, group, begin]() -> Status {
      for (std::size_t i = 0; i < group->size(); ++i)
        if (Status s = stages.take(begin + static_cast<std::int64_t>(i), std::move((*group)[i]));
            !s.ok())
          return s;
      return {};
    });
    begin = end;
  }
  return taking.wait();
}

}  // namespace strata::checkpoint
