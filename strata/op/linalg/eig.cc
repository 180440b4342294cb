// strata.eig: eigenvalues of square matrices and their eigenvectors (loop/kernel/linalg/eig.cc),
// f32, f64 and complex.
//
// Results, all complex: eigenvalues w; where `vectors` is "both", left eigenvectors, columns u_j
// with u_j^H a = w_j u_j^H; where it is not "none", right ones, a v_j = w_j v_j. Vectors have
// length 1 and a real component of the greatest size.
//
// Derivative as in JAX: of the eigenvalues, diag(V^-1 dA V); of the vectors only where
// `vector_derivatives` says so, by perturbation theory of distinct eigenvalues (Giles 2008) with
// the two normalisations kept.
#include <tuple>

#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

bool has_vector_derivatives(const Attrs& attrs) {
  return expect_attr<bool>("eig", attrs, "vector_derivatives");
}
/// How many eigenvectors each eigenvalue has among the results: 0, 1 (right), 2.
int vectors(const Attrs& attrs) {
  const std::string which = expect_attr<std::string>("eig", attrs, "vectors");
  if (which != "none" && which != "right" && which != "both")
    throw Error("eig", "there is no vectors \"{}\"; \"none\", \"right\" and \"both\" are known",
                which);
  return which == "none" ? 0 : which == "right" ? 1 : 2;
}
DType complex_of(DType dtype) {
  return dtype == DType::f64 || dtype == DType::c128 ? DType::c128 : DType::c64;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("eig", operands, 1);
  const Type& a = expect_matrices("eig", operands[0], true);
  if (a.dtype() == DType::bf16 || a.dtype() == DType::f16)
    throw Error("eig", "dtype {} is not supported", name(a.dtype())).unsupported();
  has_vector_derivatives(attrs);
  const Type full = a.with(complex_of(a.dtype()));
  std::vector<Type> out{matrices_like(full, {rows_of(a)})};
  out.insert(out.end(), static_cast<std::size_t>(vectors(attrs)), full);
  return out;
}

const char* symbol(const Op& op) {
  const int sides = vectors(op.attrs);
  return sides == 0   ? "strata_eigenvalues"
         : sides == 1 ? "strata_right_eigenvectors"
                      : "strata_eig";
}
std::vector<std::int64_t> params(const Op& op) {
  const Type& a = op.operand(0)->type();
  return {factor_element("eig", a.dtype()), rows_of(a).size()};
}

// ---- derivative --------------------------------------------------------------------------------

/// 1 at the component of the greatest size of each column (at several that are equally great).
Value* greatest(Builder& b, Value* v) {
  Value* size = abs(b, v);
  return convert(b,
                 compare(b, size, in_columns(b, reduce_max(b, size, {v->rank() - 2}), size), "EQ"),
                 v->dtype());
}

/// The tangents of eigenvalues and of eigenvectors of length 1 whose greatest component is real.
std::pair<Value*, Value*> tangents_of(Builder& b, Value* w, Value* v, Value* da) {
  const int rows = v->rank() - 2;
  Value* turned = matmul(b, solve(b, v, da), v);
  Value* moved = matmul(b, v, mul(b, inverse_differences(b, w, v), turned));
  auto sum = [&](Value* x) { return reduce_sum(b, x, {rows}); };
  Value* at = greatest(b, v);
  Value* re = neg(b, real(b, sum(mul(b, conj(b, v), moved))));
  Value* im = neg(b, div(b, imag(b, sum(mul(b, at, moved))), real(b, sum(mul(b, at, v)))));
  return {diagonal_of(b, turned), add(b, moved, mul(b, v, in_columns(b, complex(b, re, im), v)))};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  const int sides = vectors(op.attrs);
  if (!tangents[0])
    return {again(b, op, operands).results(), Values(static_cast<std::size_t>(sides + 1), nullptr)};
  Attrs attrs = op.attrs;
  if (sides == 0)
    attrs.set("vectors", std::string("right"));  // of which the tangents of the values are made
  Values all = b.create("strata.eig", {operands[0]}, attrs).results();
  Value *w = all[0], *right = all.back(), *da = convert(b, tangents[0], w->dtype());
  Values out(all.begin(), all.begin() + sides + 1), moved(out.size(), nullptr);
  if (sides == 0 || !has_vector_derivatives(op.attrs)) {
    moved[0] = diagonal_of(b, matmul(b, solve(b, right, da), right));
    return {out, moved};
  }
  std::tie(moved[0], moved.back()) = tangents_of(b, w, right, da);
  if (sides == 2) moved[1] = tangents_of(b, conj(b, w), all[1], adjoint(b, da)).second;
  return {out, moved};
}

}  // namespace

const OpDef& eig_def() {
  static const OpDef def = matrix_kernel({
      .name = "strata.eig",
      .summary = "eigenvalues and eigenvectors of square matrices (jax.lax.linalg.eig)",
      .infer = infer,
      .jvp = jvp,
      .symbol = symbol,
      .params = params,
  });
  return def;
}

}  // namespace strata::op
