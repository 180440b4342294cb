// One group's share of a grouped product, by the tiles of product.h: where few rows meet a matrix
// that is read once, so that what counts is how the matrix comes from memory.
//
// A group of 32 rows computes 32 multiply-adds with each element of its matrix, about as long as
// memory takes to bring it. So the matrix is read in the order that it lies in, where it lies, and
// while a tile computes, it has its successor's elements brought near (`Ahead`); what is read often
// (the rows) is laid out as panels. Every element of a result is one chain of fused multiply-adds
// over k, as ever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "strata/loop/kernel/product.h"
#include "strata/loop/kernel/product_pack.h"

namespace strata::loop::grouped {

/// A matrix in memory: `rows` x `columns`, and how many elements are between two rows.
template <class S>
struct Matrix {
  S* at;
  std::int64_t rows, columns, step;
};

/// Elements are S, and are multiplied and added as A.
template <class S, class A>
class GroupTiles {
 public:
  explicit GroupTiles(const product::TileOf<A>& tile) : tile_(tile) {}

  /// y = left right; `next` is where the right side of the next call begins, or null.
  void times(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, const S* next) {
    const bool few = left.rows <= kFew;
    const std::int64_t width = few ? right.columns : product::kColumns,
                       depth = few ? kShallow : kDeep;
    for (std::int64_t n = 0; n < right.columns; n += width) {
      const std::int64_t columns = std::min(width, right.columns - n);
      const S* then = n + columns < right.columns ? right.at + n + columns : next;
      times_columns(left, {right.at + n, right.rows, columns, right.step},
                    {y.at + n, y.rows, columns, y.step}, then, depth);
    }
  }

  /// y = left turned^T, `turned` being columns of the right side as rows.
  void times_turned(Matrix<const S> left, Matrix<const S> turned, Matrix<S> y) {
    const std::int64_t height = left.rows <= kFew ? turned.rows : product::kColumns;
    for (std::int64_t n = 0; n < turned.rows; n += height) {
      const std::int64_t rows = std::min(height, turned.rows - n);
      turned_rows(left, {turned.at + n * turned.step, rows, turned.columns, turned.step},
                  {y.at + n, y.rows, rows, y.step});
    }
  }

  /// y = left^T right: the sum over the rows of both.
  void sum_over_rows(Matrix<const S> left, Matrix<const S> right, Matrix<S> y) {
    const std::int64_t width = left.rows <= kDeep ? right.columns : product::kColumns;
    for (std::int64_t n = 0; n < right.columns; n += width) {
      const std::int64_t columns = std::min(width, right.columns - n);
      sum_of_columns(left, {right.at + n, right.rows, columns, right.step},
                     {y.at + n, y.rows, columns, y.step});
    }
  }

 private:
  static constexpr bool kSame = std::is_same_v<S, A>;
  /// Rows that a matrix is read once for; steps of k at a time with few rows and with many.
  static constexpr std::int64_t kFew = 64, kShallow = 64, kDeep = 256;

  static std::int64_t blocks(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }
  static std::int64_t padded(std::int64_t n, std::int64_t to) { return blocks(n, to) * to; }

  struct Room {
    A *first, *second, *third;
  };
  static Room room(std::int64_t first, std::int64_t second, std::int64_t third) {
    A* at = static_cast<A*>(
        product::scratch(static_cast<std::size_t>(first + second + third + 48) * sizeof(A)));
    at = reinterpret_cast<A*>((reinterpret_cast<std::uintptr_t>(at) + 63) / 64 * 64);
    const auto whole = [](std::int64_t n) { return padded(n, 16); };
    return {at, at + whole(first), at + whole(first) + whole(second)};
  }

