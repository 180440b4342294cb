#include "strata/api/random/matrices.h"

#include <array>

#include "strata/api/index.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;
using Ints = std::vector<std::int64_t>;

Ints leading(const Array& x, std::size_t dropped) {
  Ints out = x.shape().sizes();
  out.resize(out.size() - dropped);
  return out;
}

/// The lower factor of the symmetric part, as upstream takes it.
Array lower_factor(const Array& cov) {
  const Array symmetric = (cov + numpy::swapaxes(cov, -1, -2)) / 2;
  return internal::emit_one(
      {symmetric}, false, [](internal::Builder& b, const internal::Values& v) {
        return b.create("stablehlo.cholesky", {v[0]}, {{"lower", true}}).result();
      });
}

}  // namespace

Array multivariate_normal(const KeyOperand& key, const Operand& mean, const Operand& cov,
                          const SampleShape& given, std::optional<DType> wanted,
                          const std::string& method) {
  const Use use("multivariate_normal", key);
  if (method != "cholesky")
    fail("multivariate_normal", "the method is \"cholesky\", got \"{}\"", method);
  if (mean->ndim() < 1 || cov->ndim() < 2)
    fail("multivariate_normal", "needs a mean [..., n] and a covariance [..., n, n], got {} and {}",
         describe(mean->type()), describe(cov->type()));
  const std::int64_t n = mean->shape(-1);
  if (cov->shape(-1) != n || cov->shape(-2) != n)
    fail("multivariate_normal", "for a mean {} the covariance is [..., {}, {}], got {}",
         describe(mean->type()), n, n, describe(cov->type()));
  const std::array both = {mean.array, cov.array};
  const DType inner = internal::inexact(internal::promoted("multivariate_normal", both)).dtype;
  const DType dtype = float_type("multivariate_normal", wanted.value_or(inner));
  Ints shape = sample_shape("multivariate_normal", given,
                            {Shape::of(leading(mean, 1)), Shape::of(leading(cov, 2))});
  shape.push_back(n);
  return as(mean, inner) + numpy::einsum("...ij,...j->...i", lower_factor(as(cov, inner)),
                                         normal(key.key, shape, dtype));
}

Array orthogonal(const KeyOperand& key, std::int64_t n, const Sizes& given, DType dtype,
                 std::optional<std::int64_t> columns) {
  const Use use("orthogonal", key);
  const std::int64_t m = columns.value_or(n);
  Ints shape = given.get();
  shape.insert(shape.end(), {std::max(n, m), std::min(n, m)});
  const auto [q, r] = numpy::linalg::qr(normal(key.key, shape, dtype));
  const Array x = q * expand_dims(sign(numpy::linalg::diagonal(r)), -2);
  return n < m ? numpy::matrix_transpose(x) : x;
}

}  // namespace strata::random
