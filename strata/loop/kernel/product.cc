#include "strata/loop/kernel/product.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "strata/base/check.h"
#include "strata/loop/kernel/product_pack.h"
#include "strata/type/float.h"

extern "C" void strata_product(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace strata::loop::product {
namespace {

/// f(T{}) with the C++ type of elements, where the kernel takes such.
template <class F>
bool with_storage(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{}), true;
    case DType::f64: return f(double{}), true;
    case DType::bf16: return f(BFloat16{}), true;
    case DType::f16: return f(Float16{}), true;
    case DType::i8: return f(std::int8_t{}), true;
    case DType::i16: return f(std::int16_t{}), true;
    case DType::i32: return f(std::int32_t{}), true;
    case DType::i64: return f(std::int64_t{}), true;
    case DType::ui8: return f(std::uint8_t{}), true;
    case DType::ui16: return f(std::uint16_t{}), true;
    case DType::ui32: return f(std::uint32_t{}), true;
    case DType::ui64: return f(std::uint64_t{}), true;
    default: return false;
  }
}
bool is_stored(DType dtype) {
  return with_storage(dtype, [](auto) {});
}

/// Bytes of an element, 0 for what the kernel does not take; whether it is a float. These and not
/// the room type's, since programs that hold the kernel do not hold that room.
std::int64_t stored_bytes(DType dtype) {
  std::int64_t out = 0;
  with_storage(dtype, [&]<class S>(S) { out = sizeof(S); });
  return out;
}
bool stores_floats(DType dtype) {
  bool out = false;
  with_storage(dtype, [&]<class S>(S) { out = !is_whole<S>; });
  return out;
}

/// f(tile) with the tile of sums. Integers wrap at the end as well as on the way.
template <class F>
void with_tile(const InstructionSet& set, DType accumulator, F&& f) {
  if (accumulator == DType::f32) return f(set.f32);
  if (accumulator == DType::f64) return f(set.f64);
  stored_bytes(accumulator) == 8 ? f(set.ui64) : f(set.ui32);
}

/// Whether elements of S are computed with in A.
template <class S, class A>
inline constexpr bool fits = is_whole<S> == is_whole<A> && (sizeof(S) <= sizeof(A));

/// The offsets of places [begin, begin + count) of a role.
void offsets(const Role& role, std::int64_t begin, std::int64_t count, std::int64_t* out) {
  if (role.size() == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = (begin + i) * role[0].step;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = begin + i, offset = 0;
    for (std::size_t d = role.size(); d-- > 0;) {
      offset += place % role[d].size * role[d].step;
      place /= role[d].size;
    }
    out[i] = offset;
  }
}
bool is_contiguous(const Role& role) {
  return role.empty() || (role.size() == 1 && role[0].step == 1);
}

/// A block of one batch: rows [row, row + rows), columns [column, column + columns).
struct Block {
  std::int64_t batch, row, rows, column, columns;
};

template <class A>
class Product {
 public:
  Product(const ProductParams& p, const TileOf<A>& tile, void* const* buffers)
      : p_(p),
        tile_(tile),
        left_base_(buffers[p.swapped ? 1 : 0]),
        right_base_(buffers[p.swapped ? 0 : 1]),
        result_(buffers[2]),
        k_(ProductParams::count(p.left_k)) {
    const std::int64_t depth = std::min(k_, kDepth), rows = padded(p.row_block, tile.rows),
                       columns = padded(p.column_block, tile.lanes);
    const std::int64_t places = p.row_block + p.column_block + 2 * depth,
                       elements = depth * (rows + columns) + rows * columns;
    row_places_ =
        static_cast<std::int64_t*>(scratch(static_cast<std::size_t>(places) * sizeof(std::int64_t) +
                                           static_cast<std::size_t>(elements) * sizeof(A)));
    column_places_ = row_places_ + p.row_block;
    left_ks_ = column_places_ + p.column_block;
    right_ks_ = left_ks_ + depth;
    left_ = reinterpret_cast<A*>(right_ks_ + depth);
    right_ = left_ + depth * rows;
    sums_ = right_ + depth * columns;
  }

  void run(const Block& block) {
    std::int64_t left_batch, right_batch;
    offsets(p_.left_batch, block.batch, 1, &left_batch);
    offsets(p_.right_batch, block.batch, 1, &right_batch);
    offsets(p_.rows, block.row, block.rows, row_places_);
    offsets(p_.columns, block.column, block.columns, column_places_);
    std::fill(sums_, sums_ + padded(block.rows, tile_.rows) * padded(block.columns, tile_.lanes),
              A{});
    for (std::int64_t k = 0; k < k_; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, k_ - k);
      offsets(p_.left_k, k, depth, left_ks_);
      offsets(p_.right_k, k, depth, right_ks_);
      with_side(p_.left, left_base_, left_batch, row_places_, p_.rows, left_ks_, p_.left_k,
                [&](const auto& left) {
                  with_side(p_.right, right_base_, right_batch, column_places_, p_.columns,
                            right_ks_, p_.right_k,
                            [&](const auto& right) { add(left, right, block, depth); });
                });
    }
    store(block);
  }

 private:
  static std::int64_t padded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

  template <class F>
  static void with_side(DType dtype, const void* base, std::int64_t batch,
                        const std::int64_t* places, const Role& role, const std::int64_t* ks,
                        const Role& k, F&& f) {
    with_storage(dtype, [&]<class S>(S) {
      if constexpr (fits<S, A>)
        f(Side<S>{static_cast<const S*>(base) + batch, places, ks, is_contiguous(role),
                  is_contiguous(k)});
      else
        STRATA_UNREACHABLE("products of type {} in other numbers", static_cast<int>(dtype));
    });
  }

  /// Some steps of k of a block. A side whose elements can be read where they are is; others are
  /// laid out as panels.
  template <class L, class R>
  void add(const Side<L>& left, const Side<R>& right, const Block& block, std::int64_t depth) {
    TileSide<A> rows =
        in_place(left, p_.rows, p_.left_k, depth, left.ks_lie_together || block.rows <= tile_.rows);
    if (block.columns > 4 * tile_.lanes &&
        rows_collide(rows.place * static_cast<std::int64_t>(sizeof(A))))
      rows.at = nullptr;  // several panels of columns meet them: worth laying out
    if (!rows.at) pack(left, block.rows, depth, tile_.rows, left_);
    const TileSide<A> columns = in_place(right, p_.columns, p_.right_k, depth,
                                         block.rows <= tile_.rows && right.places_lie_together);
    const std::int64_t whole = columns.at ? block.columns / tile_.lanes * tile_.lanes : 0;
    if (right.places_lie_together) pack_from(right, whole, block.columns, depth);
    each_tile(block, [&](std::int64_t m, std::int64_t tile_rows, std::int64_t n, std::int64_t,
                         A* sums) {
      if (m == 0 && !right.places_lie_together)
        pack_from(right, n, std::min(n + tile_.lanes, block.columns), depth);
      const TileSide<A> row = rows.at ? TileSide<A>{rows.at + m * rows.place, rows.place, rows.step}
                                      : TileSide<A>{left_ + m * depth, 1, tile_.rows};
      const TileSide<A> column = n < whole ? TileSide<A>{columns.at + n, 1, columns.step}
                                           : TileSide<A>{right_ + n * depth, 1, tile_.lanes};
      tile_.add[tile_rows - 1](row, column, {column.at, 0}, depth,
                               TileSums<A>::in_place(sums, tile_.lanes));
    });
  }
  /// Columns [first, end) of the right side, whole panels but for the last.
  template <class S>
  void pack_from(Side<S> side, std::int64_t first, std::int64_t end, std::int64_t depth) {
    side.places += first;
    pack(side, end - first, depth, tile_.lanes, right_ + first * depth);
  }

  /// A side as it is, if it is `wanted` so and has the type and steps for it.
  template <class S>
  TileSide<A> in_place(const Side<S>& side, const Role& places, const Role& ks, std::int64_t depth,
                       bool wanted) const {
    if constexpr (std::is_same_v<S, A>)
      if (wanted && places.size() <= 1 && ks.size() <= 1)
        return {side.from + side.places[0] + side.ks[0], places.empty() ? 0 : places[0].step,
                depth > 1 ? side.ks[1] - side.ks[0] : 0};
    return {nullptr, 0, 0};
  }

  /// f(first row, rows, first column, columns, sums) for the tiles of a block.
  template <class F>
  void each_tile(const Block& block, F&& f) {
    A* sums = sums_;
    for (std::int64_t n = 0; n < block.columns; n += tile_.lanes)
      for (std::int64_t m = 0; m < block.rows; m += tile_.rows, sums += tile_.rows * tile_.lanes)
        f(m, std::min(tile_.rows, block.rows - m), n, std::min(tile_.lanes, block.columns - n),
          sums);
  }

  void store(const Block& block) {
    const std::int64_t all = ProductParams::count(p_.rows) * ProductParams::count(p_.columns);
    with_storage(p_.result, [&]<class S>(S) {
      if constexpr (fits<S, A>) {
        S* result = static_cast<S*>(result_) + block.batch * all + block.row * p_.row_step +
                    block.column * p_.column_step;
        each_tile(block, [&](std::int64_t m, std::int64_t rows, std::int64_t n,
                             std::int64_t columns, const A* sums) {
          for (std::int64_t r = 0; r < rows; ++r) {
            S* to = result + (m + r) * p_.row_step + n * p_.column_step;
            const A* from = sums + r * tile_.lanes;
            if (p_.column_step == 1)
              for (std::int64_t x = 0; x < columns; ++x) to[x] = narrowed<S>(from[x]);
            else
              for (std::int64_t x = 0; x < columns; ++x)
                to[x * p_.column_step] = narrowed<S>(from[x]);
          }
        });
      }
    });
  }

  const ProductParams& p_;
  const TileOf<A>& tile_;
  const void *left_base_, *right_base_;
  void* result_;
  std::int64_t k_;
  std::int64_t *row_places_, *column_places_, *left_ks_, *right_ks_;  // all in scratch
  A *left_, *right_, *sums_;
};

