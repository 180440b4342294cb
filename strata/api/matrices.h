// What the faces of linear algebra share: matrices are the last two dimensions of an array. Private
// to this room.
#pragma once

#include "strata/api/trace/compose.h"

namespace strata::internal {

/// Throws Error in the name of `operation` unless x is at least two-dimensional, and the last two
/// sizes are equal where asked.
void require_matrices(const char* operation, const Array& x, bool square = false);
/// Rows and columns exchanged and conjugated.
Array adjoint(const Array& x);
/// (x + its adjoint) / 2
Array symmetrized(const Array& x);
/// The diagonals of matrices.
Array diagonals(const Array& x);
/// The results of the operation of this name, strongly typed.
std::vector<Array> factors(const char* operation, std::vector<Array> operands,
                           ir::Attrs attrs = {});
/// x in the dtype that several arrays have in common, integers as floats; not weak.
std::vector<Array> promoted_inexact(const char* operation, std::vector<Array> arrays);
inline Array strong_inexact(const Array& x) { return promoted_inexact("", {x})[0]; }
/// A number in the dtype of x, strong.
inline Array strong_number(const Array& x, double value) {
  return cast(Array(value), {x.dtype(), false});
}
/// Broadcast in the dimensions before the last two (the last of vectors).
Array with_batch(const Array& x, const Ints& batch, int kept = 2);
/// The common shape of what stands before the last `kept` dimensions. Throws Error in the name of
/// `operation`.
Ints common_batch(const char* operation, std::span<const Array> arrays, int kept = 2);
/// The distance from 1 to the next number of a dtype (of complex ones, of their parts).
double epsilon_of(DType dtype);

}  // namespace strata::internal
