// strata.geqrf, strata.geqp3, strata.householder_product: QR of matrices [..., m, n] by reflectors,
// as LAPACK gives it, and the product of reflectors (loop/kernel/linalg/householder.cc).
//
//   geqrf: a -> (R on and above the diagonal, reflectors below it), taus [..., min(m, n)]
//   geqp3: the same for a with exchanged columns: factors, permutation (i32 [..., n]: column j of Q
//   R is column permutation[j] of a), taus householder_product: (reflectors, taus [..., k], k <= n
//   <= m) -> the first n columns of H_1 H_2 ... H_k
//
// They have no derivatives, as in JAX; strata.qr has.
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

std::vector<Type> infer_geqrf(std::span<Value* const> operands, const Attrs&,
                              std::span<const std::unique_ptr<Block>>) {
  expect_operands("geqrf", operands, 1);
  const Type& a = expect_matrices("geqrf", operands[0]);
  return {a, matrices_like(a, {least_of(a)})};
}

std::vector<Type> infer_geqp3(std::span<Value* const> operands, const Attrs&,
                              std::span<const std::unique_ptr<Block>>) {
  expect_operands("geqp3", operands, 1);
  const Type& a = expect_matrices("geqp3", operands[0]);
  return {a, matrices_like(a, {columns_of(a)}).with(DType::i32), matrices_like(a, {least_of(a)})};
}

std::vector<Type> infer_product(std::span<Value* const> operands, const Attrs&,
                                std::span<const std::unique_ptr<Block>>) {
  const char* self = "householder_product";
  expect_operands(self, operands, 2);
  const Type &a = expect_matrices(self, operands[0]), &taus = operands[1]->type();
  if (taus.dtype() != a.dtype() || taus.rank() != a.rank() - 1)
    throw Error(self, "the factors of {} are {}", a.to_string(), taus.to_string());
  const Dim k = columns_of(taus);
  if (!(taus == matrices_like(a, {k})))
    throw Error(self, "the batches of {} and {} differ", a.to_string(), taus.to_string());
  const bool is_known = k.is_static() && rows_of(a).is_static() && columns_of(a).is_static();
  if (is_known && !(k.size() <= columns_of(a).size() && columns_of(a).size() <= rows_of(a).size()))
    throw Error(self, "{} reflectors and {} columns of {} rows", k.size(), columns_of(a).size(),
                rows_of(a).size());
  return {a};
}

const char* symbol_geqrf(const Op&) { return "strata_geqrf"; }
const char* symbol_geqp3(const Op&) { return "strata_geqp3"; }
const char* symbol_product(const Op&) { return "strata_householder_product"; }

/// The taus are the last result, or the last operand.
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  const Type& taus =
      op.operands.size() == 2 ? op.operand(1)->type() : op.result(op.num_results() - 1)->type();
  return {factor_element("geqrf", a.dtype()), rows_of(a).size(), columns_of(a).size(),
          columns_of(taus).size()};
}

OpDef row(const char* name, const char* summary, decltype(MatrixKernel::infer) infer,
          decltype(MatrixKernel::symbol) symbol) {
  return matrix_kernel({
      .name = name,
      .summary = summary,
      .infer = infer,
      .jvp = None{"the parts of a factorisation, as in JAX; strata.qr has a derivative"},
      .transpose = None{"not linear"},
      .symbol = symbol,
      .params = params,
  });
}

}  // namespace

std::span<const OpDef> householder_defs() {
  static const OpDef rows[] = {
      row("strata.geqp3", "the same of matrices with exchanged columns", infer_geqp3, symbol_geqp3),
      row("strata.geqrf", "QR by reflectors, in place of the matrix (LAPACK, geqrf)", infer_geqrf,
          symbol_geqrf),
      row("strata.householder_product", "the product of reflectors (LAPACK, orgqr)", infer_product,
          symbol_product),
  };
  return rows;
}

}  // namespace strata::op
