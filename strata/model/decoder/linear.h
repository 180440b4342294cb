// A product of a decoder's layer with a weight, dense or in packed blocks, and beside it perhaps an
// adapter of low rank.
//
//   y = x W + bias + scale (x A) B
#pragma once

#include <optional>

#include "strata/nn/linear/linear.h"

namespace strata::model::decoder {

/// An adapter of low rank: what it adds is scale (x A) B. Source: Hu et al., LoRA: Low-Rank
/// Adaptation of Large Language Models (2021).
struct Adapter {
  nn::LoRAParam a;   // (I, r)
  nn::LoRAParam b;   // (r, O)
  double scale = 1;  // alpha / r, or alpha / sqrt r
  STRATA_FIELDS(a, b, scale)

  /// What is added to a product y of x: x (..., I), result (..., O) of y's dtype. The products are
  /// those of x's dtype. Where B is zero the values of y come back.
  Array add_to(const Array& y, const Array& x) const;
};

/// x kernel + bias as nn::Linear, whose paths these are, and what the adapter adds where there is
/// one.
struct Linear {
  nn::Param kernel;               // (I, O), or packed ui8 (O, bytes of I numbers)
  std::optional<nn::Param> bias;  // (O)
  nn::ProductOptions product;
  std::optional<Adapter> lora;
  STRATA_FIELDS(kernel, bias, product, lora)

  Array operator()(const Array& x) const;
};

}  // namespace strata::model::decoder

STRATA_COMPILED_VISIT(strata::model::decoder::Linear)
