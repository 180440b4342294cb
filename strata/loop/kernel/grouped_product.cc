#include "strata/loop/kernel/grouped_product.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "strata/base/check.h"
#include "strata/loop/kernel/grouped_tiles.h"
#include "strata/type/float.h"

namespace strata::loop::grouped {
namespace {

using product::kColumns;
using product::kRows;

/// Groups that are pieces of work enough, and then blocks of columns that one point computes; rows
/// that stay together.
constexpr std::int64_t kManyGroups = 16, kTogether = 4, kLanes = 32;
/// Bytes of a result that its reader may find in a cache.
constexpr std::int64_t kCached = std::int64_t{16} << 20;

/// Of an element that the kernels take.
std::int64_t bytes_of(DType dtype) { return dtype == DType::f64 ? 8 : dtype == DType::f32 ? 4 : 2; }

const void* sizes_at(const GroupedParams& p, const void* sizes, std::int64_t number) {
  return static_cast<const std::byte*>(sizes) + number * p.sizes_bytes();
}

/// Some of a group's rows.
struct Piece {
  std::int64_t group, first, count;
};

/// Groups in pieces of at most kRows rows, whole tiles but for the last; what is in no group is a
/// last one. There are never more than `gmm_grid` has room for.
std::vector<Piece> pieces_of(const std::vector<std::int64_t>& starts, std::int64_t rows) {
  std::vector<Piece> out;
  const auto groups = static_cast<std::int64_t>(starts.size()) - 1;
  out.reserve(static_cast<std::size_t>(groups + 1 + blocks(rows, kRows)));
  for (std::int64_t g = 0; g <= groups; ++g) {
    const std::int64_t first = starts[static_cast<std::size_t>(g)],
                       end = g < groups ? starts[static_cast<std::size_t>(g) + 1] : rows;
    const std::int64_t parts = std::max<std::int64_t>(1, blocks(end - first, kRows)),
                       most = blocks(blocks(end - first, parts), kLanes) * kLanes;
    for (std::int64_t from = first; from < end; from += most)
      out.push_back({g, from, std::min(most, end - from)});
  }
  return out;
}

/// Where the matrix of piece `at` begins, or null where there is none.
template <class S>
const S* first_matrix(const std::vector<Piece>& pieces, std::int64_t at, const GroupedParams& p,
                      const S* matrices) {
  if (at >= static_cast<std::int64_t>(pieces.size())) return nullptr;
  const std::int64_t group = pieces[static_cast<std::size_t>(at)].group;
  return group == p.groups ? nullptr : matrices + group * p.in * p.out;
}

/// Columns [first, first + count) of a result whose rows have `out` columns.
struct Columns {
  std::int64_t first, count;
};
/// Those of a block for a group that has `few` rows or not: the first of some blocks has the
/// columns of all of them where there are groups enough, since a matrix is read faster so.
Columns columns_of(const GroupedParams& p, std::int64_t block, bool few) {
  const std::int64_t together = few && p.batch * p.groups >= kManyGroups ? kTogether : 1,
                     first = block * kColumns;
  if (block % together != 0) return {first, 0};
  return {first, std::min(together * kColumns, p.out - first)};
}

void* moved(void* base, std::int64_t elements, DType dtype) {
  return static_cast<std::byte*>(base) + elements * bytes_of(dtype);
}

void zero(void* at, std::int64_t rows, std::int64_t columns, std::int64_t step, DType dtype) {
  const auto bytes = static_cast<std::size_t>(columns) * static_cast<std::size_t>(bytes_of(dtype));
  for (std::int64_t r = 0; r < rows; ++r) std::memset(moved(at, r * step, dtype), 0, bytes);
}

/// f(tiles, S{}), where S is the type of elements.
template <class F>
void with_tiles(const product::InstructionSet& set, DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(GroupTiles<float, float>(set.f32), float{});
    case DType::f64: return f(GroupTiles<double, double>(set.f64), double{});
    case DType::bf16: return f(GroupTiles<BFloat16, float>(set.f32), BFloat16{});
    case DType::f16: return f(GroupTiles<Float16, float>(set.f32), Float16{});
    default: STRATA_UNREACHABLE("groups of type {}", static_cast<int>(dtype));
  }
}

}  // namespace

std::int64_t GroupedParams::across() const { return blocks(out, kColumns); }
std::int64_t GroupedParams::gmm_grid() const {
  return rows == 0 ? 0 : batch * across() * (blocks(rows, kRows) + groups + 1);
}
std::int64_t GroupedParams::tgmm_grid() const {
  return batch * across() * groups * blocks(in, kRows);
}
std::int64_t GroupedParams::sizes_bytes() const { return groups * (sizes == DType::i32 ? 4 : 8); }

std::vector<std::int64_t> GroupedParams::numbers() const {
  return {static_cast<std::int64_t>(dtype),
          static_cast<std::int64_t>(sizes),
          rows,
          in,
          out,
          groups,
          turned,
          batch};
}
GroupedParams GroupedParams::from(const std::int64_t* n) {
  return {
      static_cast<DType>(n[0]), static_cast<DType>(n[1]), n[2], n[3], n[4], n[5], n[6] != 0, n[7]};
}

