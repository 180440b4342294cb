// Explicit mode: shardings that are part of an array's type.
//
//   Mesh mesh = make_mesh({{"x", 4, AxisType::Explicit}, {"y", 2, AxisType::Explicit}});
//   Array a = device_put(ones({8, 16}), NamedSharding(mesh, {"x", nullptr}));
//   Array b = device_put(ones({16, 4}), NamedSharding(mesh, {nullptr, "y"}));
//   spec_of_type(matmul(a, b));                                  // P('x', 'y'), in traces too
//   reshard(a, P{nullptr, "x"});                                 // moves it
//   matmul(c, d, OutSharding(P{"x", nullptr}));                  // chooses where tracing would not
//   matmul(c, d, OutSharding(P{}.with_unreduced({"x"})));        // each device keeps its addend
//
// Along an axis of a mesh that is Explicit the compiler decides nothing: each operation computes
// how its result is sharded from how its operands are, while it is traced, and an Error says what
// is ambiguous or does not go together, with types and specs. jit, grad, vmap, scan and the other
// transforms carry shardings; cotangents are sharded as what they are of. Axes of a mesh may be
// mixed: what is Auto is left to the compiler.
//
// Beside the axes that cut it a type says over which axes a value is `unreduced` (the sum of what
// the devices along it hold) and over which it is `reduced` (whole on each; its cotangent is
// unreduced). reshard(x, P{}) of what is unreduced is the all-reduce, and a reduce-scatter where
// the spec cuts by that axis. So gradients of weights that are reduced over the axis of the batch
// are summed over it once, where the program says so, however many are added up before.
// Operations that do not commute with a sum refuse what is unreduced. Outside of programs such an
// array is held as addends, too: it can be read once it is reduced.
//
// Source: jax.sharding (AxisType, set_mesh, reshard, auto_axes, explicit_axes), docs 201/sharding;
// rules: partition/explicit/explicit.h. Deviations: jax.typeof(x).sharding.spec is `spec_of_type`;
// `out_sharding=` is an argument OutSharding; arrays that were made on no mesh count as whole.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/api/index.h"
#include "strata/api/lax/products.h"
#include "strata/api/numpy.h"
#include "strata/api/sharding/sharding.h"
#include "strata/api/trace/function.h"

namespace strata {

/// While it lives, specs without a mesh are of this one, on this thread. They nest.
class set_mesh {
 public:
  explicit set_mesh(Mesh mesh);
  ~set_mesh();
  set_mesh(const set_mesh&) = delete;
  set_mesh& operator=(const set_mesh&) = delete;

 private:
  Mesh mesh_;
  const Mesh* before_;
};

/// Whether the array's type has a sharding: its mesh has Explicit axes.
bool has_sharding_in_type(const Array& x);
/// The spec in the array's type, an entry for each dimension, over Explicit axes, with what it is
/// unreduced and reduced over. Throws Error for an array without.
PartitionSpec spec_of_type(const Array& x, Where where = Where::current());

/// x moved to the sharding that the spec gives, over the mesh of x or of `set_mesh`; in a trace,
/// too. Its cotangent is sharded as x is, reduced over what x is unreduced over and the other way
/// round. Throws Error without a mesh, for axes that are not Explicit, and for sizes that do not
/// divide.
Array reshard(const Operand& x, const PartitionSpec& spec);
/// Over that mesh.
Array reshard(const Operand& x, const NamedSharding& sharding);
/// Every array of a tree.
template <class T>
  requires(!std::convertible_to<T, Operand>)
T reshard(const T& tree, const PartitionSpec& spec, Where where = Where::current()) {
  return tree::map([&](const Array& x) { return reshard(Operand(x, where), spec); }, tree);
}

/// The sharding of a result, where tracing would have to choose.
class OutSharding {
 public:
  explicit OutSharding(PartitionSpec spec) : spec_(std::move(spec)) {}
  const PartitionSpec& spec() const { return spec_; }

