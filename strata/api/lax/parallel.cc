#include "strata/api/lax/parallel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "strata/api/lax/indexing.h"
#include "strata/api/lax/operations.h"
#include "strata/api/lax/pcast.h"
#include "strata/api/lax/reductions.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/sharding/varying.h"
#include "strata/api/trace/compose.h"
#include "strata/op/collective/named_axis.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::BoundAxis;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::Value;
using internal::Values;

using Groups = std::vector<std::vector<std::int64_t>>;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// ---- axes --------------------------------------------------------------------------------------

/// The axis for a collective of x.
const BoundAxis& axis_for(const char* self, const Array& x, const std::string& name) {
  try {
    return internal::bound_axis(self, name);
  } catch (const Error& e) {
    throw Error(self, "of {}: {}", describe(x.type()), e.message()).at(e.where());
  }
}
std::int64_t size_of(const char* self, const Array& x, const AxisNames& names) {
  std::int64_t out = 1;
  for (const std::string& name : names.get()) out *= axis_for(self, x, name).size;
  return out;
}

void check_groups(const char* self, const Groups& groups) {
  Ints all;
  for (const Ints& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != static_cast<std::int64_t>(i))
      fail(self, "axis_index_groups must cover all indices exactly once");
}
void refuse_groups(const char* self, const Groups& groups) {
  check_groups(self, groups);
  if (!groups.empty()) fail(self, "axis_index_groups are not supported over axes of vmap");
}
/// How many work together.
std::int64_t group_size(const char* self, const Array& x, const AxisNames& names,
                        const Groups& groups) {
  check_groups(self, groups);
  return groups.empty() ? size_of(self, x, names) : static_cast<std::int64_t>(groups[0].size());
}

// ---- operations over one axis ------------------------------------------------------------------

template <class F>
Array over(const Array& x, const BoundAxis& axis, F f) {
  return emit_one({x, axis.place}, x.weak(), [&](Builder& b, const Values& v) {
    return f(b, v[0], op::NamedAxis{axis.name, axis.size, v[1]});
  });
}
Array reduced(const char* self, Array x, const AxisNames& names, op::Combiner combiner) {
  for (const std::string& name : names.get())
    x = over(x, axis_for(self, x, name), [&](Builder& b, Value* v, const op::NamedAxis& axis) {
      if (combiner != op::Combiner::add || !internal::is_followed(name))
        return op::axis_reduce(b, v, axis, combiner);
      return op::axis_reduce(b, op::axis_same_as(b, v, axis, v), axis, combiner, true);
    });
  return x;
}
/// Whether all are axes of a mesh, which shard_map binds.
bool all_of_mesh(const AxisNames& names) {
  return std::all_of(names.get().begin(), names.get().end(), internal::is_mesh_axis);
}
/// Of all inputs, along a new first axis.
Array gathered(const char* self, Array x, const AxisNames& names, bool known_same = false) {
  Ints shape = sizes(x);
  shape.insert(shape.begin(), size_of(self, x, names));
  for (auto name = names.get().rbegin(); name != names.get().rend(); ++name)
    x = over(x, axis_for(self, x, *name), [&](Builder& b, Value* v, const op::NamedAxis& axis) {
      return op::axis_gather(b, v, axis, known_same);
    });
  return numpy::reshape(x, shape);
}
/// Row i of the first axis to input i; row j came from input j. `then_summed`: rows are added next,
/// so that devices may exchange sums.
Array exchanged(const char* self, Array x, const AxisNames& names, bool then_summed = false) {
  const Ints shape = sizes(x);
  Ints split;
  for (const std::string& name : names.get()) split.push_back(axis_for(self, x, name).size);
  split.insert(split.end(), shape.begin() + 1, shape.end());
  x = numpy::reshape(x, split);
  const auto exchange = [&](Builder& b, Value* v, const op::NamedAxis& axis) {
    if (then_summed) return op::axis_exchange(b, v, axis);
    v = op::axis_exchange(b, internal::on_own_device(b, v, axis.name), axis);
    return internal::on_own_device(b, v, axis.name);
  };
  for (std::size_t i = 0; i < names.get().size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    x = numpy::moveaxis(
        over(numpy::moveaxis(x, at, 0), axis_for(self, x, names.get()[i]), exchange), 0, at);
  }
  return numpy::reshape(x, shape);
}

