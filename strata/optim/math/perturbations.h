// Functions without derivatives, made smooth by noise; second derivatives.
//
//   auto soft = optim::perturbations::make_perturbed_fun(one_hot_argmax, {.sigma = 0.5});
//   Tree y = soft(key, x);                      // has a derivative by x
//
// Source: Optax's perturbations (Berthet et al., Learning with Differentiable Perturbed Optimizers,
// 2020) and second_order.
#pragma once

#include "strata/optim/math/trees.h"

namespace strata::optim {

namespace perturbations {

/// A law of noise: draws, and the logarithm of its density up to a constant.
struct Noise {
  std::function<Array(const random::Key&, const Sizes&, DType)> sample;
  std::function<Array(const Array&)> log_prob;
};
/// exp(-x - exp(-x))
Noise Gumbel();
/// exp(-x^2 / 2)
Noise Normal();

struct PerturbedOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t num_samples = 1000;
  double sigma = 0.1;
  Noise noise = Gumbel();
  /// Whether the function's value at x is taken from each sample's in the derivative.
  bool use_baseline = true;
};
/// The mean of fun(x + sigma z) over draws z, whose derivative by x is the score function's.
std::function<Tree(const random::Key& key, const Tree& x)> make_perturbed_fun(
    std::function<Tree(const Tree&)> fun, PerturbedOptions options = {});

}  // namespace perturbations

namespace second_order {

/// A loss of parameters, inputs and targets.
using LossFn = std::function<Array(const Tree& params, const Array& inputs, const Array& targets)>;
/// The Hessian times v, a vector of all parameters, as a tree like them.
Tree hvp(const LossFn& loss, const Array& v, const Tree& params, const Array& inputs,
         const Array& targets);
/// The diagonal of the Hessian as a vector of all parameters.
Array hessian_diag(const LossFn& loss, const Tree& params, const Array& inputs,
                   const Array& targets);
/// The squares of the gradient as a vector of all parameters.
Array fisher_diag(const LossFn& negative_log_likelihood, const Tree& params, const Array& inputs,
                  const Array& targets);

}  // namespace second_order
}  // namespace strata::optim
