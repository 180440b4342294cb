// A function for one device of a mesh, on all of them: each sees its own part,
// and exchanges by collectives over axes of the mesh (lax/parallel.h).
//
//   Mesh mesh = make_mesh({{"x", 4}});
//   auto mean = shard_map([](const Array& part) { return
//   lax::pmean(part.mean(), "x"); },
//                         {.mesh = mesh, .in_specs = P{"x"}, .out_specs =
//                         P()});
//   mean(arange(8).astype(float32));   // 3.5, of four parts of two elements
//
// Dimensions of arguments are cut over the axes that their specs name; an axis
// that a spec does not name holds copies. A result is put together likewise,
// and what varies along an axis that its spec does not name is an Error: the
// copies would differ. What f captures is the same for all.
//
// Derivatives within f are of the sum of all devices' losses: the cotangent of
// what is the same on all devices, weights say, is added up over them, and psum
// gives back what it got. With check_vma = false nothing is added up, and psum
// is transposed to psum, as under vmap.
//
// With `axis_names` only these axes are the program's own (manual); along the
// others the compiler partitions as in `jit`. A shard_map within a shard_map
// takes the axes that are left. Derivatives and vmap go through, and give what
// those of the whole computation would.
//
// Source: jax.shard_map, jax.pmap. Deviations: what varies is found out by
// following f, so carries of loops and branches need no cast (lax::pcast), and
// what a predicate varies along its results do. Loops
// whose length differs from device to device go on for all of them until the
// last is done. Outside of a trace the program is compiled as a whole.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/lax/pcast.h"
#include "strata/api/sharding/sharding.h"
#include "strata/api/trace/function.h"
#include "strata/api/transform/axes.h"
#include "strata/api/transform/vmap.h"