// ---- shapes ------------------------------------------------------------------------------------

/// An axis cut into `count` parts, which stand along a new first axis.
Array parts_first(const char* self, const Array& x, int axis, std::int64_t count) {
  Ints shape = sizes(x);
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  if (count == 0 || size % count != 0)
    fail(self, "axis {} of {} cannot be cut into a part for each of {} inputs", axis,
         describe(x.type()), count);
  size /= count;
  shape.insert(shape.begin() + axis, count);
  return numpy::moveaxis(numpy::reshape(x, shape), axis, 0);
}
/// The first axis put in front of another one, and both made one.
Array first_joined(const Array& x, int axis) {
  Ints shape = sizes(x);
  const std::int64_t count = shape[0];
  shape.erase(shape.begin());
  shape[static_cast<std::size_t>(axis)] *= count;
  return numpy::reshape(numpy::moveaxis(x, 0, axis), shape);
}
void check_one_for_each(const char* self, const Array& x, int axis, std::int64_t count) {
  if (x.shape()[axis] != count)
    fail(self, "axis {} of {} must have an element for each of {} inputs", axis, describe(x.type()),
         count);
}

// ---- reductions --------------------------------------------------------------------------------

/// A number of C++ times another, on the host.
Array times(const Array& x, std::int64_t n) {
  return std::visit(
      [&](auto v) {
        return Array::scalar(v * static_cast<decltype(v + v)>(n), x.dtype(), x.weak());
      },
      *x.state()->scalar);
}

Array summed(const char* self, const Operand& operand, const AxisNames& names,
             const Groups& groups) {
  if (names.get().empty()) return operand;
  const Array x = is_bool(operand->dtype()) ? cast(operand, {DType::i32, false}) : operand.array;
  if (!x.is_traced()) {
    const std::int64_t n = group_size(self, x, names, groups);
    return x.state()->scalar ? times(x, n) : x * Array(n);
  }
  refuse_groups(self, groups);
  return reduced(self, x, names, op::Combiner::add);
}

/// Complex numbers go by their real parts, equal ones by their imaginary parts.
Array extreme(const char* self, const Operand& x, const AxisNames& names, const Groups& groups,
              op::Combiner combiner) {
  Site site(x);
  refuse_groups(self, groups);
  if (!is_complex(x->dtype())) return reduced(self, x, names, combiner);
  const Array all = gathered(self, x, names);
  return combiner == op::Combiner::max ? numpy::max(all, 0) : numpy::min(all, 0);
}

}  // namespace

Array psum(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options) {
  Site site(x);
  return summed("psum", x, axis_name, options.axis_index_groups);
}
Array pmean(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options) {
  Site site(x);
  return summed("pmean", x, axis_name, options.axis_index_groups) /
         Array(group_size("pmean", x, axis_name, options.axis_index_groups));
}
Array pmax(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options) {
  return extreme("pmax", x, axis_name, options.axis_index_groups, op::Combiner::max);
}
Array pmin(const Operand& x, const AxisNames& axis_name, const AxisIndexGroups& options) {
  return extreme("pmin", x, axis_name, options.axis_index_groups, op::Combiner::min);
}

Array psum_scatter(const Operand& x, const AxisNames& axis_name, const PsumScatter& options) {
  constexpr const char* self = "psum_scatter";
  Site site(x);
  refuse_groups(self, options.axis_index_groups);
  if (is_bool(x->dtype())) fail(self, "booleans cannot be added");
  const int dim = axis_of(self, options.scatter_dimension, x->ndim());
  const std::int64_t n = size_of(self, x, axis_name);
  if (!options.tiled) check_one_for_each(self, x, dim, n);
  const Array parts = options.tiled ? parts_first(self, x, dim, n) : numpy::moveaxis(x, dim, 0);
  return reduce_sum(exchanged(self, parts, axis_name, true), {0});
}

// ---- moves -------------------------------------------------------------------------------------

Array all_gather(const Operand& x, const AxisNames& axis_name, const AllGather& options) {
  constexpr const char* self = "all_gather";
  Site site(x);
  const bool known_same = options.to == "invarying" && all_of_mesh(axis_name);
  if (options.to != "varying" && !known_same)
    fail(self, "`to` is \"varying\" over axes of vmap, got \"{}\"", options.to);
  refuse_groups(self, options.axis_index_groups);
  if (axis_name.get().empty()) return x;
  const int axis = axis_of(self, options.axis, x->ndim() + (options.tiled ? 0 : 1));
  const Array all = gathered(self, x, axis_name, known_same);
  return options.tiled ? first_joined(all, axis) : numpy::moveaxis(all, 0, axis);
}

