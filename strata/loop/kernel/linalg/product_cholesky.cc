#include "strata/loop/kernel/linalg/product_cholesky.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <type_traits>

#include "strata/type/float.h"

namespace strata::loop::product {
namespace {

/// Rows of U that are finished before their product is added to those below.
constexpr std::int64_t kBlockRows = 96;

template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t count)
      : at_(static_cast<T*>(
            ::operator new(static_cast<std::size_t>(count) * sizeof(T), std::align_val_t{64}))) {
    std::fill_n(at_, count, T());
  }
  ~Aligned() { ::operator delete(at_, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  T* operator+(std::int64_t i) { return at_ + i; }

 private:
  T* at_;
};

std::int64_t parts(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// A row of tiles is `tile.rows` rows of A; a strip is `tile.lanes` columns.
template <class T>
class Factor {
 public:
  Factor(const TileOf<T>& tile, std::int64_t n)
      : tile_(tile),
        n_(n),
        tile_rows_(parts(n, tile.rows)),
        strips_(parts(n, tile.lanes)),
        block_(kBlockRows / tile.rows * tile.rows),
        sums_(tile_rows_ * strips_ * tile.rows * tile.lanes),
        wide_(strips_ * block_ * tile.lanes),
        narrow_(tile_rows_ * block_ * tile.rows),
        line_(n + tile.lanes + tile.rows) {}

  template <class E>
  bool run(const E* in, E* out, bool lower) {
    each_tile(lower, [&](T* sums, std::int64_t at, std::int64_t step, std::int64_t count) {
      for (std::int64_t x = 0; x < count; ++x) sums[x * step] = -static_cast<T>(in[at + x]);
    });
    for (std::int64_t first = 0; first < n_; first += block_) {
      const std::int64_t end = std::min(first + block_, n_);
      for (std::int64_t t = first / tile_.rows; t < parts(end, tile_.rows); ++t) {
        add(t, t - first / tile_.rows);
        for (std::int64_t row = 0; row < rows(t); ++row)
          if (!finish(t, row, first)) return false;
      }
      for (std::int64_t t = parts(end, tile_.rows); t < tile_rows_; ++t)
        add(t, block_ / tile_.rows);
    }
    std::fill_n(out, n_ * n_, E(T()));
    each_tile(lower, [&](T* sums, std::int64_t at, std::int64_t step, std::int64_t count) {
      for (std::int64_t x = 0; x < count; ++x) out[at + x] = E(sums[x * step]);
    });
    return true;
  }

 private:
  std::int64_t rows(std::int64_t t) const { return std::min(tile_.rows, n_ - t * tile_.rows); }
  /// The strip where the diagonal of a row begins.
  std::int64_t first_strip(std::int64_t t) const { return t * tile_.rows / tile_.lanes; }
  T* tile_at(std::int64_t t, std::int64_t strip) {
    return sums_ + (t * strips_ + strip) * tile_.rows * tile_.lanes;
  }

  /// f(first sum, place of its element in A, distance of the sums, count) for elements of A side by
  /// side in one tile, on and above the diagonal; those of L where `lower`, on and below it.
  template <class F>
  void each_tile(bool lower, F f) {
    for (std::int64_t t = 0; t < tile_rows_; ++t)
      for (std::int64_t strip = first_strip(t); strip < strips_; ++strip) {
        const std::int64_t i = t * tile_.rows, end_i = i + rows(t), j = strip * tile_.lanes,
                           end_j = std::min(j + tile_.lanes, n_);
        T* const sums = tile_at(t, strip);
        if (lower)
          for (std::int64_t c = std::max(i, j); c < end_j; ++c)
            f(sums + (c - j), c * n_ + i, tile_.lanes, std::min(end_i, c + 1) - i);
        else
          for (std::int64_t r = i; r < end_i; ++r)
            if (const std::int64_t c = std::max(r, j); c < end_j)
              f(sums + (r - i) * tile_.lanes + (c - j), r * n_ + c, 1, end_j - c);
      }
  }

  /// Adds the products of the first rows of the block, so many rows of tiles, to one below.
  void add(std::int64_t t, std::int64_t finished) {
    if (finished == 0) return;
    const TileSide<T> left{narrow_ + t * block_ * tile_.rows, 1, tile_.rows};
    for (std::int64_t strip = first_strip(t); strip < strips_; ++strip)
      tile_.add[rows(t) - 1](left, {wide_ + strip * block_ * tile_.lanes, 1, tile_.lanes},
                             {left.at, 0}, finished * tile_.rows, sums_of(tile_at(t, strip)));
  }

  /// Makes a row of U of its sums, to which what rows of other tiles give has been added, and lays
  /// it out for the products to come.
  bool finish(std::int64_t t, std::int64_t row, std::int64_t first) {
    const std::int64_t i = t * tile_.rows + row, k = t * tile_.rows - first;
    const TileSide<T> left{narrow_ + (t * block_ + k) * tile_.rows + row, 1, tile_.rows};
    T pivot = T();
    for (std::int64_t strip = first_strip(t); strip < strips_; ++strip) {
      T* const sums = tile_at(t, strip) + row * tile_.lanes;
      T* const wide = wide_ + (strip * block_ + k) * tile_.lanes;
      if (row > 0) tile_.add[0](left, {wide, 1, tile_.lanes}, {wide, 0}, row, sums_of(sums));
      if (strip == i / tile_.lanes) {
        pivot = -sums[i % tile_.lanes];
        if (!(pivot > 0 && std::isfinite(pivot))) return false;
        pivot = std::sqrt(pivot);
      }
      // Strips before the diagonal's are below the diagonal: their tile is not one of U.
      if (strip < i / tile_.lanes) continue;
      for (std::int64_t lane = 0; lane < tile_.lanes; ++lane) sums[lane] /= -pivot;
      if (strip == i / tile_.lanes) sums[i % tile_.lanes] = pivot;
      std::copy_n(sums, tile_.lanes, wide + row * tile_.lanes);
      std::copy_n(sums, tile_.lanes, line_ + strip * tile_.lanes);
    }
    for (std::int64_t below = t; below < tile_rows_; ++below)
      std::copy_n(line_ + below * tile_.rows, tile_.rows,
                  narrow_ + (below * block_ + k + row) * tile_.rows);
    return true;
  }

  TileSums<T> sums_of(T* at) const { return TileSums<T>::in_place(at, tile_.lanes); }

  const TileOf<T>& tile_;
  const std::int64_t n_, tile_rows_, strips_, block_;
  Aligned<T> sums_;    // [row of tiles][strip][row][lane]: sums, then U
  Aligned<T> wide_;    // [strip][row of the block][lane]: U, as the right side of products
  Aligned<T> narrow_;  // [row of tiles][row of the block][column]: U, as the left side
  Aligned<T> line_;    // the row of U that is being finished
};

}  // namespace

template <class E>
bool cholesky(const InstructionSet& set, std::int64_t n, bool lower, const E* in, E* out) {
  if constexpr (std::is_same_v<E, double>)
    return Factor<double>(set.f64, n).run(in, out, lower);
  else
    return Factor<float>(set.f32, n).run(in, out, lower);
}

template bool cholesky(const InstructionSet&, std::int64_t, bool, const float*, float*);
template bool cholesky(const InstructionSet&, std::int64_t, bool, const double*, double*);
template bool cholesky(const InstructionSet&, std::int64_t, bool, const BFloat16*, BFloat16*);
template bool cholesky(const InstructionSet&, std::int64_t, bool, const Float16*, Float16*);

}  // namespace strata::loop::product
