// Attention.
#pragma once

#include "strata/api/numpy.h"

namespace strata::nn {

/// softmax(q k^T / sqrt(D), causal) v with grouped heads: q (B, S, H, D), k and v (B, T, K, D), H a multiple of K; query
/// head h reads key head h / (H / K). Query i sees keys 0 .. i + T - S. Scores and softmax in f32, weights rounded to q's
/// dtype. Result (B, S, H, D).
/// Source: Vaswani et al. (2017); Ainslie et al., GQA (2023).
Array causal_attention(const Array& q_BSHD, const Array& k_BTKD, const Array& v_BTKD);

/// down(silu(x gate) * (x up)): x (..., D), gate and up (D, F), down (F, D).
/// Source: Shazeer, GLU Variants Improve Transformer (2020).
Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down);

}  // namespace strata::nn
