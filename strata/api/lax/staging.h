// What programs say beside their numbers, under the names of jax.lax: orders, uses, places,
// platforms, and names for whole functions.
//
//   auto tangent = lax::composite([](Array x) { return lax::sin(x) / lax::cos(x); }, "my.tangent");
//   lax::platform_dependent(lax::Platforms{.cpu = f, .default_ = g}, x);
//   lax::with_sharding_constraint(x, {.mesh = {{"data", 1}}, .spec = {"data", none}})
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strata/api/index.h"
#include "strata/api/trace/function.h"

namespace strata::lax {

/// A token: an array without elements by which programs say an order. Programs here keep the order
/// of effects anyway.
Array create_token(Where where = Where::current());
/// A token that comes after others. Throws Error for arrays that are no tokens.
Array after_all(const std::vector<Array>& tokens, Where where = Where::current());

/// The options of `dce_sink`.
struct DceSink {
  internal::Named named = internal::Named();
  /// Whether the program that is compiled holds the use too, and with it all that leads there; else
  /// it is gone once recorded. Such a use is no part of functions that are batched or
  /// differentiated (Error).
  bool prevent_mlir_dce = false;
};
namespace detail {
void dce_sink(std::span<const Array> values, const DceSink& options);
}
/// A use of a tree's arrays that gives nothing.
template <class T>
void dce_sink(const T& tree, const DceSink& options = {}, Where where = Where::current()) {
  const internal::Site site(where);
  detail::dce_sink(tree::leaves<Array>(internal::AsOperand<T>(tree)), options);
}

/// One dimension of an array over a mesh: whole (none), cut along axes of the mesh, the first the
/// major one, or as anybody likes.
class PartitionDim {
 public:
  PartitionDim(std::nullopt_t) {}                  // NOLINT: implicit by intent
  PartitionDim(const char* axis) : axes_{axis} {}  // NOLINT
  PartitionDim(std::initializer_list<std::string> axes) : axes_(axes) {}
  /// A dimension that may be split in any way.
  static PartitionDim unconstrained() {
    PartitionDim d{none};
    d.open_ = true;
    return d;
  }
  /// The axes of the mesh that split the dimension, the major one first.
  const std::vector<std::string>& axes() const { return axes_; }
  /// Whether further axes may split it.
  bool is_open() const { return open_; }

 private:
  std::vector<std::string> axes_;
  bool open_ = false;
};
/// How an array is sharded over a mesh of devices: axes with names and sizes, and what cuts each
/// dimension; dimensions beyond the list are whole.
struct NamedSharding {
  std::vector<std::pair<std::string, std::int64_t>> mesh;
  std::vector<PartitionDim> spec;
};
/// x with that sharding: a constraint in the program (sdy.sharding_constraint), whatever it means
/// where that is compiled; on one device nothing. Throws Error for more dimensions than x has, for
/// axes that the mesh has not, and for one that cuts twice.
Array with_sharding_constraint(const Operand& x, const NamedSharding& shardings);
/// Each array of a tree with that sharding.
template <class T>
  requires(!std::convertible_to<T, Operand>)
T with_sharding_constraint(const T& tree, const NamedSharding& shardings,
                           Where where = Where::current()) {
  return tree::map(
      [&](const Array& x) { return with_sharding_constraint(Operand(x, where), shardings); }, tree);
}

/// No branch for a platform.
struct NoBranch {};
/// Functions by platforms: `Platforms{.cpu = f, .default_ = g}`.
template <class Cpu = NoBranch, class Cuda = NoBranch, class Rocm = NoBranch, class Tpu = NoBranch,
          class Default = NoBranch>
struct Platforms {
  Cpu cpu{};
  Cuda cuda{};
  Rocm rocm{};
  Tpu tpu{};
  Default default_{};
};

namespace detail {
/// Fails where a function gives other types than the one that is chosen.
void check_branch(const internal::Program& chosen, const internal::Program& other);
}  // namespace detail

/// The function for the platform that the program is compiled for, here the CPU, on these
/// arguments. All are traced, and give trees of the same types.
template <class Cpu, class Cuda, class Rocm, class Tpu, class Default, class... Args>
auto platform_dependent(const Platforms<Cpu, Cuda, Rocm, Tpu, Default>& per_platform,
                        const Args&... args) {
  constexpr bool has_cpu = !std::same_as<Cpu, NoBranch>,
                 has_default = !std::same_as<Default, NoBranch>;
  static_assert(has_cpu || has_default,
                "platform_dependent: there is neither a function for cpu nor a default_");
  const std::tuple<internal::AsOperand<Args>...> arguments(args...);
  std::vector<internal::Program> others;
  auto trace_other = [&]<class F>(F f) {
    if constexpr (!std::same_as<F, NoBranch>)
      others.push_back(
          internal::trace_function(f, arguments, internal::Trace::Kind::nested).program);
  };
  auto call = [&](auto f) {
    auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    for (const internal::Program& p : others) detail::check_branch(traced.program, p);
    return traced.unflatten(internal::call(traced.program, tree::leaves<Array>(arguments)));
  };
  trace_other(per_platform.cuda), trace_other(per_platform.rocm), trace_other(per_platform.tpu);
  if constexpr (has_cpu) {
    trace_other(per_platform.default_);
    return call(per_platform.cpu);
  } else {
    return call(per_platform.default_);
  }
}

/// What a composite is told beside its arrays; an attribute of the operation.
using CompositeAttribute =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
struct Composite {
  internal::Named named = internal::Named();
  std::int64_t version = 0;
  /// Upstream's keyword arguments. The decomposition knows them by itself.
  std::map<std::string, CompositeAttribute> attributes = {};
};
namespace detail {
[[nodiscard]] std::vector<Array> composite(const internal::Program& decomposition,
                                           std::span<const Array> arguments,
                                           const std::string& name, const Composite& options);
}
/// The function as one operation of the program with a name of its own ("my.tangent"), which
/// compilers may know; else it means what the function says. Has no derivative (wrap it in
/// custom_jvp), upstream neither; batched, it is what the function is when batched, where upstream
/// refuses. Throws Error for a name without a dialect in front, and when called where the function
/// uses traced arrays from outside.
template <class F>
auto composite(F decomposition, std::string name, Composite options = {}) {
  return [f = std::move(decomposition), name = std::move(name),
          options = std::move(options)]<class... Args>(const Args&... args) {
    using Tuple = internal::ArgumentTuple<const F, Args...>;
    const Tuple arguments(args...);
    auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    return traced.unflatten(
        detail::composite(traced.program, tree::leaves<Array>(arguments), name, options));
  };
}

}  // namespace strata::lax
