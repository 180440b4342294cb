// Counts what `new` allocates. For one source of a test program: it replaces the program's
// operators.
//
//   const std::size_t before = allocations();
//   call();
//   EXPECT_EQ(allocations() - before, 0u);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace strata {
namespace internal {

inline std::atomic<std::size_t> allocation_count{0};

inline void* counted(std::size_t bytes, std::size_t align) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  void* p = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace internal

/// How often `new` was called since the program began, on any thread.
inline std::size_t allocations() { return internal::allocation_count.load(); }

}  // namespace strata

void* operator new(std::size_t bytes) { return strata::internal::counted(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return strata::internal::counted(bytes, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
