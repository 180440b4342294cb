// Random vectors and matrices.
#pragma once

#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"

namespace strata::random {

/// Normal vectors of a mean [..., n] and a covariance [..., n, n]; `shape` is that of the batch.
/// The result's dtype is that of the mean and the covariance unless given. The covariance's square
/// root is Cholesky's (upstream's methods "svd" and "eigh" are refused).
Array multivariate_normal(const KeyOperand& key, const Operand& mean, const Operand& cov,
                          const SampleShape& shape = {}, std::optional<DType> dtype = {},
                          const std::string& method = "cholesky");

/// Matrices [shape..., n, m] (m = n where left out) with orthonormal rows, or columns where n > m;
/// unitary ones for complex dtypes. Of all such ones, each as likely (Haar's measure): Q of a
/// normal matrix, with the signs that make R's diagonal positive (Mezzadri 2007).
Array orthogonal(const KeyOperand& key, std::int64_t n, const Sizes& shape = {},
                 DType dtype = default_float, std::optional<std::int64_t> m = {});

}  // namespace strata::random
