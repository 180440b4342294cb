#include "strata/loop/kernel/block/block_int8.h"

#include <algorithm>
#include <memory>
#include <new>

namespace strata::loop::block8 {
namespace {

struct Params {
  std::int64_t format, batch, rows, out, blocks, chunk;
};

struct Free {
  void operator()(void* at) const { ::operator delete(at, std::align_val_t(64)); }
};
/// Memory that a thread keeps from call to call: fresh pages would cost more than short products.
class Scratch {
 public:
  void* of(std::int64_t bytes) {
    if (bytes > bytes_) {
      at_.reset(), bytes_ = 0;
      at_.reset(::operator new(static_cast<std::size_t>(bytes), std::align_val_t(64)));
      bytes_ = bytes;
    }
    return at_.get();
  }

 private:
  std::unique_ptr<void, Free> at_;
  std::int64_t bytes_ = 0;
};

/// Rows of x that are rounded at a time: as many as stay in a core's second cache.
std::int64_t rows_together(std::int64_t groups) {
  constexpr std::int64_t kBytes = 1 << 19;
  const std::int64_t fit =
      kBytes / static_cast<std::int64_t>(sizeof(Group)) / std::max<std::int64_t>(groups, 1);
  return std::clamp<std::int64_t>(fit, 16, 512);
}

const InstructionSet& best() {
  for (const InstructionSet* set : {&kVnni, &kAvx2})
    if (set->present()) return *set;
  return kPortable;
}

}  // namespace

const InstructionSet& instruction_set() {
  static const InstructionSet& set = best();
  return set;
}

void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;  // no rows of w, perhaps
  const auto& p = *static_cast<const Params*>(buffers[3]);
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes,
                     groups = in / 32, chunks = (p.out + p.chunk - 1) / p.chunk;
  const std::int64_t together = std::min(p.rows, rows_together(groups));
  static thread_local Scratch rounded_scratch, room_scratch;
  auto* rounded = static_cast<Group*>(
      rounded_scratch.of(together * groups * static_cast<std::int64_t>(sizeof(Group))));
  auto* room = static_cast<std::uint8_t*>(room_scratch.of(p.rows > 1 ? room_bytes(groups) : 0));
  // Points follow each other in a batch: rows of x are rounded once for all of them.
  for (std::int64_t b = begin / chunks; b * chunks < end; ++b) {
    const std::int64_t first = std::max(begin - b * chunks, std::int64_t{0}) * p.chunk,
                       last = std::min(p.out, (end - b * chunks) * p.chunk);
    const auto* w = static_cast<const std::uint8_t*>(buffers[1]) + (b * p.out + first) * row_bytes;
    for (std::int64_t i = 0; i < p.rows; i += together) {
      const std::int64_t rows = std::min(together, p.rows - i);
      set.round(static_cast<const float*>(buffers[0]) + (b * p.rows + i) * in, rows * groups,
                rounded);
      set.dot[p.format]({rounded, rows, groups, w, row_bytes, p.blocks, last - first,
                         static_cast<float*>(buffers[2]) + (b * p.rows + i) * p.out + first, p.out},
                        room);
    }
  }
}

}  // namespace strata::loop::block8

extern "C" void strata_block_dot_int8(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::block8::run(strata::loop::block8::instruction_set(), buffers, begin, end);
}
