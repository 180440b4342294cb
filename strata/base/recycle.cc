#include "strata/base/recycle.h"

#include <bit>

namespace strata {
namespace {

// Blocks come in multiples of 64 bytes up to 1024, then in powers of two.
constexpr std::size_t kAlign = 64, kFine = 1024, kFineSizes = kFine / kAlign;
constexpr std::size_t kSizes = kFineSizes + std::bit_width(kRecycledBytes / kFine) - 1;
constexpr std::size_t kMostBytes = 128
                                   << 10;  // kept of one size: the arrays of some hundred leaves

struct Block {
  Block* next;
};
/// Needs no destructor, so that what other thread_locals hold may come back while the thread ends.
struct Lists {
  Block* first[kSizes];
  std::size_t count[kSizes];
  bool keeps;  // from the first block on, until the thread ends
  bool ended;
};
thread_local Lists lists;

/// Empties the lists when its thread ends.
struct Emptier {
  ~Emptier() {
    lists.keeps = false;
    lists.ended = true;
    for (Block*& first : lists.first)
      while (Block* block = first) {
        first = block->next;
        ::operator delete(block, std::align_val_t(kAlign));
      }
  }
  void exist() {}
};
thread_local Emptier emptier;

/// The number of the smallest size that holds so many bytes; kSizes or more where none does.
std::size_t number_of(std::size_t bytes) {
  if (bytes <= kFine) return bytes == 0 ? 0 : (bytes - 1) / kAlign;
  return kFineSizes - 1 + std::bit_width((bytes - 1) / kFine);
}
std::size_t size_of(std::size_t number) {
  return number < kFineSizes ? (number + 1) * kAlign : kFine << (number + 1 - kFineSizes);
}

bool keeps() {
  if (lists.keeps) return true;
  if (lists.ended) return false;
  emptier.exist();
  return lists.keeps = true;
}

}  // namespace

void* take_recycled(std::size_t bytes) {
  const std::size_t number = number_of(bytes);
  if (number < kSizes) {
    if (Block* block = lists.first[number]) {
      lists.first[number] = block->next;
      --lists.count[number];
      return block;
    }
  }
  return ::operator new(size_of(number), std::align_val_t(kAlign));
}

void give_recycled(void* p, std::size_t bytes) noexcept {
  const std::size_t number = number_of(bytes);
  if (number >= kSizes || lists.count[number] * size_of(number) >= kMostBytes || !keeps())
    return ::operator delete(p, std::align_val_t(kAlign));
  lists.first[number] = new (p) Block{lists.first[number]};
  ++lists.count[number];
}

}  // namespace strata
