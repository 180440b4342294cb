// Arithmetic on whole trees: upstream's optax.tree.
//
//   Tree mean = optim::trees::scale(0.5, optim::trees::add(a, b));
//   Array n = optim::trees::norm(grads);
//
// Sums over a tree fold from the left in the order of its leaves. (The name `tree` is the library's
// own; here it has an s.) Source: Optax's tree utilities.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/tree/tree.h"
#include "strata/optim/schedule/rate.h"

namespace strata::optim {

using tree::Tree;

/// count + 1, or the greatest number of its type where it is that.
Array safe_increment(const Array& count);
/// Another name of safe_increment.
inline Array safe_int32_increment(const Array& count) { return safe_increment(count); }
/// (x* x) of complex numbers, x x of real ones: real.
Array abs_sq(const Array& x);

namespace trees {

namespace detail {
/// Throws Error where the trees have other paths.
void check_same(const Tree& a, const Tree& b);
}  // namespace detail

/// f of the leaves at each place of several trees of the same paths.
template <class F, std::same_as<Tree>... Trees>
Tree map(const F& f, const Tree& first, const Trees&... rest) {
  (detail::check_same(first, rest), ...);
  std::vector<Array> values;
  values.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    values.push_back(f(first.value(i), rest.value(i)...));
  return first.with_values(std::move(values));
}

/// x + y, leaf by leaf. Throws Error where the trees have other paths.
Tree add(const Tree& x, const Tree& y);
/// x - y, leaf by leaf. Throws Error where the trees have other paths.
Tree sub(const Tree& x, const Tree& y);
/// x y, leaf by leaf and element by element. Throws Error where the trees have other paths.
Tree mul(const Tree& x, const Tree& y);
/// x / y, leaf by leaf and element by element. Throws Error where the trees have other paths.
Tree div(const Tree& x, const Tree& y);
/// factor x
Tree scale(const Rate& factor, const Tree& x);
/// x + factor y
Tree add_scale(const Tree& x, const Rate& factor, const Tree& y);
/// The sum of <x, y> over all leaves; complex x are conjugated.
Array vdot(const Tree& x, const Tree& y);
/// The sum of all elements; 0 where there are none.
Array sum(const Tree& x);
/// The greatest of all elements; -inf where there are none.
Array max(const Tree& x);
/// The least of all elements; inf where there are none.
Array min(const Tree& x);
/// How many elements there are.
std::int64_t size(const Tree& x);
/// The complex conjugate of each leaf.
Tree conj(const Tree& x);
/// The real part of each leaf.
Tree real(const Tree& x);
/// Which norm: 1, 2 or infinity, of all elements as one vector.
enum class Order { one, two, infinity };
/// The norm, or its square.
Array norm(const Tree& x, bool squared = false, Order order = Order::two);
/// Each leaf repeated along new leading axes.
Tree batch_shape(const Tree& x, const Sizes& shape = {});
/// Zeros in the shapes of the leaves and their dtypes, or in one dtype.
Tree zeros_like(const Tree& x, std::optional<DType> dtype = {});
/// Ones in the shapes of the leaves and their dtypes, or in one dtype.
Tree ones_like(const Tree& x, std::optional<DType> dtype = {});
/// A number or array, which broadcasts, in the shapes of the leaves and their dtypes, or in one
/// dtype. Throws Error for a schedule.
Tree full_like(const Tree& x, const Rate& value, std::optional<DType> dtype = {});
/// Elements within bounds; a bound may be none.
Tree clip(const Tree& x, const Rate& low = {}, const Rate& high = {});
/// Leaves in a dtype; as they are without one.
Tree cast(const Tree& x, std::optional<DType> dtype);
/// Leaves in the dtypes of another tree's.
Tree cast_like(const Tree& x, const Tree& like);
/// condition ? x : y, for a number `condition`.
Tree where(const Array& condition, const Tree& x, const Tree& y);
/// Whether all elements are near.
Array allclose(const Tree& a, const Tree& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
/// What dtype the leaves have together: what they promote to, the highest or the lowest.
enum class Common { promote, highest, lowest };
/// The one dtype of all leaves. Throws Error where they differ; see Common for the other ways.
DType dtype(const Tree& x);
DType dtype(const Tree& x, Common common);

/// A key for each leaf: split(key, leaves) in the order of leaves.
std::vector<random::Key> split_key_like(const random::Key& key, const Tree& like);
/// sampler(key, shape, dtype) for each leaf: `random_like(key, t, random::normal)`.
Tree random_like(const random::Key& key, const Tree& like,
                 const std::function<Array(const random::Key&, const Sizes&, DType)>& sampler,
                 std::optional<DType> dtype = {});

/// (1 - decay) g^order + decay m
Tree update_moment(const Tree& updates, const Tree& moments, const Rate& decay, int order);
/// (1 - decay) |g|^order + decay m
Tree update_moment_per_elem_norm(const Tree& updates, const Tree& moments, const Rate& decay,
                                 int order);
/// max(|g| + eps, decay m)
Tree update_infinity_moment(const Tree& updates, const Tree& moments, const Rate& decay,
                            const Rate& eps);
/// m / (1 - decay^count); the denominator is one f32 number, cast to each leaf's dtype.
Tree bias_correction(const Tree& moments, const Rate& decay, const Array& count);

/// The value at the path that ends in `name`, "nu" or "learning_rate": an array, or the leaves
/// below it. No value where there is none. Throws Error where there are several.
std::optional<Tree> get(const Tree& state, const std::string& name);
/// The value at every path that ends in `name`, with the path.
std::vector<std::pair<std::string, Tree>> get_all_with_path(const Tree& state,
                                                            const std::string& name);
/// The state with another value at every path that ends in `name`. Throws Error where there is
/// none.
Tree set(const Tree& state, const std::string& name, const Array& value);
/// f on every leaf of a state that belongs to a parameter, `rest` on the others.
Tree map_params(const Tree& params, const Tree& state, const std::function<Array(const Array&)>& f,
                const std::function<Array(const Array&)>& rest = {});

}  // namespace trees

/// trees::map_params, as upstream calls it at its top.
inline Tree tree_map_params(const Tree& params, const Tree& state,
                            const std::function<Array(const Array&)>& f,
                            const std::function<Array(const Array&)>& rest = {}) {
  return trees::map_params(params, state, f, rest);
}

/// The root of the sum of squares of all elements, in the leaves' dtypes.
Array global_norm(const Tree& updates);
template <tree::TreeLike P>
  requires(!std::same_as<P, Tree>)
Array global_norm(const P& updates) {
  return global_norm(tree::of(updates));
}

}  // namespace strata::optim
