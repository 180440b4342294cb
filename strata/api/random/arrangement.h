// Orders and choices.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

struct Permutation {
  internal::Named named = internal::Named();
  std::int64_t axis = 0;
  /// Each vector along the axis in an order of its own, instead of all in one.
  bool independent = false;
};
/// x in a random order along an axis; the numbers below x for an integer scalar, whose value must
/// be known.
Array permutation(const KeyOperand& key, const Operand& x, const Permutation& options = {});

struct Choice {
  internal::Named named = internal::Named();
  Sizes shape = {};
  bool replace = true;
  /// Probabilities of the elements, which need not sum to 1; equal ones when left out.
  std::optional<Array> p = std::nullopt;
  std::int64_t axis = 0;
  /// As for gumbel; without replacement and with probabilities.
  std::string mode = "low";
};
/// Elements of `a` along an axis, in whose place stands `shape`; of the numbers below `a` for an
/// integer scalar, whose value must be known. Throws Error for more draws without replacement than
/// elements.
Array choice(const KeyOperand& key, const Operand& a, const Choice& options = {});

}  // namespace strata::random