 private:
  PartitionSpec spec_;
};

namespace internal {
/// Lets what is ambiguous pass while it lives.
class AnyResultScope {
 public:
  /// `asked`: of what is computed in it, to be checked where it asks for addends; null: nothing.
  explicit AnyResultScope(const PartitionSpec* asked);
  ~AnyResultScope();
  AnyResultScope(const AnyResultScope&) = delete;
  AnyResultScope& operator=(const AnyResultScope&) = delete;
};
/// The result so; of operands that say which mesh.
Array lying(const char* name, const Array& result, std::span<const Array> operands,
            const OutSharding& out);
template <class F>
Array with_out(const char* name, const Where& where, std::vector<Array> operands,
               const OutSharding& out, F f) {
  Site site(where);
  const Array result = [&] {
    // What several products come to is not checked, as upstream.
    AnyResultScope any(operands.size() > 2 ? nullptr : &out.spec());
    return f();
  }();
  return lying(name, result, operands, out);
}
}  // namespace internal

/// The functions of numpy.h, with a result of that sharding. Throw as those, and as `reshard`.
inline Array dot(const Operand& x, const Operand& y, const OutSharding& out) {
  return internal::with_out("dot", x.where, {x.array, y.array}, out,
                            [&] { return numpy::dot(x, y); });
}
inline Array matmul(const Operand& x, const Operand& y, const OutSharding& out) {
  return internal::with_out("matmul", x.where, {x.array, y.array}, out,
                            [&] { return numpy::matmul(x, y); });
}
inline Array einsum(const std::string& subscripts, const std::vector<Array>& operands,
                    const OutSharding& out, Where where = Where::current()) {
  return internal::with_out("einsum", where, operands, out,
                            [&] { return numpy::einsum(subscripts, operands); });
}
inline Array reshape(const Operand& x, const Sizes& shape, const OutSharding& out) {
  return internal::with_out("reshape", x.where, {x.array}, out,
                            [&] { return numpy::reshape(x, shape); });
}
inline Array broadcast_to(const Operand& x, const Sizes& shape, const OutSharding& out) {
  return internal::with_out("broadcast_to", x.where, {x.array}, out,
                            [&] { return numpy::broadcast_to(x, shape); });
}
inline Array sum(const Operand& x, const Axes& axis, const OutSharding& out) {
  return internal::with_out("sum", x.where, {x.array}, out, [&] { return numpy::sum(x, axis); });
}
/// Elements of x along an axis, as numpy::take.
inline Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis,
                  const OutSharding& out) {
  return internal::with_out("take", x.where, {x.array, indices.array}, out,
                            [&] { return numpy::take(x, indices, axis); });
}
/// x[indices], whichever axes x and index arrays are cut over. Source:
/// x.at[...].get(out_sharding=).
inline Array get(const Operand& x, const Indices& indices, const OutSharding& out) {
  std::vector<Array> operands = {x.array};
  for (const Index& each : indices.list)
    if (const Array* array = std::get_if<Array>(&each.item)) operands.push_back(*array);
  return internal::with_out("get", x.where, std::move(operands), out,
                            [&] { return x.array[indices]; });
}
/// lax::ragged_dot, of which upstream always asks for its result's sharding.
inline Array ragged_dot(const Operand& lhs, const Operand& rhs, const Operand& group_sizes,
                        const OutSharding& out) {
  return internal::with_out("ragged_dot", lhs.where, {lhs.array, rhs.array, group_sizes.array}, out,
                            [&] { return lax::ragged_dot(lhs, rhs, group_sizes); });
}

