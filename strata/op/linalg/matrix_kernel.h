// Operations whose kernel (loop/kernel) factors one matrix at a time: batches of matrices in,
// batches of factors out.
//
// The dimensions before the last two of the operand of the highest rank are the batch; all operands
// and results begin with them.
#pragma once

#include "strata/op/linalg/matrix.h"
#include "strata/op/rules.h"

namespace strata::op {

struct MatrixKernel {
  const char *name, *summary;
  std::vector<Type> (*infer)(std::span<Value* const>, const Attrs&,
                             std::span<const std::unique_ptr<Block>>);
  Rule<Jvp> jvp;
  Rule<Transpose> transpose = None{"not linear: its derivative is expressed by other operations"};
  const char* (*symbol)(const Op&);
  std::vector<std::int64_t> (*params)(const Op&);
  /// Grid points; by default one for each matrix.
  std::int64_t (*grid)(const Op&) = nullptr;
};
OpDef matrix_kernel(const MatrixKernel& kernel);

/// Only the batch passes through.
Factors shard_matrices(const Op& op);

/// Throws unless the operand is a batch of matrices of floats or complex numbers, square ones where
/// asked.
const Type& expect_matrices(std::string_view op, const Value* operand, bool square = false);
/// The batch of `a` and then these dimensions.
Type matrices_like(const Type& a, std::initializer_list<Dim> last);
Dim rows_of(const Type& a);
Dim columns_of(const Type& a);
/// min(rows, columns)
Dim least_of(const Type& a);
/// One less, but not below 0.
Dim less_one(const Dim& n);

}  // namespace strata::op
