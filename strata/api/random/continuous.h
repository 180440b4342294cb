// Distributions whose samples are functions of uniform and normal numbers.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

/// Density 1 / (pi (1 + x^2)).
Array cauchy(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// exp(-x) for x > 0.
Array exponential(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// exp(-|x|) / 2
Array laplace(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// exp(-x) / (1 + exp(-x))^2
Array logistic(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// exp(-(x + exp(-x))): -log(-log(uniform)). `mode`: "low", or "high" and "highest" (f32), which
/// resolve the tail beyond the uniform numbers' last bit.
Array gumbel(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float,
             const std::string& mode = "low");
/// b / x^(b + 1) for x > 1.
Array pareto(const KeyOperand& key, const Operand& b, const SampleShape& shape = {},
             DType dtype = default_float);
/// x / scale^2 exp(-x^2 / (2 scale^2)) for x > 0.
Array rayleigh(const KeyOperand& key, const Operand& scale, const SampleShape& shape = {},
               DType dtype = default_float);
/// The length of a normal vector of three numbers.
Array maxwell(const KeyOperand& key, const Sizes& shape = {}, DType dtype = default_float);
/// Maxwell's numbers with either sign, times scale, plus loc. The parameters' shape is appended to
/// a given shape, as upstream does it.
Array double_sided_maxwell(const KeyOperand& key, const Operand& loc, const Operand& scale,
                           const Sizes& shape = {}, DType dtype = default_float);
/// Wald's (inverse Gaussian) of shape parameter 1. Source: Michael, Schucany and Haas (1976).
Array wald(const KeyOperand& key, const Operand& mean, const SampleShape& shape = {},
           DType dtype = default_float);
/// c / s (x / s)^(c - 1) exp(-(x / s)^c) for x > 0; the parameters broadcast with the shape.
Array weibull_min(const KeyOperand& key, const Operand& scale, const Operand& concentration,
                  const Sizes& shape = {}, DType dtype = default_float);
/// Linear from 0 at left up to mode and down to 0 at right.
Array triangular(const KeyOperand& key, const Operand& left, const Operand& mode,
                 const Operand& right, const SampleShape& shape = {}, DType dtype = default_float);
/// exp(sigma times a normal number), complex ones too.
Array lognormal(const KeyOperand& key, const Operand& sigma = 1.0f, const SampleShape& shape = {},
                DType dtype = default_float);

}  // namespace strata::random
