// Schur's form and what is computed by it.
#include "strata/api/lax.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/matrices.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/transform/control.h"

namespace strata::scipy::linalg {
namespace {

using internal::adjoint;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::require_matrices;
using internal::Site;
using internal::strong_number;
namespace nl = numpy::linalg;

Array as_complex(const Array& x) { return x.astype(numpy::promote_types(x.dtype(), DType::c64)); }

/// Rows or columns m - 1 and m.
Array pair_at(const Array& x, const Array& m, int axis) {
  return lax::dynamic_slice_in_dim(x, m - 1, 2, axis);
}
Array with_pair(const Array& x, const Array& pair, const Array& m, int axis) {
  return lax::dynamic_update_slice_in_dim(x, pair, m - 1, axis < 0 ? axis + x.ndim() : axis);
}
/// One number of each matrix, as matrices of one element.
Array entry(const Array& x, std::int64_t i, std::int64_t j) {
  return x[{ellipsis, slice(i, i + 1), slice(j, j + 1)}];
}

/// The rotation that makes a block of two rows triangular; the identity where it is.
Array rotation(const Array& block) {
  const Array below = entry(block, 1, 0),
              mu =
                  expand_dims(nl::eigvals(block), -2)[{ellipsis, slice(0, 1)}] - entry(block, 1, 1);
  const Array size =
      numpy::sqrt(square(numpy::abs(mu)) + square(numpy::abs(below))).astype(block.dtype());
  const Array c = mu / size, s = below / size;
  const Array turn =
      concatenate({concatenate({numpy::conj(c), s}, -1), concatenate({-s, c}, -1)}, -2);
  const Array is_block =
      numpy::abs(below) > internal::epsilon_of(block.dtype()) *
                              (numpy::abs(entry(block, 0, 0)) + numpy::abs(entry(block, 1, 1)));
  return where(is_block, turn, numpy::eye(2, {}, 0, block.dtype()));
}

/// Element (i, j) of one matrix.
Array element(const Array& x, const Array& i, const Array& j) {
  return lax::dynamic_slice(x, {i, j}, {1, 1}).reshape({});
}

/// An upper triangular matrix from its diagonal: column by column, each upwards, element (i, j) is
/// `value` of what is there, i and j.
template <class F>
Array above_diagonal(const Array& diagonal, F value) {
  const auto column = [&](Array j, Array u) {
    return fori_loop(
        Array(0), j,
        [&](Array l, Array v) {
          const Array i = j - 1 - l;
          return lax::dynamic_update_slice(v, value(v, i, j).reshape({1, 1}), {i, j});
        },
        u);
  };
  return fori_loop(0, diagonal.shape(0), column, numpy::diag(diagonal));
}

/// The sum over i < k < j of x[i, k] y[k, j].
Array inner_between(const Array& x, const Array& y, const Array& i, const Array& j) {
  const Array k = numpy::arange(x.shape(0));
  const Array row = lax::dynamic_index_in_dim(x, i, 0, false),
              column = lax::dynamic_index_in_dim(y, j, 1, false);
  return sum(where((k > i) & (k < j), row * column, 0));
}

void require_one(const char* name, const Array& a) {
  if (a.ndim() != 2 || a.shape(0) != a.shape(1))
    fail(name, "one square matrix is taken, got {}", describe(a.type()));
}

struct Funm {
  Array f, t;
};
Funm by_parlett(const Array& a, const std::function<Array(Array)>& func) {
  require_one("funm", a);
  const auto real = schur(a);
  const auto [t, z] = rsf2csf(real.T, real.Z);
  const Array diagonal = numpy::diagonal(t);
  const Array f = above_diagonal(
      func(diagonal).astype(t.dtype()), [&t = t](const Array& u, const Array& i, const Array& j) {
        const Array s = element(t, i, j) * (element(u, j, j) - element(u, i, i)) +
                        inner_between(t, u, i, j) - inner_between(u, t, i, j);
        const Array gap = element(t, j, j) - element(t, i, i);
        return where(gap == 0, s, s / where(gap == 0, 1, gap));
      });
  return {matmul(matmul(z, f), adjoint(z)), t};
}

/// X and what its systems divide by: all sums of an eigenvalue of A and one of B.
struct Sylvester {
  Array x, sums;
};
Array all_sums(const Array& of_a, const Array& of_b) {
  return expand_dims(of_a, -1) + expand_dims(of_b, -2);
}

/// R Y + Y S^H = U^H C V, the last column of Y first.
Sylvester by_schur(const Array& a, const Array& b, const Array& c) {
  const auto [r, u] = schur(a, "complex");
  const auto [s, v] = schur(adjoint(b), "complex");
  const Array lower = adjoint(s), f = matmul(matmul(adjoint(u), c.astype(r.dtype())), v),
              shifts = internal::diagonals(lower), one = numpy::eye(r.shape(-1), {}, 0, r.dtype());
  const std::int64_t n = b.shape(-1);
  const Array y = fori_loop(
      0, n,
      [&, &r = r](Array step, Array y) {
        const Array j = static_cast<int>(n - 1) - step;
        const Array rhs = lax::dynamic_index_in_dim(f, j, -1) -
                          matmul(y, lax::dynamic_index_in_dim(lower, j, -1));
        const Array shift = expand_dims(lax::dynamic_index_in_dim(shifts, j, -1), -1);
        const Array column =
            lax::linalg::triangular_solve(r + shift * one, rhs, {.left_side = true});
        return lax::dynamic_update_slice_in_dim(y, column, j, y.ndim() - 1);
      },
      zeros_like(f));
  return {matmul(matmul(u, y), adjoint(v)), all_sums(internal::diagonals(r), shifts)};
}

Sylvester by_eigenvectors(const Array& a, const Array& b, const Array& c) {
  const auto [w, u] = nl::eig(a);
  const auto [q, v] = nl::eig(b);
  const Array sums = all_sums(w, q);
  const Array y = nl::solve(u, matmul(c.astype(u.dtype()), v)) / sums;
  return {matmul(matmul(u, y), nl::inv(v)), sums};
}

}  // namespace

SchurResult schur(const Operand& operand, const std::string& output) {
  Site site(operand);
  if (output != "real" && output != "complex")
    fail("schur", "output is \"real\" or \"complex\", got \"{}\"", output);
  const std::vector<Array> out =
      lax::linalg::schur(output == "complex" ? as_complex(operand) : operand.array);
  return {out[0], out[1]};
}

SchurResult rsf2csf(const Operand& t_operand, const Operand& z_operand) {
  Site site(t_operand);
  Array both[] = {t_operand.array, z_operand.array};
  for (const Array& x : both) require_matrices("rsf2csf", x, true);
  if (both[0].shape(-1) != both[1].shape(-1))
    fail("rsf2csf", "{} and {} are of different sizes", describe(both[0].type()),
         describe(both[1].type()));
  const DType dtype = numpy::promote_types(internal::promoted("rsf2csf", both).dtype, DType::c64);
  const Ints batch = internal::common_batch("rsf2csf", both);
  Array t = internal::with_batch(both[0].astype(dtype), batch),
        z = internal::with_batch(both[1].astype(dtype), batch);
  const std::int64_t n = t.shape(-1);
  const Array row = expand_dims(numpy::arange(n), 1), column = numpy::arange(n);
  using Both = std::pair<Array, Array>;
  auto step = [&](Array i, Both tz) {
    auto [t, z] = tz;
    const Array m = static_cast<int>(n) - i, rows = pair_at(t, m, -2),
                turn = rotation(pair_at(rows, m, -1)), back = adjoint(turn);
    t = with_pair(t, where(column >= m - 1, matmul(turn, rows), rows), m, -2);
    const Array columns = pair_at(t, m, -1);
    t = with_pair(t, where(row <= m, matmul(columns, back), columns), m, -1);
    return Both{where((row == m) & (column == m - 1), 0, t),
                with_pair(z, matmul(pair_at(z, m, -1), back), m, -1)};
  };
  if (n > 1) std::tie(t, z) = fori_loop(1, n, step, Both{t, z});
  return {t, z};
}

Array sqrtm(const Operand& A) {
  Site site(A);
  require_one("sqrtm", A);
  const auto [t, z] = schur(A, "complex");
  const Array diagonal = numpy::sqrt(numpy::diagonal(t));
  const Array root =
      above_diagonal(diagonal, [&t = t](const Array& u, const Array& i, const Array& j) {
        const Array rest = element(t, i, j) - inner_between(u, u, i, j),
                    ends = element(u, i, i) + element(u, j, j);
        return where(rest == 0, 0, rest / ends);
      });
  return matmul(matmul(z, root), adjoint(z));
}

Array funm(const Operand& A, const std::function<Array(Array)>& func) {
  Site site(A);
  return by_parlett(A, func).f;
}

std::pair<Array, Array> funm_with_error(const Operand& A, const std::function<Array(Array)>& func) {
  Site site(A);
  const auto [f, t] = by_parlett(A, func);
  const Array d = numpy::diagonal(t), place = numpy::arange(d.shape(0)),
              gaps = numpy::abs(expand_dims(d, 1) - d);
  const double tol = internal::epsilon_of(t.dtype());
  const Array least =
      minimum(numpy::abs(d[{0}]), min(where(expand_dims(place, 1) < place, gaps, numpy::inf)));
  const Array error = tol / where(least == 0, tol, least) * nl::norm(numpy::triu(t, 1), {.ord = 1});
  return {f, where(any(isinf(f)), numpy::inf, minimum(1, maximum(tol, error)))};
}

Array solve_sylvester(const Operand& A, const Operand& B, const Operand& C,
                      const SolveSylvester& o) {
  Site site(A);
  if (o.method != "schur" && o.method != "eigen")
    fail("solve_sylvester", "method is \"schur\" or \"eigen\", got \"{}\"", o.method);
  const std::vector<Array> all = internal::promoted_inexact("solve_sylvester", {A, B, C});
  require_matrices("solve_sylvester", all[0], true);
  require_matrices("solve_sylvester", all[1], true);
  require_matrices("solve_sylvester", all[2]);
  if (all[0].shape(-1) != all[2].shape(-2) || all[1].shape(-1) != all[2].shape(-1))
    fail("solve_sylvester", "{}, {} and {} do not make an equation", describe(all[0].type()),
         describe(all[1].type()), describe(all[2].type()));
  const Ints batch = internal::common_batch("solve_sylvester", all);
  const Array a = internal::with_batch(all[0], batch), b = internal::with_batch(all[1], batch),
              c = internal::with_batch(all[2], batch);
  const auto [complex, sums] = o.method == "schur" ? by_schur(a, b, c) : by_eigenvectors(a, b, c);
  const Array x = is_complex(c.dtype()) ? complex : numpy::real(complex);
  return where(any(numpy::abs(sums) < o.tol, {.axis = {-2, -1}, .keepdims = true}), x * numpy::nan,
               x);
}

}  // namespace strata::scipy::linalg
