// The Cholesky factor of one large matrix, a block of rows after the other, by the tiles of
// product.h.
//
// Every element is one chain: minus the element of A, plus the products of the factor's elements
// over ascending k, each by one fused multiply-add in the type itself; then the square root, or the
// quotient by the diagonal. So no bit depends on the sizes of tiles and blocks, or on the
// processor.
#pragma once

#include <cstdint>

#include "strata/loop/kernel/product.h"

namespace strata::loop::product {

/// U of A = U^T U, or its transpose L of A = L L^T where `lower`, of a row-major [n, n] of n > 0,
/// of which that triangle is read; zeros in the other one. E: f32, f64, and bf16 and f16, which are
/// computed in f32. False where a pivot is not positive; `out` is not written then.
///
/// When a block of rows of U is finished, its product with itself is added to all rows below
/// (Golub and Van Loan, "Matrix Computations", section 4.2: right-looking).
template <class E>
bool cholesky(const InstructionSet& set, std::int64_t n, bool lower, const E* in, E* out);

}  // namespace strata::loop::product
