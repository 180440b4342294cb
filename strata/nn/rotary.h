// Rotary position embedding.
#pragma once

#include "strata/api/numpy.h"

namespace strata::nn {

/// cos and sin of position * theta^(-2 i / D), each (positions, D / 2), f32.
struct RotaryTables {
  Array cos, sin;
  STRATA_FIELDS(cos, sin)
};
RotaryTables rotary_tables(std::int64_t positions, std::int64_t head_dim, double theta = 10000.0);

/// Rotates pairs (x[i], x[i + D/2]) of x: (B, S, H, D) by the angles of positions 0 .. S-1; dtype of x.
/// Source: Su et al., RoFormer (2021); halves rather than neighbours are paired, as in Llama's released weights.
Array apply_rotary(const Array& x_BSHD, const RotaryTables& tables);

}  // namespace strata::nn
