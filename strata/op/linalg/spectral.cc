// strata.hessenberg, strata.schur, strata.tridiagonal: similar matrices of simpler form
// (loop/kernel/linalg/schur.cc, tridiagonal.cc).
//
//   hessenberg:  a -> (H on and above the first subdiagonal, reflectors below it), taus [..., n -
//   1]        (LAPACK, gehrd) schur:       a -> T, Q with a = Q T Q^H; of real matrices T has
//   blocks of two rows for conjugate pairs tridiagonal: a Hermitian, of which the triangle named by
//   `lower` is read -> (T and reflectors), diagonal [..., n] and what stands
//                beside it [..., n - 1], both real, taus [..., n - 1] (LAPACK, sytrd, hetrd)
//
// They have no derivatives, as in JAX.
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

const Type& only_square(const char* self, std::span<Value* const> operands) {
  expect_operands(self, operands, 1);
  return expect_matrices(self, operands[0], true);
}

std::vector<Type> infer_hessenberg(std::span<Value* const> operands, const Attrs&,
                                   std::span<const std::unique_ptr<Block>>) {
  const Type& a = only_square("hessenberg", operands);
  return {a, matrices_like(a, {less_one(rows_of(a))})};
}
std::vector<Type> infer_schur(std::span<Value* const> operands, const Attrs&,
                              std::span<const std::unique_ptr<Block>>) {
  const Type& a = only_square("schur", operands);
  return {a, a};
}
std::vector<Type> infer_tridiagonal(std::span<Value* const> operands, const Attrs& attrs,
                                    std::span<const std::unique_ptr<Block>>) {
  const Type& a = only_square("tridiagonal", operands);
  expect_attr<bool>("tridiagonal", attrs, "lower");
  const DType real = real_part(a.dtype());
  const Dim beside = less_one(rows_of(a));
  return {a, matrices_like(a, {rows_of(a)}).with(real), matrices_like(a, {beside}).with(real),
          matrices_like(a, {beside})};
}

const char* symbol_hessenberg(const Op&) { return "strata_hessenberg"; }
const char* symbol_schur(const Op&) { return "strata_schur"; }
const char* symbol_tridiagonal(const Op&) { return "strata_tridiagonal"; }

/// `lower` is read by tridiagonal alone.
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("schur", a.dtype()), rows_of(a).size(),
          op.attrs.get_or<bool>("lower", true)};
}

OpDef row(const char* name, const char* summary, decltype(MatrixKernel::infer) infer,
          decltype(MatrixKernel::symbol) symbol) {
  return matrix_kernel({
      .name = name,
      .summary = summary,
      .infer = infer,
      .jvp = None{"JAX states none either"},
      .transpose = None{"not linear"},
      .symbol = symbol,
      .params = params,
  });
}

}  // namespace

std::span<const OpDef> spectral_defs() {
  static const OpDef rows[] = {
      row("strata.hessenberg",
          "square matrices made upper Hessenberg by reflectors (jax.lax.linalg.hessenberg)",
          infer_hessenberg, symbol_hessenberg),
      row("strata.schur", "Schur's form of square matrices (jax.lax.linalg.schur)", infer_schur,
          symbol_schur),
      row("strata.tridiagonal",
          "Hermitian matrices made tridiagonal by reflectors (jax.lax.linalg.tridiagonal)",
          infer_tridiagonal, symbol_tridiagonal),
  };
  return rows;
}

}  // namespace strata::op
