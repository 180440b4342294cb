// Momentum and moving means of updates.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/schedule/rate.h"

namespace strata::optim {

/// t = g + decay t; result t, or g + decay t with `nesterov`. State: trace, of `accumulator_dtype`
/// or as dtypes promote. Source: Polyak (1964); Nesterov (1983) in the form of Sutskever et al.
/// (2013).
GradientTransformation trace(Rate decay, bool nesterov = false,
                             std::optional<DType> accumulator_dtype = {});
/// e = (1 - decay) g + decay e; result e, or with `debias` e / (1 - decay^t). State: count, ema.
GradientTransformation ema(Rate decay, bool debias = true,
                           std::optional<DType> accumulator_dtype = {});
/// The sum of k updates at the k-th, zeros before. State: count, grad_acc.
GradientTransformation apply_every(std::int64_t k = 1);

}  // namespace strata::optim
