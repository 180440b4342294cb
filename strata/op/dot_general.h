#pragma once

#include <optional>

#include "strata/op/build.h"
#include "strata/op/def.h"

namespace strata::op {

/// The type in which a dot_general adds up its products.
DType product_accumulator(const Op& dot_general);
DType product_accumulator(DType lhs, DType rhs, DType result);

/// A sum of very many terms goes by pieces of equal length, each a chain from zero: what one
/// rounded sum of them all would lose grows with their number, and a single chain is as slow as
/// four cycles a term. The pieces' sums are added up in order, then what is left. K alone decides.
struct SumPieces {
  std::int64_t length, count, rest;
};
/// Those of a dot_general; nothing for a sum of less than 32768 terms, nor for one over windows of
/// an array (op/convolution.cc has pieces of its own).
std::optional<SumPieces> sum_pieces(const Op& op);

/// The product of `lhs` and `rhs` with the dimensions and the result of `op`: the definition, for
/// each element the chains of sum_pieces, or one chain that begins at the element of `sums`.
Literal add_products(const Op& op, const Literal& lhs, const Literal& rhs, const Literal* sums);

/// `sums` and a product: each element's chain goes on from its sum, whose dtype is the
/// accumulator's.
Value* dot_add(Builder& b, Value* lhs, Value* rhs, Value* sums, const DotDims& dims);

}  // namespace strata::op
