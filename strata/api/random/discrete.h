// Distributions on integers.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

struct Categorical {
  internal::Named named = internal::Named();
  /// The axis of the classes, which is dropped.
  std::int64_t axis = -1;
  /// The shape of the samples; ends with that of the batch.
  SampleShape shape = {};
  /// Without replacement the samples of one row differ.
  bool replace = true;
  /// As for gumbel.
  std::string mode = "low";
};
/// Classes (i32, under x64 i64) drawn with probabilities softmax(logits) along an axis. Throws
/// Error for more samples than classes without replacement.
Array categorical(const KeyOperand& key, const Operand& logits, const Categorical& options = {});
inline Array categorical(const KeyOperand& key, const Operand& logits, std::int64_t axis) {
  return categorical(key, logits, Categorical{.axis = axis});
}

/// The number of trials up to the first success: (1 - p)^(k - 1) p for k = 1, 2, ...
Array geometric(const KeyOperand& key, const Operand& p, const SampleShape& shape = {},
                DType dtype = default_int);
/// lam^k exp(-lam) / k!; -1 where lam is NaN. Threefry-2x32 keys only, as upstream.
/// Source: Knuth below 10, from there Hörmann's transformed rejection (1993).
Array poisson(const KeyOperand& key, const Operand& lam, const SampleShape& shape = {},
              DType dtype = default_int);
/// Successes in n trials, as floats: NaN where n or p is negative or NaN, infinite where n is.
/// Source: inversion where n p is at most 10, from there Hörmann's BTRS (1993).
Array binomial(const KeyOperand& key, const Operand& n, const Operand& p,
               const SampleShape& shape = {}, DType dtype = default_float);
/// How n trials fall on classes of probabilities p[..., k], along the last axis, counted as floats
/// and given in any dtype. `shape` has the classes.
Array multinomial(const KeyOperand& key, const Operand& n, const Operand& p,
                  const SampleShape& shape = {}, DType dtype = default_float);

}  // namespace strata::random
