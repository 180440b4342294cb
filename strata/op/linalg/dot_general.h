#pragma once

#include <optional>

#include "strata/op/build.h"
#include "strata/op/def.h"

namespace strata::op {

/// The type in which a dot_general adds up its products.
DType product_accumulator(const Op& dot_general);
DType product_accumulator(DType lhs, DType rhs, DType result);

/// A sum of very many floats uses chains of so many terms, each from zero, which are added up in
/// order to groups, and groups in order to a sum: what a single chain loses grows with its length.
/// What so many terms of one sign come to is off by (chain + group / chain + groups) roundings at
/// most, without the groups where these are added up in f64.
struct SumChains {
  std::int64_t chain = 32, group = 33 * 32;
  bool wide = false;  // groups of f32 are added up in f64
};
/// Those of a dot_general that says so, however short its sum is; else nothing.
std::optional<SumChains> sum_chains(const Op& op);
/// Lets a dot_general say so.
void set_chains(Op& op, const SumChains& chains);
/// A product of other operands with the dtype and the chains of `like`.
Value* product_like(Builder& b, const Op& like, Value* lhs, Value* rhs, const DotDims& dims);

/// Chains for a sum over several dimensions, whose places are boxes: whole inner ones, then equal
/// parts of one.
SumChains box_chains(const Ints& sizes);
/// Lets a dot_general use those of its contracted dimensions.
void set_box_chains(Op& op);
/// The last so many of a sum over dimensions of such sizes as a box of them, where they are one.
Ints box_of(const Ints& sizes, std::int64_t count);

/// A sum of 32768 terms and more uses pieces of equal length, each by chains, so that lanes and
/// threads have something to do side by side. The pieces' sums are added up in f64, then what is
/// left, and rounded to the accumulator's type. K alone decides.
struct SumPieces {
  static constexpr std::int64_t kLength = 8 * SumChains{}.group;
  std::int64_t count, rest;
};
/// Those of a dot_general; nothing for a shorter sum, nor for one over windows of an array
/// (op/linalg/convolution.cc has pieces of its own).
std::optional<SumPieces> sum_pieces(const Op& op);
/// In which the pieces' sums are added up: f64 for floats, else the accumulator's type.
DType pieces_type(DType accumulator);

/// The product of `lhs` and `rhs` with the dimensions and the result of `op`: the definition, for
/// each element the sums of sum_pieces, or one chain that begins at the element of `sums`.
Literal add_products(const Op& op, const Literal& lhs, const Literal& rhs, const Literal* sums);

/// `sums` and a product: each element's chain goes on from its sum, whose dtype is the
/// accumulator's.
Value* dot_add(Builder& b, Value* lhs, Value* rhs, Value* sums, const DotDims& dims);

}  // namespace strata::op
