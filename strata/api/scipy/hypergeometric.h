// Hypergeometric functions of real numbers.
#pragma once

#include "strata/api/numpy.h"

namespace strata::scipy::special {

/// Kummer's function: the sum of (a)_k / (b)_k x^k / k!. Below 100 by its series, from there by the
/// asymptotic one, each of at most 250 terms. Source: Pearson, Olver and Porter, arXiv:1407.7786.
Array hyp1f1(const Operand& a, const Operand& b, const Operand& x);
/// Gauss' function: the sum of (a)_k (b)_k / (c)_k x^k / k!, infinite for x > 1. Source: as above,
/// and Cephes, hyp2f1.c.
Array hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x);

}  // namespace strata::scipy::special
