// Functions of jax.nn.
#pragma once

#include "strata/api/numpy.h"

namespace strata::nn {

/// max(x, 0), with derivative 0 at 0.
Array relu(const Operand& x);
Array leaky_relu(const Operand& x, double negative_slope = 0.01);
/// 1 / (1 + exp(-x))
Array sigmoid(const Operand& x);
Array log_sigmoid(const Operand& x);
/// log(1 + exp(x))
Array softplus(const Operand& x);
/// x sigmoid(x)
Array silu(const Operand& x);
/// The tanh approximation (JAX's default), or with erf.
Array gelu(const Operand& x, bool approximate = true);
/// x where positive, else exp(x) - 1, times alpha.
Array elu(const Operand& x, double alpha = 1.0);
/// exp(x) / sum(exp(x)) along an axis, without overflow.
Array softmax(const Operand& x, const Axes& axis = -1);
Array log_softmax(const Operand& x, const Axes& axis = -1);
/// Rows of the identity: [..., n] from integers [...]; a class out of range gives zeros.
Array one_hot(const Operand& x, std::int64_t num_classes, DType dtype = DType::f32);
/// (x - mean) / sqrt(var + epsilon)
Array standardize(const Operand& x, const Axes& axis = -1, double epsilon = 1e-5);

}  // namespace strata::nn
