// Products summed over dimensions, under the names of jax.lax. The result has the dtype to which
// those of the operands are promoted, unless another one is preferred.
#pragma once

#include "strata/api/array.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

struct DotGeneral {
  internal::Named named = internal::Named();
  DotPrecision precision = Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// Summed over the contracting dimensions. Result dimensions: batch, left free, right free. A
/// preset converts the operands to its types and the result from its own. Throws Error for an
/// algorithm that CPUs do not have (lax/precision.h).
Array dot_general(const Operand& lhs, const Operand& rhs,
                  const DotDimensionNumbers& dimension_numbers, const DotGeneral& options = {});

struct Dot {
  internal::Named named = internal::Named();
  /// Needed unless both are vectors or matrices, whose last and first dimensions are contracted.
  std::optional<DotDimensionNumbers> dimension_numbers = std::nullopt;
  DotPrecision precision = Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// The product of vectors and matrices of rank 1 and 2 without promotion: the last axis of lhs with
/// the first of rhs.
Array dot(const Operand& lhs, const Operand& rhs, const Dot& options = {});
/// Matrices in the last two dimensions; the others, of equal sizes, go along.
Array batch_matmul(const Operand& lhs, const Operand& rhs,
                   const DotPrecision& precision = Precision::DEFAULT);

/// [m, k] x [g, k, n] -> [m, n]: consecutive rows of lhs, `group_sizes` (integers, [g]) of them at
/// a time, each with its own matrix; rows beyond the last group are 0. (Upstream's group_offset,
/// which it does not implement on CPUs, is left out.)
Array ragged_dot(const Operand& lhs, const Operand& rhs, const Operand& group_sizes,
                 const DotGeneral& options = {});
/// A dot_general one of whose dimensions is cut into groups. Where that is a free dimension of lhs
/// each group meets its own rhs, where it is contracting each group gives a product of its own (a
/// new leading dimension), and where it goes along the groups change nothing.
Array ragged_dot_general(const Operand& lhs, const Operand& rhs, const Operand& group_sizes,
                         const RaggedDotDimensionNumbers& ragged_dot_dimension_numbers,
                         const DotGeneral& options = {});

struct ScaledDot {
  internal::Named named = internal::Named();
  /// Of the operand's sizes, but for the contracting dimensions: there each number counts for so
  /// many neighbours, two at least.
  std::optional<Array> lhs_scale = std::nullopt, rhs_scale = std::nullopt;
  /// As batch_matmul where left out.
  std::optional<DotDimensionNumbers> dimension_numbers = std::nullopt;
  /// bf16 where left out.
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// (lhs * lhs_scale) @ (rhs * rhs_scale), whose factors are formed in bf16.
Array scaled_dot(const Operand& lhs, const Operand& rhs, const ScaledDot& options = {});

}  // namespace strata::lax