std::int64_t blocks(std::int64_t total, std::int64_t block) { return (total + block - 1) / block; }

}  // namespace

std::int64_t ProductParams::count(const Role& role) {
  std::int64_t out = 1;
  for (const Extent& e : role) out *= e.size;
  return out;
}

std::int64_t ProductParams::grid() const {
  return blocks(count(left_batch), together) * blocks(count(rows), row_block) *
         blocks(count(columns), column_block);
}

std::vector<std::int64_t> ProductParams::numbers() const {
  std::vector<std::int64_t> out;
  for (DType d : {left, right, result, accumulator}) out.push_back(static_cast<std::int64_t>(d));
  out.insert(out.end(), {together, row_block, column_block, row_step, column_step, swapped});
  for (const Role* role : {&left_batch, &right_batch, &rows, &columns, &left_k, &right_k}) {
    out.push_back(static_cast<std::int64_t>(role->size()));
    for (const Extent& e : *role) out.insert(out.end(), {e.size, e.step});
  }
  return out;
}

ProductParams ProductParams::from(const std::int64_t* numbers) {
  ProductParams p;
  DType* types[] = {&p.left, &p.right, &p.result, &p.accumulator};
  for (DType* type : types) *type = static_cast<DType>(*numbers++);
  for (std::int64_t* n : {&p.together, &p.row_block, &p.column_block, &p.row_step, &p.column_step})
    *n = *numbers++;
  p.swapped = *numbers++ != 0;
  for (Role* role : {&p.left_batch, &p.right_batch, &p.rows, &p.columns, &p.left_k, &p.right_k})
    for (std::int64_t size = *numbers++; size > 0; --size, numbers += 2)
      role->push_back({numbers[0], numbers[1]});
  return p;
}