Array all_to_all(const Operand& x, const AxisNames& axis_name, std::int64_t split_axis,
                 std::int64_t concat_axis, const AllToAll& options) {
  constexpr const char* self = "all_to_all";
  Site site(x);
  refuse_groups(self, options.axis_index_groups);
  const int split = axis_of(self, split_axis, x->ndim()),
            concat = axis_of(self, concat_axis, x->ndim());
  const std::int64_t n = size_of(self, x, axis_name);
  if (options.tiled)
    return first_joined(exchanged(self, parts_first(self, x, split, n), axis_name), concat);
  check_one_for_each(self, x, split, n);
  return numpy::moveaxis(exchanged(self, numpy::moveaxis(x, split, 0), axis_name), 0, concat);
}
Array pswapaxes(const Operand& x, const AxisNames& axis_name, std::int64_t axis,
                const AxisIndexGroups& options) {
  return all_to_all(x, axis_name, axis, axis, {.axis_index_groups = options.axis_index_groups});
}

Array pcast(const Operand& x, const AxisNames& axis_name, const Pcast& options) {
  constexpr const char* self = "pcast";
  Site site(x);
  if (options.to != "varying" && options.to != "reduced" && options.to != "unreduced")
    fail(self, "`to` is \"varying\", \"reduced\" or \"unreduced\", got \"{}\" for {} over {}",
         options.to, describe(x->type()), fmt::join(axis_name.get(), ", "));
  Array out = x.array;
  for (const std::string& name : axis_name.get()) {
    const BoundAxis& axis = axis_for(self, x, name);
    if (!internal::is_mesh_axis(name))
      fail(self, "the axis {} is one of vmap; only those of a shard_map's mesh are cast", name);
    // What is unreduced is what each device has, until it is summed.
    if (options.to != "unreduced") out = over(out, axis, op::axis_vary);
  }
  return out;
}

