#include "strata/base/recycle.h"

namespace strata {
namespace {

constexpr std::size_t kAlign = 64, kSizes = kRecycledBytes / kAlign;
constexpr int kMost = 32;  // of one size

struct Block {
  Block* next;
};
/// Needs no destructor, so that what other thread_locals hold may come back while the thread ends.
struct Lists {
  Block* first[kSizes];
  int count[kSizes];
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

/// Of blocks of (number + 1) * 64 bytes.
std::size_t number_of(std::size_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / kAlign; }

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
  return ::operator new((number + 1) * kAlign, std::align_val_t(kAlign));
}

void give_recycled(void* p, std::size_t bytes) noexcept {
  const std::size_t number = number_of(bytes);
  if (number >= kSizes || lists.count[number] >= kMost || !keeps()) return ::operator delete(p, std::align_val_t(kAlign));
  lists.first[number] = new (p) Block{lists.first[number]};
  ++lists.count[number];
}

}  // namespace strata
