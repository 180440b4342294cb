// Slices at many places, and what is written there: jax.lax's gather and scatter.
#pragma once

#include "strata/api/lax/types.h"
#include "strata/api/trace/function.h"

namespace strata::lax {

namespace detail {
/// The mode of a name, as upstream's GatherScatterMode.from_any: "fill" and "drop", "clip",
/// "promise_in_bounds", "one_hot"; `otherwise` for "". Throws Error in the name of `operation` for
/// others.
GatherScatterMode mode_of(const char* operation, const std::string& mode,
                          GatherScatterMode otherwise);
}  // namespace detail

struct GatherOptions {
  internal::Named named = internal::Named();
  bool unique_indices = false, indices_are_sorted = false;
  GatherScatterMode mode = GatherScatterMode::PROMISE_IN_BOUNDS;
  /// Of slices outside where the mode is FILL_OR_DROP; else NaN, the least signed and the greatest
  /// unsigned integer, true.
  std::optional<Array> fill_value = std::nullopt;
};
/// Slices of `operand` at `start_indices`, whose last dimension holds index vectors.
Array gather(const Operand& operand, const Operand& start_indices,
             const GatherDimensionNumbers& dimension_numbers, const Sizes& slice_sizes,
             const GatherOptions& options = {});

struct ScatterOptions {
  internal::Named named = internal::Named();
  /// Promises about the indices as the mode leaves them. Products have a derivative in their
  /// updates only with the second.
  bool indices_are_sorted = false, unique_indices = false;
  GatherScatterMode mode = GatherScatterMode::FILL_OR_DROP;
};
/// `operand` with `updates`, of its dtype, written at `scatter_indices` (of several for one place
/// any may stay), or combined with what is there.
Array scatter(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
              const ScatterDimensionNumbers& dimension_numbers, const ScatterOptions& options = {});
/// The operand with updates added at indices; those that are out of range are left out, unless the
/// mode says otherwise.
Array scatter_add(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
                  const ScatterDimensionNumbers& dimension_numbers,
                  const ScatterOptions& options = {});
/// The operand with updates subtracted at indices.
Array scatter_sub(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
                  const ScatterDimensionNumbers& dimension_numbers,
                  const ScatterOptions& options = {});
/// The operand with its elements at indices times the updates.
Array scatter_mul(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
                  const ScatterDimensionNumbers& dimension_numbers,
                  const ScatterOptions& options = {});
/// The operand with the lesser of its elements at indices and the updates.
Array scatter_min(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
                  const ScatterDimensionNumbers& dimension_numbers,
                  const ScatterOptions& options = {});
/// The operand with the greater of its elements at indices and the updates.
Array scatter_max(const Operand& operand, const Operand& scatter_indices, const Operand& updates,
                  const ScatterDimensionNumbers& dimension_numbers,
                  const ScatterOptions& options = {});

namespace detail {
Array scatter_apply(const Operand& operand, const Operand& scatter_indices,
                    const internal::Program& function,
                    const ScatterDimensionNumbers& dimension_numbers, const Sizes& update_shape,
                    const ScatterOptions& options);
}  // namespace detail
/// `operand` with func(x) in place of x, a scalar, at `scatter_indices`: as often as it is named
/// there. `update_shape`: that of updates there. The function uses no arrays from outside.
template <class F>
Array scatter_apply(const Operand& operand, const Operand& scatter_indices, F func,
                    const ScatterDimensionNumbers& dimension_numbers,
                    const Sizes& update_shape = {}, const ScatterOptions& options = {}) {
  internal::Site site(operand);
  const Type scalars[] = {Type::scalar(operand->dtype()), Type::scalar(operand->dtype())};
  auto both = [&](const Array& x, const Array&) -> Array { return func(x); };
  const auto traced =
      internal::trace_function(both, std::tuple<Array, Array>(operand.array, operand.array),
                               internal::Trace::Kind::nested, scalars);
  return detail::scatter_apply(operand, scatter_indices, traced.program, dimension_numbers,
                               update_shape, options);
}

}  // namespace strata::lax
