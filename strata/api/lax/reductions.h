// Reductions, running ones, and sorting under the names of jax.lax. Axes are given, counted from
// the first; results have the dtype of the operand.
#pragma once

#include <utility>
#include <vector>

#include "strata/api/trace/function.h"

namespace strata::lax {

/// Sums, products and extremes of numbers; bits of integers and booleans combined. The axes
/// disappear. Of no elements: what changes nothing. Complex numbers are ordered by their real
/// parts, equal ones by their imaginary parts; where one is NaN so is the extreme (upstream's
/// depends on the order).
Array reduce_sum(const Operand& x, const Sizes& axes);
/// The product along axes, which are dropped.
Array reduce_prod(const Operand& x, const Sizes& axes);
/// The greatest along axes, which are dropped; NaN where one is.
Array reduce_max(const Operand& x, const Sizes& axes);
/// The least along axes, which are dropped; NaN where one is.
Array reduce_min(const Operand& x, const Sizes& axes);
/// Bitwise and along axes, of booleans whether all are true.
Array reduce_and(const Operand& x, const Sizes& axes);
/// Bitwise or along axes, of booleans whether any is true.
Array reduce_or(const Operand& x, const Sizes& axes);
/// Bitwise exclusive or along axes.
Array reduce_xor(const Operand& x, const Sizes& axes);

/// Where the greatest (least) element along an axis stands: the first of several, the first NaN
/// where there is one.
Array argmax(const Operand& x, std::int64_t axis, DType index_dtype);
/// The index of the first least element along one axis, in an integer dtype; NaN is the least.
Array argmin(const Operand& x, std::int64_t axis, DType index_dtype);

/// Combined with all elements before it along an axis, or (reverse) with all behind it.
Array cumsum(const Operand& x, std::int64_t axis = 0, bool reverse = false);
/// Products of the first 1, 2, ... elements along an axis, from the end where `reverse`.
Array cumprod(const Operand& x, std::int64_t axis = 0, bool reverse = false);
/// The greatest of the first 1, 2, ... elements along an axis, from the end where `reverse`.
Array cummax(const Operand& x, std::int64_t axis = 0, bool reverse = false);
/// The least of the first 1, 2, ... elements along an axis, from the end where `reverse`.
Array cummin(const Operand& x, std::int64_t axis = 0, bool reverse = false);
/// log(exp(x[0]) + ... + exp(x[k])) of floats, formed without overflow.
Array cumlogsumexp(const Operand& x, std::int64_t axis = 0, bool reverse = false);

/// Arrays of one shape sorted together along a dimension by the first `num_keys`, the first of
/// which counts most. Always stable. -0 equals 0, NaN is the greatest, complex numbers go by their
/// real parts, equal ones by their imaginary parts.
[[nodiscard]] std::vector<Array> sort(const std::vector<Array>& operands,
                                      std::int64_t dimension = -1, bool is_stable = true,
                                      std::int64_t num_keys = 1, Where where = Where::current());
Array sort(const Operand& x, std::int64_t dimension = -1, bool is_stable = true);
/// Keys in increasing order along a dimension, and values in that order.
[[nodiscard]] std::pair<Array, Array> sort_key_val(const Operand& keys, const Operand& values,
                                                   std::int64_t dimension = -1,
                                                   bool is_stable = true);
/// The k greatest elements along an axis, greatest first, and where they stood; of equal ones the
/// first.
[[nodiscard]] std::pair<Array, Array> top_k(const Operand& x, std::int64_t k,
                                            std::int64_t axis = -1);
struct ApproxTopK {
  internal::Named named = internal::Named();
  std::int64_t reduction_dimension = -1;
  /// Told to hardware that finds most of them faster. All are found here, so that any recall is
  /// met; more than k are never given (upstream may where `aggregate_to_topk` is false).
  double recall_target = 0.95;
  std::int64_t reduction_input_size_override = -1;
  bool aggregate_to_topk = true;
};
/// The k greatest (least) floats along a dimension in order, and where they stood.
[[nodiscard]] std::pair<Array, Array> approx_max_k(const Operand& x, std::int64_t k,
                                                   const ApproxTopK& options = {});
/// The k least along a dimension, increasing, and their indices: exact here.
[[nodiscard]] std::pair<Array, Array> approx_min_k(const Operand& x, std::int64_t k,
                                                   const ApproxTopK& options = {});

namespace detail {
/// Arrays to be folded by a program (current..., new...) -> current... of scalars, from initial
/// values.
struct Folded {
  const char* name;
  std::vector<Array> operands, initial;
  const internal::Program* program;
};
/// Checks that they go together; initial values that are C++ numbers take on the arrays' dtypes.
Folded checked(const char* name, std::vector<Array> operands, std::vector<Array> initial,
               const internal::Program& program);
/// Scalars of the arrays' dtypes, twice.
std::vector<Type> fold_types(const std::vector<Array>& operands);
template <class Tree, class F>
auto trace_fold(const char* name, const Tree& operands, F& computation) {
  static_assert(std::is_same_v<internal::Result<F, std::tuple<Tree, Tree>>, Tree>,
                "the function of a reduction returns what it takes");
  const std::vector<Array> leaves = tree::leaves<Array>(operands);
  if (leaves.empty()) internal::fail(name, "needs at least one array");
  return internal::trace_function(computation, std::tuple<Tree, Tree>(operands, operands),
                                  internal::Trace::Kind::nested, fold_types(leaves));
}
template <class Tree, class Init>
Folded folded(const char* name, const Tree& operands, const Init& init_values,
              const internal::Program& program) {
  const internal::AsOperand<Init> initial(init_values);
  return checked(name, tree::leaves<Array>(operands), tree::leaves<Array>(initial), program);
}
/// The program as operations say it: a combiner's word, or "region" and the region.
std::pair<std::string, std::vector<std::unique_ptr<ir::Block>>> combination(const Folded& what);
[[nodiscard]] std::vector<Array> reduce(const Folded& what, const Sizes& dimensions);
}  // namespace detail
/// The elements along `dimensions`, and the initial values, combined by an associative function of
/// scalars: computation(x, y), both trees like `operands`, an array or a tree of arrays of one
/// shape.
template <class Operands, class Init, class F>
auto reduce(const Operands& operands, const Init& init_values, F computation,
            const Sizes& dimensions, Where where = Where::current()) {
  internal::Site site(where);
  using Tree = internal::AsOperand<Operands>;
  const Tree given(operands);
  const auto traced = detail::trace_fold<Tree>("reduce", given, computation);
  return traced.unflatten(detail::reduce(
      detail::folded<Tree>("reduce", given, init_values, traced.program), dimensions));
}

}  // namespace strata::lax
