#include "strata/loop/kernel/block/block_dot.h"

#include <algorithm>
#include <memory>

namespace strata::loop::block {
namespace {

struct Params {
  std::int64_t format, batch, rows, out, blocks, chunk;
};

/// Rows [first, last) of w, of one batch.
struct Part {
  const float* x;
  const std::uint8_t* w;
  float* y;
  std::int64_t first, last;
};

/// Rows of x that meet the numbers of a few rows of w before the next ones are made: as many as
/// stay in a core's second cache.
std::int64_t rows_together(std::int64_t in) {
  constexpr std::int64_t kFloats = 1 << 16;
  return std::clamp<std::int64_t>(kFloats / std::max<std::int64_t>(in, 1), 8, 256);
}

/// Several rows of x: the numbers of as many rows of w as a tile has are made in a buffer that
/// stays in the first cache, and meet many rows of x.
void many_rows(const InstructionSet& set, const Params& p, const Part& part, float* numbers) {
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes;
  const std::int64_t together = rows_together(in);
  for (std::int64_t from = 0; from < p.rows; from += together) {
    const std::int64_t to = std::min(p.rows, from + together);
    for (std::int64_t o = part.first; o < part.last; o += set.tile_w_rows) {
      const auto w_rows = static_cast<int>(std::min<std::int64_t>(set.tile_w_rows, part.last - o));
      set.decode[p.format](part.w + o * row_bytes, w_rows * p.blocks, numbers);
      for (std::int64_t i = from; i < to; i += set.tile_x_rows) {
        const auto x_rows = static_cast<int>(std::min<std::int64_t>(set.tile_x_rows, to - i));
        set.tile({part.x + i * in, in, numbers, in, in, part.y + i * p.out + o, p.out}, x_rows,
                 w_rows);
      }
    }
  }
}

const InstructionSet& best() {
  for (const InstructionSet* set : {&kAvx512, &kAvx2})
    if (set->present()) return *set;
  return kPortable;
}

}  // namespace

const InstructionSet& instruction_set() {
  static const InstructionSet& set = best();
  return set;
}

void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto& p = *static_cast<const Params*>(buffers[3]);
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes;
  const std::int64_t chunks = (p.out + p.chunk - 1) / p.chunk;
  std::unique_ptr<float[]> numbers;
  if (p.rows > 1) numbers.reset(new float[static_cast<std::size_t>(set.tile_w_rows * in)]);
  for (std::int64_t point = begin; point < end; ++point) {
    const std::int64_t b = point / chunks, first = point % chunks * p.chunk;
    const Part part{static_cast<const float*>(buffers[0]) + b * p.rows * in,
                    static_cast<const std::uint8_t*>(buffers[1]) + b * p.out * row_bytes,
                    static_cast<float*>(buffers[2]) + b * p.rows * p.out, first,
                    std::min(p.out, first + p.chunk)};
    if (p.rows > 1)
      many_rows(set, p, part, numbers.get());
    else if (p.rows == 1)
      set.dot[p.format](part.x, part.w + first * row_bytes, row_bytes, p.blocks,
                        static_cast<int>(part.last - first), part.y + first);
  }
}

}  // namespace strata::loop::block

extern "C" void strata_block_dot(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::block::run(strata::loop::block::instruction_set(), buffers, begin, end);
}

extern "C" void strata_block_dequantize(void* const* buffers, std::int64_t begin,
                                        std::int64_t end) {
  const auto* p = static_cast<const std::int64_t*>(buffers[2]);
  const std::int64_t format = p[0], blocks = p[1], chunk = p[2];
  const strata::BlockLayout& layout = strata::kBlockLayouts[format];
  const std::int64_t first = begin * chunk, last = end * chunk < blocks ? end * chunk : blocks;
  strata::loop::block::instruction_set().decode[format](
      static_cast<const std::uint8_t*>(buffers[0]) + first * layout.bytes, last - first,
      static_cast<float*>(buffers[1]) + first * layout.elements);
}
