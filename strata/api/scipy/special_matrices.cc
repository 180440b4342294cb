// Matrices of a pattern.
#include <cmath>

#include "strata/api/lax.h"
#include "strata/api/matrices.h"
#include "strata/api/scipy/linalg.h"

namespace strata::scipy::linalg {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;

/// i and j of a matrix of these sizes, as a column and a row.
struct Places {
  Array i, j;
  Places(std::int64_t m, std::int64_t n)
      : i(expand_dims(numpy::arange(m), 1)), j(expand_dims(numpy::arange(n), 0)) {}
};

/// Elements of the last axis at places [m, n].
Array at_places(const Array& x, const Array& places) {
  return take(x, places, x.ndim() - 1, {.mode = "clip"});
}

/// x in its first row, `below` under the diagonal, zeros elsewhere.
Array first_row_and_below(const Array& row, const Array& below) {
  const std::int64_t n = row.shape(-1);
  const Places at(n, n);
  const Array under =
      at_places(concatenate({below, zeros_like(row)}, -1), broadcast_to(at.j, {n, n}));
  return where(at.i == 0, expand_dims(row, -2), where(at.i == at.j + 1, under, 0));
}

Array at_least_a_vector(const char* name, const Array& x, std::int64_t least) {
  const Array out = numpy::atleast_1d(x);
  if (out.shape(-1) < least)
    fail(name, "the last axis has {} elements at least, got {}", least, describe(x.type()));
  return out;
}

}  // namespace

Array block_diag(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  if (arrays.empty()) return numpy::zeros({1, 0});
  const DType dtype = internal::promoted("block_diag", arrays).dtype;
  std::vector<Array> rows;
  std::int64_t all = 0, before = 0;
  for (const Array& a : arrays) {
    if (a.ndim() > 2) fail("block_diag", "blocks are matrices, got {}", describe(a.type()));
    all += numpy::atleast_2d(a).shape(1);
  }
  for (const Array& a : arrays) {
    const Array block = numpy::atleast_2d(internal::cast(a, {dtype, false}));
    const std::int64_t n = block.shape(1);
    rows.push_back(numpy::pad(block, {{0, 0}, {before, all - before - n}}));
    before += n;
  }
  return concatenate(rows, 0);
}

Array toeplitz(const Operand& c_operand, const std::optional<Array>& r_given) {
  Site site(c_operand);
  const Array c = numpy::atleast_1d(c_operand),
              r = numpy::atleast_1d(r_given ? *r_given : numpy::conj(c));
  const std::int64_t m = c.shape(-1), n = r.shape(-1);
  if (m == 0 || n == 0) return numpy::zeros({m, n}, numpy::promote_types(c.dtype(), r.dtype()));
  const Places at(m, n);
  return at_places(concatenate({numpy::flip(c, -1), lax::slice_in_dim(r, 1, n, 1, -1)}, -1),
                   at.j - at.i + (m - 1));
}

Array hankel(const Operand& c_operand, const std::optional<Array>& r_given) {
  Site site(c_operand);
  const Array c = c_operand, r = r_given ? *r_given : zeros_like(c);
  if (c.ndim() == 0 || r.ndim() == 0)
    fail("hankel", "vectors are taken, got {} and {}", describe(c.type()), describe(r.type()));
  const std::int64_t m = c.shape(-1), n = r.shape(-1);
  if (m == 0 || n == 0) return numpy::zeros({m, n}, numpy::promote_types(c.dtype(), r.dtype()));
  const Places at(m, n);
  return at_places(concatenate({c, lax::slice_in_dim(r, 1, n, 1, -1)}, -1), at.i + at.j);
}

Array circulant(const Operand& operand) {
  Site site(operand);
  const Array c = numpy::atleast_1d(operand);
  const std::int64_t n = c.shape(-1);
  if (n == 0) return numpy::zeros({0, 0}, c.dtype());
  const Places at(n, n);
  return at_places(c, remainder(at.i - at.j, n));
}

Array companion(const Operand& operand) {
  Site site(operand);
  const Array a = at_least_a_vector("companion", internal::strong_inexact(operand), 2);
  const std::int64_t n = a.shape(-1);
  const Array row = -lax::slice_in_dim(a, 1, n, 1, -1) / lax::slice_in_dim(a, 0, 1, 1, -1);
  return first_row_and_below(row, ones_like(lax::slice_in_dim(row, 0, n - 2, 1, -1)));
}

Array fiedler(const Operand& operand) {
  Site site(operand);
  const Array a = numpy::atleast_1d(operand);
  return abs(expand_dims(a, -1) - expand_dims(a, -2));
}