  /// Rows of m as panels of `width` columns, each [row][column], with zeros behind the last.
  static void lay_out(Matrix<const S> m, std::int64_t width, A* to) {
    for (std::int64_t n = 0; n < m.columns; n += width, to += width * m.rows)
      lay_out_panel({m.at + n, m.rows, std::min(width, m.columns - n), m.step}, width, 0, to);
  }
  /// One panel; what is `ahead` elements behind is brought near.
  static void lay_out_panel(Matrix<const S> m, std::int64_t width, std::int64_t ahead, A* to) {
    for (std::int64_t k = 0; k < m.rows; ++k, to += width) {
      const S* from = m.at + k * m.step;
      if (ahead != 0) {
        __builtin_prefetch(from + ahead, 0, 2);
        __builtin_prefetch(from + ahead + 64 / sizeof(S), 0, 2);
      }
      switch (m.columns) {
        case 12: product::copy_widened<12>(from, to); break;
        case 16: product::copy_widened<16>(from, to); break;
        case 32: product::copy_widened<32>(from, to); break;
        default:
          for (std::int64_t x = 0; x < m.columns; ++x) to[x] = product::widened<A>(from[x]);
      }
      if (m.columns < width) std::fill(to + m.columns, to + width, A{});
    }
  }
  /// Columns of m as panels of `width` rows, each [column][row].
  static void lay_out_turned(Matrix<const S> m, std::int64_t width, A* to) {
    std::int64_t places[kMostRows], ks[kDeep];
    for (std::int64_t i = 0; i < m.rows; ++i) places[i] = i * m.step;
    std::iota(ks, ks + m.columns, 0);
    product::pack(product::Side<S>{m.at, places, ks, false, true}, m.rows, m.columns, width, to);
  }
  static constexpr std::int64_t kMostRows = std::max(product::kRows, product::kColumns);

  static void store(const A* sums, Matrix<S> y, std::int64_t lanes) {
    for (std::int64_t r = 0; r < y.rows; ++r, sums += lanes)
      for (std::int64_t x = 0; x < y.columns; ++x)
        y.at[r * y.step + x] = product::narrowed<S>(sums[x]);
  }
  void store(const A* sums, Matrix<S> y) { store(sums, y, tile_.lanes); }

  void times_columns(Matrix<const S> left, Matrix<const S> right, Matrix<S> y, const S* next,
                     std::int64_t most) {
    const std::int64_t in = left.columns, lanes = tile_.lanes,
                       tiles = blocks(left.rows, tile_.rows), each = tile_.rows * lanes;
    most = std::min(most, in);
    const auto [rows_at, panel, sums] = room(tiles * tile_.rows * most, most * lanes,
                                             tiles * tile_.rows * padded(right.columns, lanes));
    std::fill(sums, sums + tiles * tile_.rows * padded(right.columns, lanes), A{});
    for (std::int64_t k = 0; k < in; k += most) {
      const std::int64_t depth = std::min(most, in - k);
      lay_out_turned({left.at + k, left.rows, depth, left.step}, tile_.rows, rows_at);
      const S* here = right.at + k * right.step;
      const S* then = k + depth < in ? here + depth * right.step : next;
      for (std::int64_t n = 0; n < right.columns; n += lanes) {
        const std::int64_t columns = std::min(lanes, right.columns - n);
        product::TileSide<A> column{panel, 1, lanes};
        product::Ahead<A> ahead{panel, 0};
        bool in_place = false;
        if constexpr (kSame)
          if (tiles <= kInPlace && columns == lanes) {
            in_place = true;
            column = {here + n, 1, right.step};
            ahead = then ? product::Ahead<A>{then + n, right.step} : product::Ahead<A>{here + n, 0};
          }
        if (!in_place)
          lay_out_panel({here + n, depth, columns, right.step}, lanes, then ? then - here : 0,
                        panel);
        A* at = sums + n * tiles * tile_.rows;
        for (std::int64_t m = 0; m < left.rows; m += tile_.rows, at += each) {
          tile_.add[std::min(tile_.rows, left.rows - m) - 1]({rows_at + m * depth, 1, tile_.rows},
                                                             column, ahead, depth, at);
          ahead = {column.at, 0};
        }
      }
    }
    for (std::int64_t n = 0; n < right.columns; n += lanes)
      for (std::int64_t m = 0; m < left.rows; m += tile_.rows)
        store(sums + n * tiles * tile_.rows + m * lanes,
              {y.at + m * y.step + n, std::min(tile_.rows, left.rows - m),
               std::min(lanes, right.columns - n), y.step});
  }
  static constexpr std::int64_t kInPlace = 3;

