#include "strata/runtime/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace strata::runtime {
namespace {

constexpr std::size_t kAlign = 64, kHuge = std::size_t{2} << 20;

class Pool {
 public:
  static Pool& global() {
    static Pool* pool = new Pool;  // never destroyed: handles may outlive static destruction
    return *pool;
  }

  std::byte* take(std::size_t size) {
    std::lock_guard lock(mutex_);
    counts_.in_use += size;
    counts_.peak = std::max(counts_.peak, counts_.in_use);
    auto& list = free_[size];
    if (!list.empty()) {
      std::byte* p = list.back();
      list.pop_back();
      counts_.cached -= size;
      return p;
    }
    void* p = std::aligned_alloc(size >= kHuge ? kHuge : kAlign, size >= kHuge ? (size + kHuge - 1) / kHuge * kHuge : size);
    if (p == nullptr) {
      counts_.in_use -= size;
      throw std::bad_alloc();
    }
    if (size >= kHuge) madvise(p, (size + kHuge - 1) / kHuge * kHuge, MADV_HUGEPAGE);
    return static_cast<std::byte*>(p);
  }

  void give(std::byte* p, std::size_t size) {
    std::lock_guard lock(mutex_);
    counts_.in_use -= size;
    if (counts_.cached + size > limit_) {
      std::free(p);
      return;
    }
    free_[size].push_back(p);
    counts_.cached += size;
  }

  MemoryCounts counts() {
    std::lock_guard lock(mutex_);
    return counts_;
  }
  void release() {
    std::lock_guard lock(mutex_);
    for (auto& [size, list] : free_)
      for (std::byte* p : list) std::free(p);
    free_.clear();
    counts_.cached = 0;
  }

 private:
  Pool() {
    if (const char* text = std::getenv("STRATA_CACHED_BYTES")) limit_ = std::strtoull(text, nullptr, 10);
  }
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
  MemoryCounts counts_;
  std::size_t limit_ = std::size_t{4} << 30;
};

}  // namespace

std::shared_ptr<std::byte[]> allocate(std::size_t bytes) {
  std::size_t size = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  return {Pool::global().take(size), [size](std::byte* p) { Pool::global().give(p, size); }};
}

MemoryCounts memory_counts() { return Pool::global().counts(); }
void release_cached() { Pool::global().release(); }

}  // namespace strata::runtime