namespace strata {

using mesh::P;

/// Options of `shard_map`.
struct ShardMap {
  internal::Named named = internal::Named();
  /// The devices. Within a shard_map it may be left out: the mesh around.
  Mesh mesh = {};
  /// How arguments are cut: one spec for all, or one for each argument (all
  /// arrays of a tree alike).
  OneOrMore<PartitionSpec> in_specs = {};
  /// How results are put together: one spec for all, or one for each array of
  /// the result.
  OneOrMore<PartitionSpec> out_specs = {};
  /// The axes over which f is written for one device; none: all that no
  /// shard_map around has.
  std::vector<std::string> axis_names = {};
  /// Whether a result must be known to be the same along axes that its spec
  /// does not name. Without, the first device's is taken.
  bool check_vma = true;
};

/// Options of `pmap`.
struct Pmap {
  internal::Named named = internal::Named();
  /// What collectives within f call the axis.
  std::string axis_name = "";
  /// The axis of arguments that is cut, as of `vmap`; `none`: all devices get
  /// the whole.
  OneOrMore<std::optional<std::int64_t>> in_axes = {};
  /// Where the devices' results stand along, as of `vmap`.
  OneOrMore<std::int64_t> out_axes = {};
  /// Numbers of the devices; none: the first ones.
  std::vector<std::int64_t> devices = {};
  /// The number of devices, when no argument is cut.
  std::optional<std::int64_t> axis_size = std::nullopt;
};

namespace internal {

/// The axes that a shard_map binds, and how it was asked for.
struct Manual {
  Mesh mesh;
  std::vector<mesh::MeshAxis> axes;  // in the mesh's order
  bool all = true;                   // whether no axis of the mesh is the compiler's
  bool follows = false;              // whether what varies is followed (check_vma)
};
/// Throws Error for a mesh that is missing or another than the one around, and
/// for axes that are none of it, come twice, or belong to a shard_map around.
Manual manual_axes(const ShardMap& options);

/// Each leaf's spec from one for each argument. Throws Error for another number
/// of them.
template <class... Args>
std::vector<PartitionSpec> leaf_specs(const std::tuple<Args...>& arguments,
                                      const OneOrMore<PartitionSpec>& specs) {
  if (!specs.is_one() && specs.size() != sizeof...(Args))
    fail("shard_map", "in_specs has {} specs for {} arguments", specs.size(), sizeof...(Args));
  std::vector<PartitionSpec> out;
  std::size_t number = 0;
  auto one = [&](const auto& argument) {
    const PartitionSpec& spec = specs[specs.is_one() ? 0 : number++];
    tree::for_each(argument, [&](const Array&) { out.push_back(spec); });
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
  return out;
}
/// Types of one device's parts. Throws Error naming the argument, its spec and
/// the dimension that does not divide.
std::vector<Type> part_types(const Manual& manual, std::span<const Array> leaves,
                             const std::vector<std::string>& paths,
                             const std::vector<PartitionSpec>& specs);
/// Of a program whose first arguments are the places along `manual.axes`, and
/// whose next are parts.
std::vector<Array> shard_map(const Program& program, const Manual& manual,
                             std::span<const Array> leaves, const std::vector<PartitionSpec>& specs,
                             const ShardMap& options);

/// Binds the axes on this thread while it lives.
class ManualScope {
 public:
  ManualScope(const Manual& manual, const std::vector<Array>& places);
  ~ManualScope();
  ManualScope(const ManualScope&) = delete;
  ManualScope& operator=(const ManualScope&) = delete;

 private:
  std::vector<std::unique_ptr<AxisScope>> axes_;
};

template <class F>
class [[nodiscard]] ShardMapped {
 public:
  ShardMapped(F f, ShardMap options, const Where& where)
      : f_(std::move(f)), options_(std::move(options)), where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    if constexpr (accepts<const F, Args...>()) {
      Site site(where_);
      using Tuple = ArgumentTuple<const F, Args...>;
      const Tuple arguments(std::forward<Args>(args)...);
      const Manual manual = manual_axes(options_);
      const std::vector<PartitionSpec> specs = leaf_specs(arguments, options_.in_specs);
      const std::vector<Array> leaves = tree::leaves<Array>(arguments);
      std::vector<Type> types(manual.axes.size(), Type::scalar(DType::i32));
      for (Type& t : part_types(manual, leaves, argument_paths(arguments), specs))
        types.push_back(std::move(t));
      auto within = [&](const std::vector<Array>& places, auto&... each) {
        ManualScope scope(manual, places);
        return as_arrays(f_(each...));
      };
      const std::vector<Array> places(manual.axes.size(),
                                      Array::scalar(std::int64_t{0}, DType::i32, false));
      auto traced = trace_function(within, std::tuple_cat(std::tuple(places), arguments),
                                   Trace::Kind::nested, types);
      return traced.unflatten(internal::shard_map(traced.program, manual, leaves, specs, options_));
    }
  }

 private:
  F f_;
  ShardMap options_;
  Where where_;
};

/// The axis of the devices, and what each gets of the arguments.
struct OverDevices {
  Mesh mesh;
  Mapped mapped;
  /// Whether each of several processes gives rows for its own devices, and gets those back.
  bool own_rows = false;
};
/// Throws Error for axes of unequal sizes, and where there are fewer devices.
OverDevices over_devices(std::span<const Array> leaves,
                         const std::vector<std::optional<std::int64_t>>& axes, const Pmap& options);
std::vector<Array> pmap(const Program& program, const OverDevices& over,
                        std::span<const Array> leaves, const Pmap& options);

template <class F>
class [[nodiscard]] Pmapped {
 public:
  Pmapped(F f, Pmap options, const Where& where)
      : f_(std::move(f)), options_(std::move(options)), where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    if constexpr (accepts<const F, Args...>()) {
      Site site(where_);
      using Tuple = ArgumentTuple<const F, Args...>;
      const Tuple arguments(std::forward<Args>(args)...);
      const std::vector<Array> leaves = tree::leaves<Array>(arguments);
      const VmapOptions as_vmap{.in_axes = options_.in_axes};
      const OverDevices over = over_devices(leaves, leaf_axes(arguments, as_vmap), options_);
      const Manual manual{over.mesh, over.mesh.axes(), true};
      auto within = [&](const Array& place, auto&... each) {
        ManualScope scope(manual, {place});
        return as_arrays(f_(each...));
      };
      std::vector<Type> types = {Type::scalar(DType::i32)};
      types.insert(types.end(), over.mapped.types.begin(), over.mapped.types.end());
      const Array place = Array::scalar(std::int64_t{0}, DType::i32, false);
      auto traced = trace_function(within, std::tuple_cat(std::tuple(place), arguments),
                                   Trace::Kind::nested, types);
      return traced.unflatten(internal::pmap(traced.program, over, leaves, options_));
    }
  }

 private:
  F f_;
  Pmap options_;
  Where where_;
};

}  // namespace internal

/// f, written for one device, as a function of whole arrays that runs on all
/// devices of the mesh. Throws Error for axes that the mesh has not or that
/// come twice, sizes that do not divide, and results that vary where out_specs
/// says that they do not.
template <class F>
auto shard_map(F f, ShardMap options, Where where = Where::current()) {
  return internal::ShardMapped<F>(std::move(f), std::move(options), where);
}

/// f on a device for each element along the mapped axis: `vmap` over devices.
/// Results are cut along their new axis. Where this process is one of several
/// and the mapped axis has an element for each of its own devices, each gives
/// the rows of its own, collectives go over the devices of all, and the result
/// is the rows of its own, outside of traces alone; an axis of another size is
/// that of all processes, which give the same. Throws Error for more elements
/// than devices.
template <class F>
auto pmap(F f, Pmap options = {}, Where where = Where::current()) {
  return internal::Pmapped<F>(std::move(f), std::move(options), where);
}

}  // namespace strata
