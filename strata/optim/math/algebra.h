// Eigenvectors, roots of matrices, least squares without negative numbers, assignment.
#pragma once

#include "strata/optim/math/trees.h"

namespace strata::optim {

struct PowerIterationOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t num_iters = 100;
  double error_tolerance = 1e-6;
};
/// The eigenvalue of greatest size and its eigenvector, by multiplying v0 until |A v - e v| / |e|
/// is below the tolerance.
std::pair<Array, Tree> power_iteration(const std::function<Tree(const Tree&)>& matrix, Tree v0,
                                       const PowerIterationOptions& options = {});
/// The same of a matrix, from v0, or from random numbers of a key.
std::pair<Array, Array> power_iteration(const Array& matrix, const std::optional<Array>& v0 = {},
                                        const PowerIterationOptions& options = {},
                                        const random::Key& key = random::key(0));

struct InverseRootOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t num_iters = 100;
  double ridge_epsilon = 1e-6, error_tolerance = 1e-6;
};
/// (A + ridge)^(-1/p) of a symmetric positive matrix by coupled Newton iterations in f32, and the
/// error; the ridge is ridge_epsilon times the greatest eigenvalue. p is 1, 2, 4 or 8; others count
/// as the nearest. Source: Anil et al., Scalable Second Order Optimization (2020).
std::pair<Array, Array> matrix_inverse_pth_root(const Array& matrix, std::int64_t p,
                                                const InverseRootOptions& options = {});

/// x >= 0 of the least |A x - b|, by `iters` accelerated projected steps of size 1 / L; without L,
/// a bound of the spectral radius. b may have several columns. Source: Beck and Teboulle (2009).
Array nnls(const Array& A, const Array& b, std::int64_t iters, const std::optional<Array>& L = {});

namespace assignment {
/// Rows and columns of the pairs of least total cost, of a matrix (n, m): min(n, m) of each.
/// Source: Kuhn (1955); Munkres (1957).
std::pair<Array, Array> hungarian_algorithm(const Array& cost_matrix);
/// The same by shortest augmenting paths. Source: Crouse, On implementing 2D rectangular assignment
/// algorithms (2016).
std::pair<Array, Array> base_hungarian_algorithm(const Array& cost_matrix);
}  // namespace assignment

}  // namespace strata::optim
