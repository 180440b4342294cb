// Memory for results, kept from call to call: fresh pages of a large output cost more than the
// arithmetic that fills them (the kernel zeroes each at its first touch), so blocks go back to a
// list when their last handle dies.
#pragma once

#include <cstddef>
#include <memory>

namespace strata::runtime {

/// At least `bytes` of uninitialised memory, aligned to 64. Given back to the list of its size when
/// the last copy of the pointer dies; the lists keep at most `limit` bytes (default 4 GiB or
/// STRATA_CACHED_BYTES), the rest is freed. Throws std::bad_alloc. Thread-safe. Small blocks go
/// back to a list of the thread instead (base/recycle.h), which is not counted.
std::shared_ptr<std::byte[]> allocate(std::size_t bytes);

/// Bytes in use and bytes waiting in the lists.
struct MemoryCounts {
  std::size_t in_use = 0, cached = 0, peak = 0;
};
MemoryCounts memory_counts();
/// Frees what waits in the lists.
void release_cached();

}  // namespace strata::runtime