bool takes(DType left, DType right, DType result, DType accumulator) {
  auto fits_accumulator = [&](DType d) {
    return is_stored(d) && stores_floats(d) == stores_floats(accumulator) &&
           stored_bytes(d) <= stored_bytes(accumulator);
  };
  const bool rounds_twice = accumulator == DType::f64 && stored_bytes(result) == 2;
  return is_stored(accumulator) && !rounds_twice && fits_accumulator(left) &&
         fits_accumulator(right) && fits_accumulator(result);
}

void run(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const ProductParams p = ProductParams::from(static_cast<const std::int64_t*>(buffers[3]));
  with_tile(set, p.accumulator, [&]<class A>(const TileOf<A>& tile) {
    const std::int64_t batch = ProductParams::count(p.left_batch), m = ProductParams::count(p.rows),
                       n = ProductParams::count(p.columns);
    const std::int64_t across = blocks(n, p.column_block), down = blocks(m, p.row_block);
    Product<A> product(p, tile, buffers);
    for (std::int64_t point = begin; point < end; ++point) {
      const std::int64_t row = point / across % down * p.row_block,
                         column = point % across * p.column_block,
                         first = point / across / down * p.together;
      for (std::int64_t b = first; b < std::min(first + p.together, batch); ++b)
        product.run(
            {b, row, std::min(p.row_block, m - row), column, std::min(p.column_block, n - column)});
    }
  });
}

}  // namespace strata::loop::product

extern "C" void strata_product(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::product::run(strata::loop::product::instruction_set(), buffers, begin, end);
}
