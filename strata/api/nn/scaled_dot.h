// Products of narrow floats, of which each block along the contracted dimension has a scale:
// jax.nn.scaled_matmul and scaled_dot_general.
//
// Upstream has them on GPUs alone. Here narrow numbers are exact in f32, and so are the products
// summed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/lax/products.h"

namespace strata::nn {

/// [B, M, N]: the sum over k of lhs[b, m, k] lhs_scales[b, m, k / u] rhs[b, n, k] rhs_scales[b, n,
/// k / u], lhs [B, M, K] and rhs [B, N, K]; scales [B, M, K / u] and [B, N, K / u]. Factors and
/// sums are f32. Throws Error for shapes that do not fit.
Array scaled_matmul(const Operand& lhs, const Operand& rhs, const Operand& lhs_scales,
                    const Operand& rhs_scales, DType preferred_element_type = DType::f32);

/// How numbers are made narrow: in blocks of `block_size` along the contracted dimension, each by a
/// scale of its own.
struct BlockScaleConfig {
  internal::Named named = internal::Named();
  /// "nvfp4": numbers f4E2M1FN with scales f8E4M3FN, after division by `global_scale`; "mxfp8":
  /// f8E4M3FN with powers of two (f8E8M0FNU).
  std::string mode;
  std::int64_t block_size;
  DType data_type, scale_type;
  std::optional<Array> global_scale = std::nullopt;
  /// Carried as upstream does, which does not read it.
  bool infer_only = false;
};
/// The configuration of a mode, with `global_scale` (f32[1], 1 where left out) for "nvfp4".
BlockScaleConfig get_scaled_dot_general_config(const std::string& mode,
                                               const std::optional<Array>& global_scale = {});

struct ScaledDotGeneral {
  internal::Named named = internal::Named();
  /// f32, bf16 or f16.
  DType preferred_element_type = DType::f32;
  /// For lhs, rhs, and gradients; without them this is lax::dot_general.
  std::vector<BlockScaleConfig> configs = {};
};
/// dot_general of operands that are made narrow first. Derivatives (reverse mode) see through that:
/// they are products of the other operand and of the cotangent, narrow again in "mxfp8"; in "nvfp4"
/// they are zero where a number was cut off. A block of zeros stays zeros (upstream divides by its
/// scale 0). The contracted sizes are multiples of the block size; those along which gradients are
/// made narrow are filled up with zeros (upstream refuses others).
Array scaled_dot_general(const Operand& lhs, const Operand& rhs,
                         const lax::DotDimensionNumbers& dimension_numbers,
                         const ScaledDotGeneral& options = {});

}  // namespace strata::nn