Array fiedler_companion(const Operand& operand) {
  Site site(operand);
  const Array given = at_least_a_vector("fiedler_companion", internal::strong_inexact(operand), 1);
  const std::int64_t n = given.shape(-1) - 1;
  const Array a = given / lax::slice_in_dim(given, 0, 1, 1, -1),
              padded = concatenate({a, zeros_like(a), zeros_like(a)}, -1);
  const Places at(n, n);
  const Array even = at.i % 2 == 0;
  const Array one = ((at.i == 1) & (at.j == 0)) | ((at.j == at.i + 2) & even) |
                    ((at.j == at.i - 2) & ~even & (at.i >= 3));
  const Array first = (at.i == 0) & (at.j == 0), above = (at.j == at.i + 1) & even,
              below = (at.j == at.i - 1) & even;
  const Array coefficients = where(first | below, -at_places(padded, at.i + 1),
                                   where(above, -at_places(padded, at.i + 2), 0));
  return where(one, 1, coefficients);
}

Array convolution_matrix(const Operand& a_operand, std::int64_t n, const std::string& mode) {
  Site site(a_operand);
  const Array a = a_operand;
  if (n <= 0) fail("convolution_matrix", "n is positive, got {}", n);
  if (a.ndim() == 0 || a.shape(-1) == 0)
    fail("convolution_matrix", "vectors with elements are taken, got {}", describe(a.type()));
  if (mode != "full" && mode != "same" && mode != "valid")
    fail("convolution_matrix", "mode is \"full\", \"same\" or \"valid\", got \"{}\"", mode);
  const std::int64_t m = a.shape(-1), least = std::min(m, n) - 1;
  const std::int64_t top = mode == "full"    ? 0
                           : mode == "valid" ? least
                                             : least / 2,
                     bottom = mode == "same" ? least - top : top;
  const Places at(m + n - 1 - top - bottom, n);
  const Array k = at.i + top - at.j;
  return where((k >= 0) & (k < m), at_places(a, k), 0);
}

Array leslie(const Operand& f_operand, const Operand& s_operand) {
  Site site(f_operand);
  const Array both[] = {f_operand.array, s_operand.array};
  const DType dtype = internal::promoted("leslie", both).dtype;
  const Array f = at_least_a_vector("leslie", internal::cast(f_operand, {dtype, false}), 2),
              s = numpy::atleast_1d(internal::cast(s_operand, {dtype, false}));
  if (s.shape(-1) != f.shape(-1) - 1)
    fail("leslie", "{} rates do not go with {} fecundities", s.shape(-1), f.shape(-1));
  return first_row_and_below(f, s);
}

Array hilbert(std::int64_t n, Where where) {
  Site site(where);
  const Places at(n, n);
  return 1 / astype(at.i + at.j + 1, canonical(DType::f64, x64_enabled()));
}

Array hadamard(std::int64_t n, DType dtype, Where where) {
  Site site(where);
  if (n < 1 || (n & (n - 1)) != 0) fail("hadamard", "n is a power of 2, got {}", n);
  Array h = numpy::ones({1, 1}, dtype);
  while (h.shape(0) < n) h = concatenate({concatenate({h, h}, 1), concatenate({h, -h}, 1)}, 0);
  return h;
}

Array helmert(std::int64_t n, bool full, Where where) {
  Site site(where);
  if (n < 1) fail("helmert", "n is positive, got {}", n);
  const DType dtype = canonical(DType::f64, x64_enabled());
  const Places at(n - 1, n);
  const Array k = astype(at.i + 1, dtype), length = sqrt(k * (k + 1));
  const Array h = numpy::where(at.j <= at.i, 1 / length,
                               numpy::where(at.j == at.i + 1, -k / length, zeros_like(length)));
  return full ? concatenate({numpy::full({1, n}, 1 / std::sqrt(static_cast<double>(n)), dtype), h},
                            0)
              : h;
}

Array dft(std::int64_t n, const std::optional<std::string>& scale, std::optional<DType> dtype,
          Where where) {
  Site site(where);
  if (scale && *scale != "sqrtn" && *scale != "n")
    fail("dft", "scale is \"sqrtn\" or \"n\", got \"{}\"", *scale);
  const DType result = dtype.value_or(x64_enabled() ? DType::c128 : DType::c64);
  if (!is_complex(result)) fail("dft", "the dtype is complex, got {}", name(result));
  // The product is taken modulo n, so that angles are small and exact.
  const Places at(n, n);
  const Array angle = astype(remainder(at.i * at.j, std::max<std::int64_t>(n, 1)),
                             canonical(DType::f64, result == DType::c128)) *
                      (-2 * numpy::pi / static_cast<double>(n));
  const double factor = !scale          ? 1
                        : *scale == "n" ? 1 / static_cast<double>(n)
                                        : 1 / std::sqrt(static_cast<double>(n));
  return astype(lax::complex(cos(angle), sin(angle)), result) *
         internal::strong_number(astype(angle, result), factor);
}

}  // namespace strata::scipy::linalg
