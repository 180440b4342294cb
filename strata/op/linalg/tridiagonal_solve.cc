// strata.tridiagonal_solve: X of A X = B, A with the diagonals dl, d, du [..., n] (dl[0] and du[n -
// 1] are not read), B [..., n, k] (loop/kernel/linalg/tridiagonal_solve.cc).
//
// Linear in B; for the diagonals dX = -A^-1 dA X, as in JAX.
#include "strata/op/linalg/matrix_kernel.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "tridiagonal_solve";
  expect_operands(self, operands, 4);
  const Type& b = expect_matrices(self, operands[3]);
  const Type diagonal = matrices_like(b, {rows_of(b)});
  for (int i = 0; i < 3; ++i)
    if (!(operands[static_cast<std::size_t>(i)]->type() == diagonal))
      throw Error(self, "diagonals of {} are {}, got {}", b.to_string(), diagonal.to_string(),
                  operands[static_cast<std::size_t>(i)]->type().to_string());
  return {b};
}

const char* symbol(const Op&) { return "strata_tridiagonal_solve"; }
std::vector<std::int64_t> params(const Op& op) {
  const Type& b = op.result()->type();
  return {factor_element("tridiagonal_solve", b.dtype()), rows_of(b).size(), columns_of(b).size()};
}

/// Rows moved by one: row i is row i - `by` of x, zeros where there is none.
Value* moved_rows(Builder& b, Value* x, int dim, std::int64_t by) {
  Ints low(static_cast<std::size_t>(x->rank()), 0), high = low;
  low[static_cast<std::size_t>(dim)] = by, high[static_cast<std::size_t>(dim)] = -by;
  return pad(b, x, zeros(b, Type::scalar(x->dtype())), low, high);
}

/// dA X, of which null diagonals are zero.
Value* product(Builder& b, std::span<Value* const> diagonals, Value* x) {
  Value* sum = nullptr;
  for (int i = 0; i < 3; ++i)
    if (Value* d = diagonals[static_cast<std::size_t>(i)])
      sum = add_or_null(
          b, sum, mul(b, in_rows(b, d, x), i == 1 ? x : moved_rows(b, x, x->rank() - 2, 1 - i)));
  return sum;
}

Value* solved(Builder& b, std::span<Value* const> diagonals, Value* rhs) {
  return b.create("strata.tridiagonal_solve", {diagonals[0], diagonals[1], diagonals[2], rhs})
      .result();
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value *x = again(b, op, operands).result(), *change = product(b, tangents.first(3), x);
  Value* rhs = add_or_null(b, tangents[3], change ? neg(b, change) : nullptr);
  return {{x}, {rhs ? solved(b, operands, rhs) : nullptr}};
}

Values transpose_rule(Builder& b, const Op&, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  STRATA_CHECK(!linear[0] && !linear[1] && !linear[2],
               "a system is linear in its right hand side alone");
  if (!ct[0]) return {nullptr, nullptr, nullptr, nullptr};
  const int last = operands[0]->rank() - 1;
  Value* const across[] = {moved_rows(b, operands[2], last, 1), operands[1],
                           moved_rows(b, operands[0], last, -1)};
  return {nullptr, nullptr, nullptr, solved(b, across, ct[0])};
}

}  // namespace

const OpDef& tridiagonal_solve_def() {
  static const OpDef def = matrix_kernel({
      .name = "strata.tridiagonal_solve",
      .summary = "the solution of systems with three diagonals (jax.lax.linalg.tridiagonal_solve)",
      .infer = infer,
      .jvp = jvp,
      .transpose = transpose_rule,
      .symbol = symbol,
      .params = params,
  });
  return def;
}

}  // namespace strata::op