  void turned_rows(Matrix<const S> left, Matrix<const S> turned, Matrix<S> y) {
    const std::int64_t in = left.columns, lanes = tile_.lanes, most = std::min(kDeep, in),
                       across = padded(left.rows, lanes), down = padded(turned.rows, tile_.rows);
    const auto [panels, rows_at, sums] = room(across * most, tile_.rows * most, across * down);
    std::fill(sums, sums + across * down, A{});
    for (std::int64_t k = 0; k < in; k += most) {
      const std::int64_t depth = std::min(most, in - k);
      lay_out_turned({left.at + k, left.rows, depth, left.step}, lanes, panels);
      for (std::int64_t m = 0; m < turned.rows; m += tile_.rows) {
        const std::int64_t rows = std::min(tile_.rows, turned.rows - m);
        const S* here = turned.at + m * turned.step + k;
        product::TileSide<A> row{rows_at, 1, tile_.rows};
        bool in_place = false;
        if constexpr (kSame)
          if (across <= 2 * lanes) {
            in_place = true;
            row = {here, turned.step, 1};
          }
        if (!in_place) lay_out_turned({here, rows, depth, turned.step}, tile_.rows, rows_at);
        for (std::int64_t n = 0; n < left.rows; n += lanes)
          tile_.add[rows - 1](row, {panels + n * depth, 1, lanes}, {panels + n * depth, 0}, depth,
                              sums + m * across + n * tile_.rows);
      }
    }
    for (std::int64_t m = 0; m < turned.rows; m += tile_.rows)
      for (std::int64_t n = 0; n < left.rows; n += lanes)
        store_turned(sums + m * across + n * tile_.rows,
                     {y.at + n * y.step + m, std::min(lanes, left.rows - n),
                      std::min(tile_.rows, turned.rows - m), y.step});
  }
  /// sums [column][lane] as rows of y.
  void store_turned(const A* sums, Matrix<S> y) {
    std::int64_t r = 0;
    if constexpr (kSame && sizeof(S) == 4)
      for (; r + 4 <= y.rows; r += 4) {
        std::int64_t x = 0;
        for (; x + 4 <= y.columns; x += 4) {
          product::Four in[4], out[4];
          for (int i = 0; i < 4; ++i)
            std::memcpy(&in[i], sums + (x + i) * tile_.lanes + r, sizeof in[i]);
          product::turn(in, out);
          for (int i = 0; i < 4; ++i)
            std::memcpy(y.at + (r + i) * y.step + x, &out[i], sizeof out[i]);
        }
        for (; x < y.columns; ++x)
          for (int i = 0; i < 4; ++i) y.at[(r + i) * y.step + x] = sums[x * tile_.lanes + r + i];
      }
    for (; r < y.rows; ++r)
      for (std::int64_t x = 0; x < y.columns; ++x)
        y.at[r * y.step + x] = product::narrowed<S>(sums[x * tile_.lanes + r]);
  }

  void sum_of_columns(Matrix<const S> left, Matrix<const S> right, Matrix<S> y) {
    const std::int64_t depth = std::min(left.rows, kDeep), lanes = tile_.lanes,
                       down = padded(left.columns, tile_.rows),
                       across = padded(right.columns, lanes), each = tile_.rows * lanes;
    const bool once = left.rows <= depth;  // a tile's sums are ready before the next one's begin
    const auto [rows_at, columns_at, sums] =
        room(down * depth, across * depth, once ? each : down * across);
    if (!once) std::fill(sums, sums + down * across, A{});
    for (std::int64_t k = 0; k < left.rows; k += depth) {
      const std::int64_t now = std::min(depth, left.rows - k);
      lay_out({left.at + k * left.step, now, left.columns, left.step}, tile_.rows, rows_at);
      lay_out({right.at + k * right.step, now, right.columns, right.step}, lanes, columns_at);
      for (std::int64_t m = 0; m < left.columns; m += tile_.rows)
        for (std::int64_t n = 0; n < right.columns; n += lanes) {
          const std::int64_t rows = std::min(tile_.rows, left.columns - m);
          A* at = once ? sums : sums + m * across + n * tile_.rows;
          if (once) std::fill(sums, sums + each, A{});
          const A* column = columns_at + n * now;
          tile_.add[rows - 1]({rows_at + m * now, 1, tile_.rows}, {column, 1, lanes}, {column, 0},
                              now, at);
          if (k + now == left.rows)
            store(at, {y.at + m * y.step + n, rows, std::min(lanes, right.columns - n), y.step});
        }
    }
  }

  const product::TileOf<A>& tile_;
};

}  // namespace strata::loop::grouped
