// Small blocks of memory that a thread keeps for its next use: for what comes and goes with every
// call of a program.
//
//   auto state = std::allocate_shared<State>(Recycled<State>());
//   std::vector<void*, Recycled<void*>> addresses;
#pragma once

#include <cstddef>
#include <new>

namespace strata {

/// Larger blocks are not kept.
inline constexpr std::size_t kRecycledBytes = 64 << 10;

/// At least `bytes` bytes, aligned to 64: a block that this thread gave back, else a new one.
/// Throws std::bad_alloc.
void* take_recycled(std::size_t bytes);
/// Gives back what `take_recycled(bytes)` gave, on any thread. A thread keeps a few blocks of each
/// size until it ends.
void give_recycled(void* block, std::size_t bytes) noexcept;

/// An allocator that recycles.
template <class T>
struct Recycled {
  static_assert(alignof(T) <= 64);
  using value_type = T;
  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}  // NOLINT: as allocators do
  T* allocate(std::size_t n) { return static_cast<T*>(take_recycled(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { give_recycled(p, n * sizeof(T)); }
  template <class U>
  bool operator==(const Recycled<U>&) const {
    return true;
  }
};

}  // namespace strata