bool takes(DType dtype, DType sizes) {
  const bool floats =
      dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16 || dtype == DType::f16;
  return floats && (sizes == DType::i32 || sizes == DType::i64);
}

std::vector<std::int64_t> starts(const void* at, DType sizes, std::int64_t groups,
                                 std::int64_t rows) {
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(groups) + 1);
  out.push_back(0);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t size = sizes == DType::i32 ? static_cast<const std::int32_t*>(at)[g]
                                                  : static_cast<const std::int64_t*>(at)[g];
    out.push_back(out.back() + std::clamp<std::int64_t>(size, 0, rows - out.back()));
  }
  return out;
}

void run_gmm(const product::InstructionSet& set, void* const* buffers, std::int64_t begin,
             std::int64_t end) {
  const GroupedParams p = GroupedParams::from(static_cast<const std::int64_t*>(buffers[4]));
  std::vector<Piece> pieces;
  const std::int64_t each = p.gmm_grid() / std::max<std::int64_t>(p.batch, 1);
  for (std::int64_t point = begin, last = -1; point < end; ++point) {
    const std::int64_t number = point / each, at = point % each / p.across();
    if (std::exchange(last, number) != number)
      pieces =
          pieces_of(starts(sizes_at(p, buffers[2], number), p.sizes, p.groups, p.rows), p.rows);
    if (at >= static_cast<std::int64_t>(pieces.size())) continue;
    const Piece& piece = pieces[static_cast<std::size_t>(at)];
    const std::int64_t first = number * p.rows + piece.first;
    const Columns columns = columns_of(p, point % p.across(), piece.count <= kFewRows);
    if (columns.count == 0) continue;
    void* result = moved(buffers[3], first * p.out + columns.first, p.dtype);
    if (piece.group == p.groups) {
      zero(result, piece.count, columns.count, p.out, p.dtype);
      continue;
    }
    with_tiles(set, p.dtype, [&]<class S>(auto tiles, S) {
      const S* matrices = static_cast<const S*>(buffers[1]) + number * p.groups * p.in * p.out;
      const Matrix<const S> left{static_cast<const S*>(buffers[0]) + first * p.in, piece.count,
                                 p.in, p.in};
      const Matrix<S> y{static_cast<S*>(result), piece.count, columns.count, p.out};
      if (p.turned) {
        const S* right = matrices + (piece.group * p.out + columns.first) * p.in;
        tiles.times_turned(left, {right, columns.count, p.in, p.in}, y);
      } else {
        const S* right = matrices + piece.group * p.in * p.out;
        // What most often this thread reads next.
        const S* next = columns.first + columns.count < p.out
                            ? right + columns.first + columns.count
                            : first_matrix(pieces, at + 1, p, matrices);
        tiles.times(left, {right + columns.first, p.in, columns.count, p.out}, y, next);
      }
    });
  }
}

void run_tgmm(const product::InstructionSet& set, void* const* buffers, std::int64_t begin,
              std::int64_t end) {
  const GroupedParams p = GroupedParams::from(static_cast<const std::int64_t*>(buffers[4]));
  const bool stream =
      bytes_of(p.dtype) >= 4 && p.batch * p.groups * p.in * p.out * bytes_of(p.dtype) > kCached;
  std::vector<std::int64_t> from;
  const std::int64_t down = blocks(p.in, kRows), each = down * p.groups * p.across();
  for (std::int64_t point = begin, last = -1; point < end; ++point) {
    const std::int64_t number = point / each, place = point % each / p.across(),
                       group = place / down, row = place % down * kRows;
    if (std::exchange(last, number) != number)
      from = starts(sizes_at(p, buffers[2], number), p.sizes, p.groups, p.rows);
    const auto g = static_cast<std::size_t>(group);
    const std::int64_t first = number * p.rows + from[g], count = from[g + 1] - from[g],
                       height = std::min(kRows, p.in - row);
    const Columns columns = columns_of(p, point % p.across(), count <= kFewTerms);
    if (columns.count == 0) continue;
    void* result = moved(
        buffers[3], ((number * p.groups + group) * p.in + row) * p.out + columns.first, p.dtype);
    if (count == 0 && !stream) {
      zero(result, height, columns.count, p.out, p.dtype);
      continue;
    }
    with_tiles(set, p.dtype, [&]<class S>(auto tiles, S) {
      tiles.sum_over_rows(
          {static_cast<const S*>(buffers[0]) + first * p.in + row, count, height, p.in},
          {static_cast<const S*>(buffers[1]) + first * p.out + columns.first, count, columns.count,
           p.out},
          {static_cast<S*>(result), height, columns.count, p.out}, stream);
    });
  }
  if (stream) std::atomic_thread_fence(std::memory_order_seq_cst);  // before others read it
}

}  // namespace strata::loop::grouped

extern "C" void strata_gmm(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::grouped::run_gmm(strata::loop::product::instruction_set(), buffers, begin, end);
}

extern "C" void strata_tgmm(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::grouped::run_tgmm(strata::loop::product::instruction_set(), buffers, begin, end);
}