/// New arrays of that sharding, over the mesh of `set_mesh`: of numpy.h's functions, and throwing
/// as those and `reshard`.
inline Array zeros(const Sizes& shape, DType dtype, const OutSharding& out,
                   Where where = Where::current()) {
  return internal::with_out("zeros", where, {}, out, [&] { return numpy::zeros(shape, dtype); });
}
inline Array ones(const Sizes& shape, DType dtype, const OutSharding& out,
                  Where where = Where::current()) {
  return internal::with_out("ones", where, {}, out, [&] { return numpy::ones(shape, dtype); });
}
inline Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype,
                  const OutSharding& out) {
  return internal::with_out("full", value.where, {value.array}, out,
                            [&] { return numpy::full(shape, value, dtype); });
}
inline Array eye(std::int64_t n, std::optional<std::int64_t> m, const OutSharding& out,
                 Where where = Where::current()) {
  return internal::with_out("eye", where, {}, out, [&] { return numpy::eye(n, m); });
}
/// 0, 1, ..., n - 1.
inline Array arange(std::int64_t n, DType dtype, const OutSharding& out,
                    Where where = Where::current()) {
  return internal::with_out("arange", where, {}, out, [&] { return numpy::arange(n, dtype); });
}

/// Options of `auto_axes`.
struct AutoAxes {
  internal::Named named = internal::Named();
  /// Which axes the compiler decides on within; none: all.
  std::vector<std::string> axes = {};
  /// The shardings of results: one spec for all, or one for each array.
  OneOrMore<PartitionSpec> out_sharding = {};
};
/// Options of `explicit_axes`.
struct ExplicitAxes {
  internal::Named named = internal::Named();
  /// Which axes are Explicit within; none: all.
  std::vector<std::string> axes = {};
  /// How arguments come in: one spec for all arrays, or one for each.
  OneOrMore<PartitionSpec> in_sharding = {};
};

namespace internal {
/// Axes of that type on this thread while it lives.
class AxisTypeScope {
 public:
  AxisTypeScope(std::vector<std::string> axes, AxisType type);
  ~AxisTypeScope();
  AxisTypeScope(const AxisTypeScope&) = delete;
  AxisTypeScope& operator=(const AxisTypeScope&) = delete;
};
/// Each array moved to its spec. `like`: arrays that say which mesh.
void reshard_all(const char* name, const std::vector<Array*>& arrays,
                 const OneOrMore<PartitionSpec>& specs, std::span<const Array> like);
template <class T>
std::vector<Array*> arrays_of(T& tree) {
  std::vector<Array*> out;
  tree::for_each(tree, [&](Array& x) { out.push_back(&x); });
  return out;
}
}  // namespace internal

/// f, within which the compiler decides over these axes, as a function whose results are sharded as
/// `out_sharding` says: for code that explicit mode refuses. Source: jax.sharding.auto_axes.
template <class F>
auto auto_axes(F f, AutoAxes options, Where where = Where::current()) {
  return [f = std::move(f), options = std::move(options), where]<class... Args>(Args&&... args) {
    internal::Site site(where);
    internal::ArgumentTuple<const F, Args...> arguments(std::forward<Args>(args)...);
    const std::vector<Array> like = tree::leaves<Array>(arguments);
    auto result = [&] {
      internal::AxisTypeScope scope(options.axes, AxisType::Auto);
      return internal::as_arrays(std::apply(f, arguments));
    }();
    internal::reshard_all("auto_axes", internal::arrays_of(result), options.out_sharding, like);
    return result;
  };
}

/// f, within which shardings over these axes are part of types, and whose arguments come in as
/// `in_sharding` says. Source: jax.sharding.explicit_axes.
template <class F>
auto explicit_axes(F f, ExplicitAxes options, Where where = Where::current()) {
  return [f = std::move(f), options = std::move(options), where]<class... Args>(Args&&... args) {
    internal::Site site(where);
    internal::ArgumentTuple<const F, Args...> arguments(std::forward<Args>(args)...);
    const std::vector<Array> like = tree::leaves<Array>(arguments);
    internal::AxisTypeScope scope(options.axes, AxisType::Explicit);
    internal::reshard_all("explicit_axes", internal::arrays_of(arguments), options.in_sharding,
                          like);
    return internal::as_arrays(std::apply(f, arguments));
  };
}

}  // namespace strata
