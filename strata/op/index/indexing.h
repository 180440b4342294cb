// What operations with run-time indices share: clamped starts, and the dimension numbers of gather
// and scatter.
#pragma once

#include <algorithm>

#include "strata/op/rules.h"

namespace strata::op {

// ---- starts ------------------------------------------------------------------------------------
/// Element i of an integer literal, clamped to [0, high].
std::int64_t clamped_start(const Literal& starts, std::int64_t i, std::int64_t high);
/// The same for an instruction, as an index.
loop::Index lower_clamped_start(loop::Builder& b, loop::Inst* start, std::int64_t high);
/// Throws unless `starts` are `rank` scalars of one integer dtype.
struct StartConstraints {
  const char *count, *types, *input;
};  // what the specification calls them
void expect_starts(std::string_view op, std::span<Value* const> starts, int rank,
                   const StartConstraints& c);
/// The scalar min(high, greatest value of `dtype`), for clamping indices of that dtype.
Value* start_bound(Builder& b, DType dtype, std::int64_t high);
/// Lanes of a loop that moves elements of a dtype: one cache line.
inline int copy_lanes(DType dtype) { return static_cast<int>(64 / byte_width(dtype)); }
/// Starts (scalars, some with a leading dimension `size`) stacked to [size, n], or to [n] when none
/// is batched.
Value* stack_starts(Builder& b, std::span<Value* const> starts, const std::vector<bool>& batched,
                    std::int64_t size);

/// A dimension cut into pieces for grid points: [begin(piece), end(piece)).
struct Pieces {
  std::int64_t extent, length;  // length of all but the last
  std::int64_t count() const { return (extent + length - 1) / length; }
  void vector(loop::Builder& b, const loop::Index& piece, int lanes,
              const std::function<void(loop::Index)>& body) const;
};

// ---- gather and scatter ------------------------------------------------------------------------
/// One set of numbers for both. The "small" array is a gather's result or a scatter's updates; its
/// dimensions are window dimensions (positions inside a slice of the operand) and outer ones
/// (positions among the indices).
struct IndexDims {
  Ints window;   // offset_dims, update_window_dims: dimensions of the small array
  Ints dropped;  // collapsed_slice_dims, inserted_window_dims: operand dimensions without a window
                 // dimension
  Ints operand_batch;  // operand_batching_dims, input_batching_dims
  Ints indices_batch;  // start_indices_batching_dims, scatter_indices_batching_dims: dimensions of
                       // the indices
  Ints index_map;  // start_index_map, scatter_dims_to_operand_dims: operand dimension of each index
                   // component
  std::int64_t index_vector = 0;

  /// Dimensions of the small array that are not window dimensions, ascending.
  Ints outer(int small_rank) const;
  /// Operand dimensions that have a window dimension, ascending: window[i] runs over operand
  /// dimension windowed[i].
  Ints windowed(int operand_rank) const;
  /// The dimension of the outer ones that runs along dimension `d` of the indices.
  int outer_of(std::int64_t d) const { return static_cast<int>(d > index_vector ? d - 1 : d); }
};
IndexDims gather_dims(const Attrs& attrs);
IndexDims scatter_dims(const Attrs& attrs);
void set_gather_dims(Attrs& attrs, const IndexDims& dims);
void set_scatter_dims(Attrs& attrs, const IndexDims& dims);
/// What the specification calls the constraints that gather and scatter share; 0: it has none.
struct IndexConstraints {
  int ranks, vector_range, components, window_order, window_range, dropped_unique, dropped_order,
      dropped_range, batch_order, batch_range, indices_unique, indices_range, vector_batch,
      batch_pairs, batch_sizes, map_unique, map_range;
};
inline constexpr IndexConstraints kGatherConstraints{1,  2,  3,  4,  5,  6,  7,  8, 10,
                                                     11, 13, 14, 15, 16, 17, 18, 19};
inline constexpr IndexConstraints kDynamicGatherConstraints{1, 2, 3, 4, 5, 6, 6, 7, 0,
                                                            0, 0, 0, 0, 0, 0, 9, 10};
inline constexpr IndexConstraints kScatterConstraints{2,  22, 19, 7,  8,  9,  10, 11, 12,
                                                      13, 14, 15, 16, 17, 18, 20, 21};
/// Throws where the numbers contradict the types.
void expect_index_dims(std::string_view op, const IndexDims& dims, const Type& operand,
                       const Type& indices, int small_rank,
                       const IndexConstraints& numbers = kGatherConstraints);
/// Sizes of the outer dimensions: the shape of the indices without the index vector.
std::vector<Dim> outer_sizes(const IndexDims& dims, const Type& indices);
/// The numbers when operand and indices have a new leading dimension (the small array always has
/// one).
IndexDims with_batch(const IndexDims& dims, bool operand_batched, bool indices_batched);

/// Position in the indices of component c for given outer positions. I is std::int64_t or
/// loop::Index.
template <class I>
std::vector<I> index_position(const IndexDims& dims, int indices_rank, std::span<const I> outer,
                              std::int64_t c) {
  std::vector<I> at(outer.begin(), outer.end());
  if (dims.index_vector < indices_rank) at.insert(at.begin() + dims.index_vector, I(c));
  return at;
}
/// Position in the operand of a window position, without the start: batching and window parts.
template <class I>
std::vector<I> window_position(const IndexDims& dims, int operand_rank, std::span<const I> outer,
                               std::span<const I> window) {
  std::vector<I> at(static_cast<std::size_t>(operand_rank), I(0));
  for (std::size_t i = 0; i < dims.operand_batch.size(); ++i)
    at[static_cast<std::size_t>(dims.operand_batch[i])] =
        outer[static_cast<std::size_t>(dims.outer_of(dims.indices_batch[i]))];
  Ints windowed = dims.windowed(operand_rank);
  for (std::size_t i = 0; i < windowed.size(); ++i)
    at[static_cast<std::size_t>(windowed[i])] = window[i];
  return at;
}
/// Entries of `index` at `dims`.
template <class I>
std::vector<I> picked(std::span<const I> index, const Ints& dims) {
  std::vector<I> out;
  for (std::int64_t d : dims) out.push_back(index[static_cast<std::size_t>(d)]);
  return out;
}

// ---- sharding ----------------------------------------------------------------------------------
/// One factor that passes through when the part is as large as the whole; else each dimension must
/// be replicated.
template <class SetWhole, class SetPart>
void share_if_whole(FactorTable& t, const Dim& whole, const Dim& part, SetWhole&& set_whole,
                    SetPart&& set_part) {
  bool same = whole == part;
  int f = t.factor(same ? 'p' : 'n', whole.bound());
  set_whole(f);
  set_part(same ? f : t.factor('n', part.bound()));
}

// ---- builders ----------------------------------------------------------------------------------
Value* gather(Builder& b, Value* operand, Value* indices, const IndexDims& dims,
              const Ints& slice_sizes);
/// `combiner`: a plain combiner's name or "assign".
Value* scatter(Builder& b, Value* operand, Value* indices, Value* updates, const IndexDims& dims,
               const std::string& combiner, bool unique_indices);

}  // namespace strata::op
