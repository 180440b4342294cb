// One group's share of a grouped product, by the tiles of product.h: few rows that meet a large
// matrix, so that what counts is how the matrix comes from memory, or goes there.
//
// A group of 32 rows computes 32 multiply-adds with each element of its matrix, about as long as
// memory takes to load it. So kernels read the matrix in place and in memory order, and a tile
// prefetches the elements of a later one while it computes (`Ahead`). Rows, which are read often,
// are packed into panels. Every element of a result is one chain of fused multiply-adds over k, as
// in product.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "strata/loop/kernel/product.h"
#include "strata/loop/kernel/product_pack.h"

namespace strata::loop::grouped {

/// A matrix in memory: `rows` x `columns`, and how many elements are between two rows.
template <class S>
struct Matrix {
  S* at;
  std::int64_t rows, columns, step;

  Matrix part(std::int64_t row, std::int64_t height, std::int64_t column,
              std::int64_t width) const {
    return {at + row * step + column, std::min(height, rows - row),
            std::min(width, columns - column), step};
  }
};

/// How many blocks of that size cover n.
inline std::int64_t blocks(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Rows of a group that meet its whole matrix in one go, and rows that are summed so.
inline constexpr std::int64_t kFewRows = 64, kFewTerms = 256;

/// Elements are S, and are multiplied and added as A.
template <class S, class A>
class GroupTiles {
 public:
  explicit GroupTiles(const product::TileOf<A>& tile) : tile_(tile) {}

  /// y = left right; `next` is where the right side of the next call begins, or null.
  void times(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, const S* next) {
    const std::int64_t width = left.rows <= kFewRows ? right.columns : product::kColumns;
    for (std::int64_t n = 0; n < right.columns; n += width)
      times_columns(left, right.part(0, right.rows, n, width), y.part(0, y.rows, n, width),
                    n + width < right.columns ? right.at + n + width : next);
  }

  /// y = left turned^T: the rows of `turned` are the columns of the right side.
  void times_turned(Matrix<const S> left, Matrix<const S> turned, Matrix<S> y) {
    const std::int64_t width = left.rows <= kFewRows ? turned.rows : product::kColumns;
    for (std::int64_t n = 0; n < turned.rows; n += width)
      times_rows(left, turned.part(n, width, 0, turned.columns), y.part(0, y.rows, n, width));
  }

  /// y = left^T right: sums over the rows of both. `stream`: y is more than caches hold.
  void sum_over_rows(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, bool stream) {
    const std::int64_t width = left.rows <= kDeep ? right.columns : product::kColumns;
    for (std::int64_t n = 0; n < right.columns; n += width)
      sum_of_columns(left, right.part(0, right.rows, n, width), y.part(0, y.rows, n, width),
                     stream);
  }

 private:
  static constexpr bool kSame = std::is_same_v<S, A>;
  /// Steps of k at a time with few rows and with many; rows of low tiles; elements of the panels of
  /// rows that stay near while a matrix passes.
  static constexpr std::int64_t kShallow = 64, kDeep = kFewTerms, kLow = 8,
                                kNear = std::int64_t{1} << 16;

  static std::int64_t padded(std::int64_t n, std::int64_t to) { return blocks(n, to) * to; }
  /// Rows that are so many bytes apart share the sets of the first cache.
  static constexpr std::int64_t kApart = 4096;
  /// Rows of the tiles of so many steps: high ones read less, low ones begin and end sooner.
  std::int64_t height_for(std::int64_t depth) const {
    return depth <= kShallow ? std::min(tile_.rows, kLow) : tile_.rows;
  }

  struct Room {
    A *rows, *columns, *sums;
  };
  static Room room(std::int64_t rows, std::int64_t columns, std::int64_t sums) {
    constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(A));
    rows = padded(rows, kLine), columns = padded(columns, kLine);
    const auto bytes = static_cast<std::size_t>(rows + columns + sums + kLine) * sizeof(A);
    auto at = reinterpret_cast<std::uintptr_t>(product::scratch(bytes));
    A* first = reinterpret_cast<A*>((at + 63) / 64 * 64);
    return {first, first + rows, first + rows + columns};
  }

  /// m as panels of `width` columns, each [row][column], with zeros behind the last; prefetches
  /// what is `ahead` elements behind.
  static void lay_out(Matrix<const S> m, std::int64_t width, A* to, std::int64_t ahead = 0) {
    for (std::int64_t n = 0; n < m.columns; n += width)
      for (std::int64_t k = 0; k < m.rows; ++k, to += width) {
        const S* from = m.at + k * m.step + n;
        if (ahead != 0) {
          __builtin_prefetch(from + ahead, 0, 2);
          __builtin_prefetch(from + ahead + 64 / sizeof(S), 0, 2);
        }
        const std::int64_t have = std::min(width, m.columns - n);
        switch (have) {
          case 8: product::copy_widened<8>(from, to); break;
          case 12: product::copy_widened<12>(from, to); break;
          case 16: product::copy_widened<16>(from, to); break;
          case 32: product::copy_widened<32>(from, to); break;
          default:
            for (std::int64_t x = 0; x < have; ++x) to[x] = product::widened<A>(from[x]);
        }
        if (have < width) std::fill(to + have, to + width, A{});
      }
  }

  /// m as panels of `width` rows, each [column][row], with zeros behind the last.
  static void lay_out_turned(Matrix<const S> m, std::int64_t width, A* to) {
    constexpr std::int64_t kSteps = 16;  // written lines stay in the first cache
    for (std::int64_t n = 0; n < m.rows; n += width, to += width * m.columns)
      for (std::int64_t k = 0; k < m.columns; k += kSteps)
        lay_out_square(m.part(n, width, k, kSteps), width, to + k * width);
  }
  static void lay_out_square(Matrix<const S> m, std::int64_t width, A* to) {
    std::int64_t r = 0;
    if constexpr (kSame && sizeof(S) == 4)
      for (; r + 4 <= m.rows && m.columns % 4 == 0; r += 4)
        for (std::int64_t k = 0; k < m.columns; k += 4)
          turn_four(m.at + r * m.step + k, m.step, to + k * width + r, width);
    for (std::int64_t i = r; i < m.rows; ++i)
      for (std::int64_t k = 0; k < m.columns; ++k)
        to[k * width + i] = product::widened<A>(m.at[i * m.step + k]);
    if (m.rows < width)
      for (std::int64_t k = 0; k < m.columns; ++k)
        std::fill(to + k * width + m.rows, to + (k + 1) * width, A{});
  }
  static void turn_four(const A* from, std::int64_t from_step, A* to, std::int64_t to_step) {
    product::turn_four([&](int i) { return from + i * from_step; }, to, to_step);
  }

  /// A tile's sums rounded to their place.
  void store(const A* sums, Matrix<S> y) {
    for (std::int64_t r = 0; r < y.rows; ++r, sums += tile_.lanes)
      for (std::int64_t x = 0; x < y.columns; ++x)
        y.at[r * y.step + x] = product::narrowed<S>(sums[x]);
  }
  /// Sums [column][row].
  void store_turned(const A* sums, Matrix<S> y) {
    std::int64_t whole = 0;
    if constexpr (kSame && sizeof(S) == 4)
      for (; whole + 4 <= y.columns; whole += 4)
        for (std::int64_t r = 0; r + 4 <= y.rows; r += 4)
          turn_four(sums + whole * tile_.lanes + r, tile_.lanes, y.at + r * y.step + whole, y.step);
    for (std::int64_t r = 0; r < y.rows; ++r)
      for (std::int64_t x = r < y.rows / 4 * 4 ? whole : 0; x < y.columns; ++x)
        y.at[r * y.step + x] = product::narrowed<S>(sums[x * tile_.lanes + r]);
  }

  void times_columns(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, const S* next) {
    const std::int64_t in = left.columns, lanes = tile_.lanes,
                       most = std::min(left.rows <= kFewRows ? kShallow : kDeep, in),
                       height = height_for(most), down = padded(left.rows, height);
    const Room room = GroupTiles::room(down * most, lanes * most, down * padded(y.columns, lanes));
    for (std::int64_t k = 0; k == 0 || k < in; k += most) {
      const Matrix<const S> here = right.part(k, most, 0, right.columns);
      const std::int64_t depth = here.rows;
      lay_out_turned(left.part(0, left.rows, k, depth), height, room.rows);
      const S* then = k + depth == in ? next : here.at + depth * right.step;
      for (std::int64_t n = 0; n < right.columns; n += lanes) {
        const Matrix<const S> panel = here.part(0, depth, n, lanes);
        product::TileSide<A> column{room.columns, 1, lanes};
        product::Ahead<A> ahead{room.columns, 0};
        if (!kSame || panel.columns < lanes)
          lay_out(panel, lanes, room.columns, then ? then - here.at : 0);
        else if constexpr (kSame) {
          column = {panel.at, 1, panel.step};
          ahead = then ? product::Ahead<A>{then + n, panel.step} : product::Ahead<A>{panel.at, 0};
        }
        for (std::int64_t m = 0; m < left.rows; m += height) {
          A* sums = room.sums + n * down + m * lanes;
          tile_.add[std::min(height, left.rows - m) - 1](
              {room.rows + m * depth, 1, height}, column, ahead, depth,
              {k == 0 ? nullptr : sums, lanes, sums, lanes});
          ahead = {column.at, 0};
        }
      }
      if (in == 0) break;
    }
    for (std::int64_t n = 0; n < right.columns; n += lanes)
      for (std::int64_t m = 0; m < left.rows; m += height)
        store(room.sums + n * down + m * lanes, y.part(m, height, n, lanes));
  }

  /// With sides exchanged: the matrix's elements are broadcast over lanes, and rows are lanes.
  void times_rows(Matrix<const S> left, Matrix<const S> turned, Matrix<S> y) {
    const std::int64_t in = left.columns, lanes = tile_.lanes, across = padded(left.rows, lanes),
                       most = std::min(std::max(kDeep, kNear / across), in),
                       height = height_for(most), down = padded(turned.rows, height);
    const bool collides = turned.step * static_cast<std::int64_t>(sizeof(S)) % kApart == 0;
    const Room room = GroupTiles::room(height * most, across * most, across * down);
    for (std::int64_t k = 0; k == 0 || k < in; k += most) {
      const std::int64_t depth = std::min(most, in - k);
      const bool last = k + depth == in;
      lay_out_turned(left.part(0, left.rows, k, depth), lanes, room.columns);
      for (std::int64_t m = 0; m < turned.rows; m += height) {
        const Matrix<const S> here = turned.part(m, height, k, depth);
        product::TileSide<A> row{room.rows, 1, height};
        product::Ahead<A> ahead{room.rows, 0};
        if (const bool in_place = kSame && (left.rows <= lanes || !collides); !in_place)
          lay_out_turned(here, height, room.rows);
        else if constexpr (kSame) {
          row = {here.at, here.step, 1};
          ahead = depth == in && m + height < turned.rows
                      ? product::Ahead<A>{here.at + height * here.step, here.rows}
                      : product::Ahead<A>{here.at, 0};
        }
        for (std::int64_t n = 0; n < left.rows; n += lanes) {
          A* sums = room.sums + m * across + n * height;
          tile_.add[here.rows - 1](row, {room.columns + n * depth, 1, lanes}, ahead, depth,
                                   {k == 0 ? nullptr : sums, lanes, sums, lanes});
          ahead = {row.at, 0};
          if (last) store_turned(sums, y.part(n, lanes, m, height));
        }
      }
      if (in == 0) break;
    }
  }

  void sum_of_columns(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, bool stream) {
    const std::int64_t most = std::min(left.rows, kDeep), lanes = tile_.lanes,
                       height = height_for(most), down = padded(left.columns, height),
                       across = padded(right.columns, lanes);
    const bool once = left.rows == most;  // a tile's sums are ready before the next one's begin
    const Room room =
        GroupTiles::room(down * most, across * most, once ? height * lanes : down * across);
    for (std::int64_t k = 0; k == 0 || k < left.rows; k += most) {
      const std::int64_t depth = std::min(most, left.rows - k);
      lay_out(left.part(k, depth, 0, left.columns), height, room.rows);
      lay_out(right.part(k, depth, 0, right.columns), lanes, room.columns);
      for (std::int64_t m = 0; m < left.columns; m += height)
        for (std::int64_t n = 0; n < right.columns; n += lanes) {
          add_to({room.rows + m * depth, 1, height}, {room.columns + n * depth, 1, lanes}, depth,
                 room.sums + (once ? 0 : m * across + n * height), k == 0, k + depth == left.rows,
                 y.part(m, height, n, lanes), stream);
        }
      if (left.rows == 0) break;
    }
  }

  /// Some steps of k of a tile: its sums are at `sums` meanwhile, and go to y after the last,
  /// straight from registers where y is of their type.
  void add_to(const product::TileSide<A>& rows, const product::TileSide<A>& columns,
              std::int64_t depth, A* sums, bool first, bool last, Matrix<S> y, bool stream) {
    product::TileSums<A> at{first ? nullptr : sums, tile_.lanes, sums, tile_.lanes};
    const bool straight = kSame && last && y.columns == tile_.lanes;
    if constexpr (kSame)
      if (straight) {
        constexpr std::uintptr_t kLine = 64;
        at.to = y.at, at.to_step = y.step;
        at.stream = stream && reinterpret_cast<std::uintptr_t>(y.at) % kLine == 0 &&
                    y.step * static_cast<std::int64_t>(sizeof(S)) % kLine == 0;
      }
    tile_.add[y.rows - 1](rows, columns, {columns.at, 0}, depth, at);
    if (last && !straight) store(sums, y);
  }

  const product::TileOf<A>& tile_;
};

}  // namespace strata::loop::grouped
