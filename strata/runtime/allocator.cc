#include "strata/runtime/allocator.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "strata/base/memory/out_of_memory.h"
#include "strata/base/recycle.h"
#include "strata/runtime/live_blocks.h"

namespace strata::runtime {
namespace {

constexpr std::size_t kAlign = 64, kSmall = 1024, kHuge = std::size_t{2} << 20,
                      kTold = std::size_t{1} << 20;

class Pool {
 public:
  static Pool& global() {
    static Pool* pool = new Pool;  // never destroyed: handles may outlive static destruction
    return *pool;
  }

  std::byte* take(std::size_t size) {
    if (size <= kSmall) {
      auto* p = static_cast<std::byte*>(take_recycled(size));
      count(size);
      return p;
    }
    std::lock_guard lock(mutex_);
    auto& list = free_[size];
    if (!list.empty()) {
      std::byte* p = list.back();
      list.pop_back();
      cached_ -= size;
      count(size);
      if (size >= kTold) ++large_[size];
      return p;
    }
    void* p = fresh(size);
    if (p == nullptr) {  // what waits to be used again may be all that is missing
      free_all();
      p = fresh(size);
    }
    if (p == nullptr) throw OutOfMemory(size);
    if (size >= kHuge) madvise(p, (size + kHuge - 1) / kHuge * kHuge, MADV_HUGEPAGE);
    count(size);
    if (size >= kTold) ++large_[size];
    return static_cast<std::byte*>(p);
  }

  void give(std::byte* p, std::size_t size) {
    in_use_.fetch_sub(size, std::memory_order_relaxed);
    if (size <= kSmall) return give_recycled(p, size);
    std::lock_guard lock(mutex_);
    if (size >= kTold) --large_[size];
    if (cached_ + size > limit_) {
      std::free(p);
      return;
    }
    free_[size].push_back(p);
    cached_ += size;
  }

  MemoryCounts counts() {
    std::lock_guard lock(mutex_);
    return {in_use_.load(), cached_, peak_.load()};
  }
  void release() {
    std::lock_guard lock(mutex_);
    free_all();
  }
  std::string largest() {
    std::lock_guard lock(mutex_);
    std::string out;
    int told = 0;
    for (auto it = large_.rbegin(); it != large_.rend() && told < 5; ++it) {
      if (it->second == 0) continue;
      out += fmt::format("{}{} x {}", told++ == 0 ? "; the largest arrays in memory: " : ", ",
                         it->second, bytes_text(it->first));
    }
    return out;
  }

 private:
  static void* fresh(std::size_t size) {
    return std::aligned_alloc(size >= kHuge ? kHuge : kAlign,
                              size >= kHuge ? (size + kHuge - 1) / kHuge * kHuge : size);
  }
  void free_all() {
    for (auto& [size, list] : free_)
      for (std::byte* p : list) std::free(p);
    free_.clear();
    cached_ = 0;
  }
  Pool() {
    if (const char* text = std::getenv("STRATA_CACHED_BYTES"))
      limit_ = std::strtoull(text, nullptr, 10);
  }
  void count(std::size_t size) {
    const std::size_t now = in_use_.fetch_add(size, std::memory_order_relaxed) + size;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::size_t> in_use_{0}, peak_{0};
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
  std::map<std::size_t, std::int64_t> large_;  // blocks in use of kTold bytes or more, by size
  std::size_t cached_ = 0, limit_ = std::size_t{4} << 30;
};

}  // namespace

std::shared_ptr<std::byte[]> allocate(std::size_t bytes) {
  std::size_t size = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  return {Pool::global().take(size), [size](std::byte* p) { Pool::global().give(p, size); },
          Recycled<std::byte>()};
}

MemoryCounts memory_counts() { return Pool::global().counts(); }
void release_cached() { Pool::global().release(); }
std::string largest_blocks() { return Pool::global().largest(); }

}  // namespace strata::runtime
