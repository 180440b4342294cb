// Rotary position embedding.
#pragma once

#include "strata/api/numpy.h"

namespace strata::nn {

/// cos and sin of position * theta^(-2 i / D) for some positions, each (S, D / 2), f32.
struct RotaryTables {
  Array cos, sin;
  STRATA_FIELDS(cos, sin)
};
/// Of the positions in an integer array (S), which may be traced.
RotaryTables rotary_tables(const Array& positions_S, std::int64_t head_dim, double theta = 10000.0);
/// Of positions 0 .. length-1.
RotaryTables rotary_tables(std::int64_t length, std::int64_t head_dim, double theta = 10000.0);

/// Rotates pairs (x[i], x[i + D/2]) of x: (B, S, H, D) by the angles of the S positions of the
/// tables; dtype of x. Source: Su et al., RoFormer (2021); halves rather than neighbours are
/// paired, as in Llama's released weights and MaxText.
Array apply_rotary(const Array& x_BSHD, const RotaryTables& tables);

}  // namespace strata::nn