Array ppermute(const Operand& x, const AxisNames& axis_name, const Pairs& perm) {
  constexpr const char* self = "ppermute";
  Site site(x);
  if (axis_name.get().size() != 1)
    fail(self, "goes along one axis, got {}", axis_name.get().size());
  const BoundAxis& axis = axis_for(self, x, axis_name.get()[0]);
  std::vector<bool> sources(static_cast<std::size_t>(axis.size)), targets = sources;
  for (const auto& pair : perm) {
    for (std::int64_t i : {pair.first, pair.second})
      if (i < 0 || i >= axis.size)
        fail(self, "perm holds ({}, {}) for axis {} of size {}", pair.first, pair.second, axis.name,
             axis.size);
    if (sources[static_cast<std::size_t>(pair.first)] ||
        targets[static_cast<std::size_t>(pair.second)])
      fail(self, "sources and destinations must be unique, but one of ({}, {}) is there already",
           pair.first, pair.second);
    sources[static_cast<std::size_t>(pair.first)] = targets[static_cast<std::size_t>(pair.second)] =
        true;
  }
  return over(x, axis, [&](Builder& b, Value* v, const op::NamedAxis& along) {
    return op::axis_permute(b, v, along, perm);
  });
}
Array pshuffle(const Operand& x, const AxisNames& axis_name, const Sizes& perm) {
  Site site(x);
  Ints sorted = perm.get(), all(perm.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  const std::int64_t n = size_of("pshuffle", x, axis_name);
  if (sorted != all || static_cast<std::int64_t>(perm.size()) != n)
    fail("pshuffle", "perm is no permutation of {} inputs: [{}]", n, fmt::join(perm.get(), ", "));
  Pairs pairs;
  for (std::int64_t target : all)
    pairs.emplace_back(perm[static_cast<std::size_t>(target)], target);
  return ppermute(x, axis_name, pairs);
}
Array pbroadcast(const Operand& x, const AxisNames& axis_name, std::int64_t source) {
  constexpr const char* self = "pbroadcast";
  Site site(x);
  const std::int64_t n = size_of(self, x, axis_name);
  if (source < 0 || source >= n) fail(self, "source {} is none of {} inputs", source, n);
  return index_in_dim(gathered(self, x, axis_name), source, 0, false);
}

// ---- ragged ------------------------------------------------------------------------------------

namespace {

void check_ragged(const char* self, const Array& operand, const Array& output,
                  std::initializer_list<const Operand*> lists, std::int64_t n) {
  Ints rows = sizes(operand), to = sizes(output);
  const bool fit = operand.dtype() == output.dtype() && !rows.empty() && rows.size() == to.size() &&
                   std::equal(rows.begin() + 1, rows.end(), to.begin() + 1);
  if (!fit)
    fail(self, "rows of {} cannot become rows of {}", describe(operand.type()),
         describe(output.type()));
  for (const Operand* list : lists) {
    const Array& first = **lists.begin();
    if (!is_integer((*list)->dtype()) || (*list)->ndim() != 1 || (*list)->shape()[0] < 1)
      fail(self, "offsets and sizes are integers, [K], got {}", describe((*list)->type()));
    if ((*list)->shape() != first.shape())
      fail(self, "offsets and sizes must be equally many, got {} and {}", describe(first.type()),
           describe((*list)->type()));
    if ((*list)->shape()[0] % n != 0)
      fail(self, "{} slices cannot be shared among {} inputs", (*list)->shape()[0], n);
  }
}

}  // namespace

Array ragged_all_to_all(const Operand& operand, const Operand& output, const Operand& input_offsets,
                        const Operand& send_sizes, const Operand& output_offsets,
                        const Operand& recv_sizes, const RaggedAllToAll& options) {
  constexpr const char* self = "ragged_all_to_all";
  Site site(operand);
  const AxisNames& names = options.axis_name;
  const std::int64_t n = size_of(self, operand, names);
  refuse_groups(self, options.axis_index_groups);
  check_ragged(self, operand, output, {&input_offsets, &send_sizes, &output_offsets, &recv_sizes},
               n);
  const std::int64_t rows = operand->shape()[0], slices = input_offsets->shape()[0];
  if (rows == 0) return output;
  // A row for each slice that comes here, in the order of senders, and a column for each row of the
  // result.
  auto in_rows = [&](const Array& list) {
    return numpy::reshape(cast(list, {DType::i32, false}), {slices, 1});
  };
  auto told = [&](const Array& list) {
    return in_rows(exchanged(self, numpy::reshape(list, {n, slices / n}), names));
  };
  const Array slice = in_rows(iota(DType::i32, slices)),
              position = numpy::reshape(iota(DType::i32, output->shape()[0]), {1, -1});
  const Array from = told(input_offsets), to = told(output_offsets);
  const Array arrives = numpy::logical_and(position >= to, position < to + in_rows(recv_sizes));
  const Array last = numpy::max(numpy::where(arrives, slice, -1), 0);
  const Array of_sender = numpy::clip(from + position - to, 0, rows - 1),
              of_all = numpy::floor_divide(slice, Array(slices / n)) * Array(rows) + of_sender;
  const Array row =
      numpy::take_along_axis(of_all, numpy::reshape(numpy::maximum(last, 0), {1, -1}), 0);
  Ints all = sizes(operand), column(all.size(), 1);
  all[0] *= n;
  column[0] = output->shape()[0];
  const Array received = numpy::take(numpy::reshape(gathered(self, operand, names), all),
                                     numpy::reshape(row, {-1}), 0);
  return numpy::where(numpy::reshape(last >= 0, column), received, output);
}

// ---- where and how many ------------------------------------------------------------------------

Array axis_index(const AxisNames& axis_name, Where where) {
  Site site(where);
  const std::vector<std::string>& names = axis_name.get();
  if (names.empty()) return Array::scalar(std::int64_t{0}, DType::i32, true);
  Array out = internal::bound_axis("axis_index", names[0]).place;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const BoundAxis& axis = internal::bound_axis("axis_index", names[i]);
    out = out * Array(axis.size) + axis.place;
  }
  return out;
}
std::int64_t axis_size(const AxisNames& axis_name, Where where) {
  Site site(where);
  std::int64_t out = 1;
  for (const std::string& name : axis_name.get())
    out *= internal::bound_axis("axis_size", name).size;
  return out;
}

}  // namespace strata::lax
