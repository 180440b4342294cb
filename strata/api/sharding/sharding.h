// Sharded arrays, cut over the devices of a mesh, and programs (`jit`) that run on all of them.
//
//   cpu_devices(8);
//   Mesh m = make_mesh({{"data", 4}, {"model", 2}});
//   Array x = device_put(ones({8, 16}), NamedSharding(m, {"data", nullptr}));   // rows over data
//   Array y = jit([](const Array& a) { return a * 2 + 1; })(x);                 // on all devices
//   named_sharding(y).spec().to_string();                                       // P('data', None)
//   for (const Shard& s : addressable_shards(y)) use(s.device, s.index, s.data);
//
// An array whose sharding is asked for by name is bound to it, as one is to a device: a program
// runs on the devices of its arguments, is partitioned over their mesh (partition/README.md), and
// its results are sharded as propagation chose. Arguments that are bound nowhere go along. Arrays
// of two meshes in one call, or of a mesh and of a single device, are an Error that names both.
// Reading elements gathers them. Devices of a mesh are numbers of `cpu_devices()`.
//
// Where this process is one of several (distributed.h), a mesh spans the devices of all, and each
// process holds the parts of its own.
//
// A constraint in a program whose arguments are on no mesh runs it on devices 0, 1, 2 ..., as many
// as the mesh has. Source: jax.sharding, jax.make_mesh, jax.device_put, jax.Array. Deviations: what
// are attributes of arrays there are functions here; a mesh's axes are Auto unless said (upstream's
// make_mesh makes Explicit ones); arrays that cross a program's boundary divide evenly, as there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/sharding/devices.h"
#include "strata/api/transform/jit.h"
#include "strata/mesh/spec.h"

