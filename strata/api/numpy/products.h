// Products of vectors, matrices and batches of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/lax/products.h"
#include "strata/api/numpy/einsum/einsum_path.h"
#include "strata/api/operators.h"

namespace strata::numpy {

// Options are those of lax::dot_general: `precision`, and the `preferred_element_type` of the
// result, in which the sum is taken where that is wider. Upstream's out_sharding comes with meshes
// of devices.

/// NumPy's dot: the last axis of x with the second to last of y.
Array dot(const Operand& x, const Operand& y, const lax::DotGeneral& options = {});
/// Batches of matrices; leading axes broadcast.
Array matmul(const Operand& x, const Operand& y, const lax::DotGeneral& options = {});
/// x[i] y[j] of the flattened operands.
Array outer(const Operand& x, const Operand& y);
/// Of the flattened operands, x conjugated.
Array vdot(const Operand& x, const Operand& y, const lax::DotGeneral& options = {});
/// Sums over the last axis of both.
Array inner(const Operand& x, const Operand& y, const lax::DotGeneral& options = {});
/// Products of vectors along an axis (of x, conjugated, with y); of matrices with vectors; of
/// vectors (conjugated) with matrices.
Array vecdot(const Operand& x, const Operand& y, std::int64_t axis = -1,
             const lax::DotGeneral& options = {});
/// Matrices [..., m, n] times vectors [..., n].
Array matvec(const Operand& x, const Operand& y);
/// Vectors [..., m], conjugated, times matrices [..., m, n].
Array vecmat(const Operand& x, const Operand& y);
/// Kronecker's product: each element of x times all of y.
Array kron(const Operand& x, const Operand& y);
struct Cross {
  internal::Named named = internal::Named();
  /// The axes of the vectors in x, in y and in the result; `axis` stands for all three.
  std::int64_t axisa = -1, axisb = -1, axisc = -1;
  std::optional<std::int64_t> axis = std::nullopt;
};
/// The cross product of vectors of 3 elements, or of 2, whose third is 0; of two such ones the
/// third component alone.
Array cross(const Operand& x, const Operand& y, const Cross& options = {});
/// The axes that tensordot sums over: how many of the last of x and first of y (`2`); one of each
/// (`{-1, 0}`); lists (`{{0, 1}, {1, 0}}`).
class TensordotAxes {
 public:
  template <std::integral T>
  TensordotAxes(T count)
      : count_(static_cast<std::int64_t>(count)) {}  // NOLINT: implicit by intent
  TensordotAxes(Sizes x, Sizes y) : pair_(std::pair(std::move(x), std::move(y))) {}
  /// Empty where lists are given.
  const std::optional<std::int64_t>& count() const { return count_; }
  /// The axes of both, where they were given; else the last and first so many.
  const std::optional<std::pair<Sizes, Sizes>>& pair() const { return pair_; }

 private:
  std::optional<std::int64_t> count_;
  std::optional<std::pair<Sizes, Sizes>> pair_;
};
/// The axes that are left: those of x, then those of y. Throws Error where the lists differ in
/// length or the axes in size.
Array tensordot(const Operand& x, const Operand& y, const TensordotAxes& axes = 2,
                const lax::DotGeneral& options = {});

struct Einsum {
  internal::Named named = internal::Named();
  /// In which order operands are multiplied.
  EinsumOptimize optimize = {};
  /// As of lax::dot_general, for each of the products.
  lax::DotPrecision precision = lax::Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
};
/// "bij,bjk->bik", "...ij,...jk", "ii->i" (a repeated letter is a diagonal), "ii" (its sum). Any
/// number of operands, two at a time in the order that `optimize` finds.
Array einsum(const std::string& subscripts, const std::vector<Array>& operands,
             const Einsum& options = {}, Where where = Where::current());
template <class... More>
Array einsum(const std::string& subscripts, const Operand& first, const More&... more) {
  return einsum(subscripts, std::vector<Array>{first.array, Array(more)...}, {}, first.where);
}

}  // namespace strata::numpy

namespace strata {

using numpy::cross;
using numpy::dot;
using numpy::einsum;
using numpy::inner;
using numpy::kron;
using numpy::matmul;
using numpy::matvec;
using numpy::outer;
using numpy::tensordot;
using numpy::vdot;
using numpy::vecdot;
using numpy::vecmat;

}  // namespace strata
