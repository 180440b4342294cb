#include <algorithm>
#include <memory>

#include "strata/loop/kernel/block/block_dot.h"

namespace strata::loop::block {
namespace {

struct Params {
  std::int64_t format, batch, rows, out, blocks, chunk;
};
/// Rows of w whose numbers are made together: with the columns of a grid point they stay in the
/// first cache.
constexpr std::int64_t kRowsOfW = 32;

/// A grid point, from its first element in each operand on.
struct Part {
  const float* g;
  const std::uint8_t* w;
  float* y;
  std::int64_t rows, blocks;
};

void run_part(const InstructionSet& set, const Params& p, const Part& part, float* numbers) {
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes;
  const std::int64_t columns = part.blocks * layout.elements;
  for (std::int64_t i = 0; i < part.rows; ++i) std::fill_n(part.y + i * in, columns, 0.0f);
  for (std::int64_t o = 0; o < p.out; o += kRowsOfW) {
    const std::int64_t count = std::min(kRowsOfW, p.out - o);
    for (std::int64_t j = 0; j < count; ++j)
      set.decode[p.format](part.w + (o + j) * row_bytes, part.blocks, numbers + j * columns);
    for (std::int64_t i = 0; i < part.rows; i += set.tile_x_rows) {
      const auto rows = static_cast<int>(std::min<std::int64_t>(set.tile_x_rows, part.rows - i));
      set.outer(
          {part.g + i * p.out + o, p.out, numbers, columns, count, columns, part.y + i * in, in},
          rows);
    }
  }
}

}  // namespace

void run_transposed(const InstructionSet& set, void* const* buffers, std::int64_t begin,
                    std::int64_t end) {
  const auto& p = *static_cast<const Params*>(buffers[3]);
  const BlockLayout& layout = kBlockLayouts[p.format];
  const std::int64_t in = p.blocks * layout.elements, row_bytes = p.blocks * layout.bytes;
  const std::int64_t of_columns = (p.blocks + p.chunk - 1) / p.chunk;
  const std::int64_t of_rows = (p.rows + kTransposedRows - 1) / kTransposedRows;
  const std::unique_ptr<float[]> numbers(
      new float[static_cast<std::size_t>(kRowsOfW * p.chunk * layout.elements)]);
  for (std::int64_t point = begin; point < end; ++point) {
    const std::int64_t block = point % of_columns * p.chunk;
    const std::int64_t row = point / of_columns % of_rows * kTransposedRows;
    const std::int64_t b = point / of_columns / of_rows;
    run_part(set, p,
             {static_cast<const float*>(buffers[0]) + (b * p.rows + row) * p.out,
              static_cast<const std::uint8_t*>(buffers[1]) + b * p.out * row_bytes +
                  block * layout.bytes,
              static_cast<float*>(buffers[2]) + (b * p.rows + row) * in + block * layout.elements,
              std::min(kTransposedRows, p.rows - row), std::min(p.chunk, p.blocks - block)},
             numbers.get());
  }
}

}  // namespace strata::loop::block

extern "C" void strata_block_dot_transposed(void* const* buffers, std::int64_t begin,
                                            std::int64_t end) {
  strata::loop::block::run_transposed(strata::loop::block::instruction_set(), buffers, begin, end);
}
