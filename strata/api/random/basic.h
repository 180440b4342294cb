// Uniform and normal numbers, integers, and coins.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

/// Uniform in [minval, maxval), which may be arrays that broadcast to the shape. Floats of any
/// width.
Array uniform(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float,
              const Operand& minval = 0.0f, const Operand& maxval = 1.0f);
/// Normal with mean 0 and variance 1; complex numbers have half of the variance in each part.
Array normal(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// Normal, given that lower < x < upper.
Array truncated_normal(const KeyOperand& key, const Operand& lower, const Operand& upper,
                       const SampleShape& shape = {}, DType dtype = default_float);
/// Integers in [minval, maxval), uniform up to a bias below (maxval - minval)^2 / 2^64; minval
/// where that is empty. A C++ number beyond the dtype's range stands for its end. Narrow integers
/// are drawn as i32.
Array randint(const KeyOperand& key, const Sizes& shape, const Operand& minval,
              const Operand& maxval, DType dtype = default_int);
/// True with probability p, a float. `mode`: "low", or "high", which resolves probabilities below
/// the dtype's epsilon.
Array bernoulli(const KeyOperand& key, const Operand& p = 0.5f, const SampleShape& shape = {},
                const std::string& mode = "low");
/// 1 or -1.
Array rademacher(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_int);

}  // namespace strata::random
