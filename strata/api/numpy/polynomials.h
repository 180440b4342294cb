// Polynomials by their coefficients, the highest power first.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"

namespace strata::numpy {

/// The polynomial whose roots are a vector's elements, with leading coefficient 1.
Array poly(const Operand& roots);
/// The sum of polynomials, coefficients with the highest power first.
Array polyadd(const Operand& x, const Operand& y);
/// The difference of polynomials, coefficients with the highest power first.
Array polysub(const Operand& x, const Operand& y);
/// Leading zeros may go first, of polynomials that are not traced.
Array polymul(const Operand& x, const Operand& y, bool trim_leading_zeros = false);
/// Quotient and remainder; the remainder has leading zeros, which may go (those within the root of
/// the unit in the last place).
[[nodiscard]] std::pair<Array, Array> polydiv(const Operand& u, const Operand& v,
                                              bool trim_leading_zeros = false);
/// The m-th derivative, and the m-th integral with constants k (one for all, or m; 0 unless given).
Array polyder(const Operand& p, std::int64_t m = 1);
/// The m-th integral of a polynomial, with the constants k (zeros unless given).
Array polyint(const Operand& p, std::int64_t m = 1, const std::optional<Operand>& k = {});
/// The value at each x, by Horner's rule. Coefficients along the first axis of p; the others
/// broadcast with x.
Array polyval(const Operand& p, const Operand& x);

}  // namespace strata::numpy

namespace strata {

using numpy::poly;
using numpy::polyadd;
using numpy::polyder;
using numpy::polydiv;
using numpy::polyint;
using numpy::polymul;
using numpy::polysub;
using numpy::polyval;

}  // namespace strata
