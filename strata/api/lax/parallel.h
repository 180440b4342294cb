// Between the inputs of a vmap that names its axis: sums, extremes, exchanges, under the names of
// jax.lax.
//
//   auto normalised = vmap([](Array x) { return x / lax::psum(x, "i"); }, {.axis_name = "i"});
//
// `axis_name` is one name or several, the most significant first (upstream's vmap knows several
// only in reductions, all_to_all and axis_index). All throw Error for a name that no vmap around
// binds. Reductions and moves take trees too, leaf by leaf. As upstream, `axis_index_groups` are
// refused over axes of vmap; only psum of what is no traced array takes them, and counts the first
// group. Upstream's pcast, psend and precv need shard_map.
#pragma once

#include <utility>
#include <vector>

#include "strata/api/trace/function.h"
#include "strata/api/transform/axes.h"

namespace strata::lax {

struct AxisIndexGroups {
  internal::Named named = internal::Named();
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
};
/// x of all inputs added: the same for each. What is the same for all inputs is multiplied by their
/// number; a C++ number stays one, so that psum(1, "i") is the size. Booleans count as i32.
Array psum(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options = {});
/// The sum over the number of inputs; integers become floats.
Array pmean(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options = {});
/// The greatest (least) of all inputs, element by element. No derivative within the vmap, as
/// upstream; outside of it, of the vmap as a whole, there is one.
Array pmax(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options = {});
/// The least of x along the named axes, the same at each place.
Array pmin(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options = {});

struct AllGather {
  internal::Named named = internal::Named();
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  std::int64_t axis = 0;
  bool tiled = false;
  /// Upstream's "reduced" and "invarying" say how a result is sharded over the devices of
  /// shard_map, and are refused here as by upstream's vmap.
  std::string to = "varying";
};
/// x of all inputs along a new axis (tiled: one behind the other along an axis that is there); the
/// same for each.
Array all_gather(const Operand& x, const AxisNames& axis_name, const AllGather& options = {});

struct AllToAll {
  internal::Named named = internal::Named();
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool tiled = false;
};
/// Part i along split_axis goes to input i; the parts that an input gets are stacked along a new
/// axis at concat_axis (counted where split_axis, which has an element for each input, is gone), or
/// tiled one behind the other along one that is there.
Array all_to_all(const Operand& x, const AxisNames& axis_name, std::int64_t split_axis,
                 std::int64_t concat_axis, const AllToAll& options = {});
/// all_to_all(x, axis_name, axis, axis)
Array pswapaxes(const Operand& x, const AxisNames& axis_name, std::int64_t axis,
                const AxisIndexGroups& options = {});

struct PsumScatter {
  internal::Named named = internal::Named();
  std::int64_t scatter_dimension = 0;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool tiled = false;
};
/// Of psum(x) each input gets its own element along scatter_dimension, which disappears; tiled: its
/// part, of several elements.
Array psum_scatter(const Operand& x, const AxisNames& axis_name, const PsumScatter& options = {});

/// x of the input that is this one's source among pairs (source, destination), 0 where there is
/// none. (Upstream's vmap wants a pair for each input.)
Array ppermute(const Operand& x, const AxisNames& axis_name,
               const std::vector<std::pair<std::int64_t, std::int64_t>>& perm);
/// x of input perm[i] for input i.
Array pshuffle(const Operand& x, const AxisNames& axis_name, const Sizes& perm);
/// x of one input for all. (Upstream documents it by psum, which holds here; its vmap refuses
/// arrays that are mapped.)
Array pbroadcast(const Operand& x, const AxisNames& axis_name, std::int64_t source);

struct RaggedAllToAll {
  AxisNames axis_name;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
};
/// `output` with rows that others sent. Offsets and sizes are integers, [K], the same number K / n
/// of consecutive slices for each of n inputs: of slice k the rows operand[input_offsets[k] : +
/// send_sizes[k]] go to input k * n / K, to its rows from output_offsets[k]; recv_sizes says how
/// many arrive of each slice, in the order of senders. Where slices overlap the last sender's
/// stays; what is outside of `output` is dropped. (Upstream documents this and has it in
/// shard_map alone.)
Array ragged_all_to_all(const Operand& operand, const Operand& output, const Operand& input_offsets,
                        const Operand& send_sizes, const Operand& output_offsets,
                        const Operand& recv_sizes, const RaggedAllToAll& options);

/// Where this input stands along the axis, i32; of several axes as if they were one.
Array axis_index(const AxisNames& axis_name, Where where = Where::current());
/// The number of inputs.
std::int64_t axis_size(const AxisNames& axis_name, Where where = Where::current());

namespace detail {
/// What is given leaf by leaf to the functions of one array.
template <class T>
concept TreeOfArrays = tree::TreeLike<T> && !std::convertible_to<const T&, Operand>;
template <TreeOfArrays T, class F>
T leaf_by_leaf(const T& x, Where where, F f) {
  internal::Site site(where);
  return tree::map([&](const Array& leaf) { return f(Operand(leaf, where)); }, x);
}
}  // namespace detail

template <detail::TreeOfArrays T>
T psum(const T& x, const AxisNames& axis_name, const AxisIndexGroups& options = {},
       Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return psum(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T pmean(const T& x, const AxisNames& axis_name, const AxisIndexGroups& options = {},
        Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return pmean(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T pmax(const T& x, const AxisNames& axis_name, const AxisIndexGroups& options = {},
       Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return pmax(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T pmin(const T& x, const AxisNames& axis_name, const AxisIndexGroups& options = {},
       Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return pmin(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T all_gather(const T& x, const AxisNames& axis_name, const AllGather& options = {},
             Where where = Where::current()) {
  return detail::leaf_by_leaf(
      x, where, [&](const Operand& leaf) { return all_gather(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T all_to_all(const T& x, const AxisNames& axis_name, std::int64_t split_axis,
             std::int64_t concat_axis, const AllToAll& options = {},
             Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where, [&](const Operand& leaf) {
    return all_to_all(leaf, axis_name, split_axis, concat_axis, options);
  });
}
template <detail::TreeOfArrays T>
T pswapaxes(const T& x, const AxisNames& axis_name, std::int64_t axis,
            const AxisIndexGroups& options = {}, Where where = Where::current()) {
  return detail::leaf_by_leaf(
      x, where, [&](const Operand& leaf) { return pswapaxes(leaf, axis_name, axis, options); });
}
template <detail::TreeOfArrays T>
T psum_scatter(const T& x, const AxisNames& axis_name, const PsumScatter& options = {},
               Where where = Where::current()) {
  return detail::leaf_by_leaf(
      x, where, [&](const Operand& leaf) { return psum_scatter(leaf, axis_name, options); });
}
template <detail::TreeOfArrays T>
T ppermute(const T& x, const AxisNames& axis_name,
           const std::vector<std::pair<std::int64_t, std::int64_t>>& perm,
           Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return ppermute(leaf, axis_name, perm); });
}
template <detail::TreeOfArrays T>
T pshuffle(const T& x, const AxisNames& axis_name, const Sizes& perm,
           Where where = Where::current()) {
  return detail::leaf_by_leaf(x, where,
                              [&](const Operand& leaf) { return pshuffle(leaf, axis_name, perm); });
}
template <detail::TreeOfArrays T>
T pbroadcast(const T& x, const AxisNames& axis_name, std::int64_t source,
             Where where = Where::current()) {
  return detail::leaf_by_leaf(
      x, where, [&](const Operand& leaf) { return pbroadcast(leaf, axis_name, source); });
}

}  // namespace strata::lax
