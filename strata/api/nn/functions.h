// Activations and other functions of elements and axes (jax.nn).
#pragma once

#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/trigonometric.h"

namespace strata::nn {

/// max(x, 0), with derivative 0 at 0.
Array relu(const Operand& x);
/// x where positive, else negative_slope x.
Array leaky_relu(const Operand& x, const Operand& negative_slope = 0.01);
/// min(relu(x), 6)
Array relu6(const Operand& x);
/// x itself.
inline Array identity(const Operand& x) { return x; }
using numpy::logsumexp;
using numpy::tanh;
/// x limited to [-1, 1].
Array hard_tanh(const Operand& x);
/// relu6(x + 3) / 6
Array hard_sigmoid(const Operand& x);
/// x relu6(x + 3) / 6
Array hard_silu(const Operand& x);
inline Array hard_swish(const Operand& x) { return hard_silu(x); }
/// x / (1 + |x|)
Array soft_sign(const Operand& x);
/// (x + sqrt(x^2 + b)) / 2
Array squareplus(const Operand& x, const Operand& b = 4);
/// x tanh(softplus(x))
Array mish(const Operand& x);
/// 0 below -1, x above 1, (x + 1)^2 / 4 between.
Array sparse_plus(const Operand& x);
/// The derivative of sparse_plus: 0 below -1, 1 above 1, (x + 1) / 2 between.
Array sparse_sigmoid(const Operand& x);
/// log(1 - exp(-x)) for x > 0.
Array log1mexp(const Operand& x);
/// The first half along an axis times the sigmoid of the second.
Array glu(const Operand& x, std::int64_t axis = -1);
/// log(mean(exp(x))) without overflow.
Array logmeanexp(const Operand& x, const Reduce& options = {});
/// 1 / (1 + exp(-x)); floats only.
Array sigmoid(const Operand& x);
/// log(1 / (1 + exp(-x))) without overflow.
Array log_sigmoid(const Operand& x);
/// log(1 + exp(x))
Array softplus(const Operand& x);
/// x sigmoid(x)
Array silu(const Operand& x);
inline Array swish(const Operand& x) { return silu(x); }
/// The tanh approximation (JAX's default), or with erf.
Array gelu(const Operand& x, bool approximate = true);
/// x where positive, else exp(x) - 1, times alpha.
Array elu(const Operand& x, const Operand& alpha = 1.0);
/// x where positive, else (exp(x / alpha) - 1) alpha: its derivative is continuous.
Array celu(const Operand& x, const Operand& alpha = 1.0);
/// elu with the constants that keep mean 0 and variance 1.
Array selu(const Operand& x);
/// exp(x) / sum(exp(x)) along an axis, without overflow.
Array softmax(const Operand& x, const Axes& axis = -1);
/// The logarithm of softmax along an axis, without overflow.
Array log_softmax(const Operand& x, const Axes& axis = -1);
/// Rows of the identity: [..., n] from integers [...]; a class out of range gives zeros. The new
/// axis is the last unless given.
Array one_hot(const Operand& x, std::int64_t num_classes, DType dtype = default_float,
              std::int64_t axis = -1);
/// (x - mean) / sqrt(var + epsilon)
Array standardize(const Operand& x, const Axes& axis = -1, double epsilon = 1e-5);

}  // namespace strata::nn