namespace strata {

using mesh::AbstractMesh;
using mesh::AxisType;
using mesh::Mesh;
using mesh::NamedSharding;
using mesh::PartitionSpec;

/// A mesh over devices 0, 1, 2 ... in row-major order. Throws Error when this process has fewer CPU
/// devices.
Mesh make_mesh(std::vector<mesh::MeshAxis> axes, Where where = Where::current());

/// A range of each dimension: which part of an array.
using ShardIndex = std::vector<mesh::Range>;
/// "(slice(0, 2), slice(None))" of an array of that shape: JAX's way to print it.
std::string to_string(const ShardIndex& index, const Shape& shape);

/// What one device holds of an array.
struct Shard {
  Device device;
  ShardIndex index;
  /// Which of the copies of that part it is, in the mesh's order: 0 for the first.
  int replica_id = 0;
  /// The part, bound to the device.
  Array data;
};

/// Whether the array is sharded over a mesh.
bool has_named_sharding(const Array& x);
/// Its sharding. Throws Error for a traced array, and for one that is on one device.
NamedSharding named_sharding(const Array& x);
/// What each device of this process holds, in the mesh's order; of an array on one device that one.
std::vector<Shard> addressable_shards(const Array& x);
/// Whether all of its devices are of this process.
bool is_fully_addressable(const Array& x);
/// Whether every device of it holds all.
bool is_fully_replicated(const Array& x);

/// The array cut over the mesh and bound to that sharding. In a trace this is
/// `lax::with_sharding_constraint`. Of several processes each gives the same x, of which it puts
/// its devices' parts there; or an array that is sharded over the same mesh, whose parts then move
/// between them. Throws Error naming the dimension that does not divide.
Array device_put(const Array& x, const NamedSharding& sharding, Where where = Where::current());
/// Every array of a tree.
template <tree::TreeLike T>
  requires(!std::same_as<T, Array>)
T device_put(T tree, const NamedSharding& sharding, Where where = Where::current()) {
  tree::for_each(tree, [&](Array& x) { x = device_put(std::as_const(x), sharding, where); });
  return tree;
}

/// An array of parts that `data` makes: it is called for the index of each device of this process,
/// once for a part that several hold. Throws Error for a part of another shape or dtype than the
/// first's, and where this process has no device of the mesh.
Array make_array_from_callback(const Sizes& shape, const NamedSharding& sharding,
                               const std::function<Array(const ShardIndex&)>& data,
                               Where where = Where::current());
/// An array of parts that are on the devices already, in any order; nothing is copied. Throws Error
/// unless there is one for each device of the mesh that is of this process, of the shape that the
/// sharding says.
Array make_array_from_single_device_arrays(const Sizes& shape, const NamedSharding& sharding,
                                           const std::vector<Array>& arrays,
                                           Where where = Where::current());

namespace lax {
/// x with that sharding from here on: a constraint for propagation where the program is compiled;
/// outside of a trace x is put there. Its tangents and cotangents are sharded alike, and what vmap
/// adds is free. Throws Error for an axis that the mesh has not, one that cuts twice, more
/// dimensions than x has, and sizes that do not divide.
Array with_sharding_constraint(const Operand& x, const mesh::NamedSharding& sharding);
/// Each array of a tree.
template <class T>
  requires(!std::convertible_to<T, Operand>)
T with_sharding_constraint(const T& tree, const mesh::NamedSharding& sharding,
                           Where where = Where::current()) {
  return tree::map(
      [&](const Array& x) { return with_sharding_constraint(Operand(x, where), sharding); }, tree);
}
}  // namespace lax

/// The shardings of arguments and results of `jit`: `jit(f, Shardings{.in_shardings = s})`.
struct Shardings {
  internal::Named named = internal::Named();
  /// Of arguments: one for all, or one for each argument, `std::nullopt` for one that brings its
  /// own. Arguments are put there.
  OneOrMore<std::optional<NamedSharding>> in_shardings = {};
  /// Of results: one for all, or one for each array of the result; `std::nullopt`: as the compiler
  /// likes.
  OneOrMore<std::optional<NamedSharding>> out_shardings = {};
};

namespace internal {

/// Throws Error unless there is one for all, or one for each of `count`.
void check_shardings(const char* option, std::size_t given, std::size_t count);

template <class... Args>
void put_arguments(std::tuple<Args...>& arguments, const Shardings& s) {
  if (s.in_shardings.empty()) return;
  if (!s.in_shardings.is_one())
    check_shardings("in_shardings", s.in_shardings.size(), sizeof...(Args));
  std::size_t number = 0;
  auto one = [&](auto& argument) {
    const auto& sharding = s.in_shardings[s.in_shardings.is_one() ? 0 : number++];
    if (!sharding) return;
    tree::for_each(argument, [&](Array& x) { x = device_put(std::as_const(x), *sharding); });
  };
  std::apply([&](auto&... each) { (one(each), ...); }, arguments);
}
template <class R>
R constrain_results(R result, const Shardings& s) {
  if (s.out_shardings.empty()) return result;
  std::size_t count = 0, number = 0;
  tree::for_each(result, [&](const Array&) { ++count; });
  if (!s.out_shardings.is_one()) check_shardings("out_shardings", s.out_shardings.size(), count);
  tree::for_each(result, [&](Array& x) {
    const auto& sharding = s.out_shardings[s.out_shardings.is_one() ? 0 : number++];
    if (sharding) x = lax::with_sharding_constraint(Operand(std::as_const(x)), *sharding);
  });
  return result;
}

/// A function whose results are constrained.
template <class F>
struct WithOutShardings {
  F f;
  Shardings shardings;
  template <class... Args>
    requires std::is_invocable_v<const F&, Args&...>
  auto operator()(Args&... args) const {
    return constrain_results(as_arrays(f(args...)), shardings);
  }
};

/// What `jit` with shardings returns.
template <class F>
class [[nodiscard]] ShardedJit {
 public:
  ShardedJit(F f, Shardings shardings, JitOptions options, const Where& where)
      : shardings_(shardings),
        jit_(WithOutShardings<F>{std::move(f), std::move(shardings)}, std::move(options), where),
        where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    return std::apply([&](auto&&... each) { return jit_(std::move(each)...); },
                      placed(std::forward<Args>(args)...));
  }
  /// Traces for arguments like these.
  template <class... Args>
  auto lower(Args&&... args) const {
    return std::apply([&](auto&&... each) { return jit_.lower(std::move(each)...); },
                      placed(std::forward<Args>(args)...));
  }
  /// How many compiled forms there are: types and shardings tell them apart.
  std::size_t cache_size() const { return jit_.cache_size(); }

 private:
  template <class... Args>
  auto placed(Args&&... args) const {
    Site site(where_);
    ArgumentTuple<WithOutShardings<F>, Args...> arguments(std::forward<Args>(args)...);
    put_arguments(arguments, shardings_);
    return arguments;
  }
  Shardings shardings_;
  Jit<WithOutShardings<F>> jit_;
  Where where_;
};

}  // namespace internal

/// The function compiled over the devices of a mesh: arguments are put as `in_shardings` says,
/// results are sharded as `out_shardings` says. `jit` without shardings takes them from its
/// arguments.
template <class F>
auto jit(F f, Shardings shardings, JitOptions options = {}, Where where = Where::current()) {
  return internal::ShardedJit<F>(std::move(f), std::move(shardings), std::move(options), where);
}

namespace debug {
/// The sharding of an array of one or two dimensions, as a table of devices: upstream's text,
/// without colours. Throws Error for other ranks.
std::string visualize_sharding(const Sizes& shape, const NamedSharding& sharding,
                               Where where = Where::current());
/// Prints `visualize_sharding` of an array on a mesh or on a device.
void visualize_array_sharding(const Array& x, Where where = Where::current());
/// The same as text.
std::string array_sharding_text(const Array& x, Where where = Where::current());
}  // namespace debug

}  // namespace strata
