// The gamma distribution and those made of it.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

/// x^(a - 1) exp(-x) / gamma(a) for x > 0, by rejection, and its logarithm, which small `a` do not
/// send to zero. The derivative by `a` is that of the quantile which the sample is
/// (lax::random_gamma_grad; Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients",
/// 2018), in all samplers that are made of these; as upstream there is no second one. Source:
/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
Array gamma(const KeyOperand& key, const Operand& a, const SampleShape& shape = {},
            DType dtype = default_float);
/// The logarithm of gamma numbers, which small `a` let underflow otherwise.
Array loggamma(const KeyOperand& key, const Operand& a, const SampleShape& shape = {},
               DType dtype = default_float);
/// x^(a - 1) (1 - x)^(b - 1) on [0, 1].
Array beta(const KeyOperand& key, const Operand& a, const Operand& b, const SampleShape& shape = {},
           DType dtype = default_float);
/// Probabilities that sum to 1 along a last axis, for alpha[..., n]; `shape` is that of the batch.
Array dirichlet(const KeyOperand& key, const Operand& alpha, const SampleShape& shape = {},
                DType dtype = default_float);
/// The sum of `df` squares of normal numbers; Student's t; the ratio of two chi squares by their
/// degrees of freedom.
Array chisquare(const KeyOperand& key, const Operand& df, const SampleShape& shape = {},
                DType dtype = default_float);
/// Student's t with df degrees of freedom.
Array t(const KeyOperand& key, const Operand& df, const SampleShape& shape = {},
        DType dtype = default_float);
/// Fisher's F with dfnum and dfden degrees of freedom.
Array f(const KeyOperand& key, const Operand& dfnum, const Operand& dfden,
        const SampleShape& shape = {}, DType dtype = default_float);
/// exp(-|x|^p)
Array generalized_normal(const KeyOperand& key, const Operand& p, const Sizes& shape = {},
                         DType dtype = default_float);
/// Uniform in the unit ball of the p-norm in d dimensions, the last axis. Source: Barthe et al.
/// (2005).
Array ball(const KeyOperand& key, std::int64_t d, const Operand& p = 2.0f, const Sizes& shape = {},
           DType dtype = default_float);

}  // namespace strata::random
