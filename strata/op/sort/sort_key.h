// Keys of a comparator: what of each element alone decides where it goes.
//
//   (l, r) -> compare(LT, f(l), f(r))                                                     the key
//   f, ascending (l, r) -> or(compare(LT, f(l), f(r)), and(compare(EQ, f(l), f(r)), c(l, r))) first
//   f, then the keys of c
//
// f is any elementwise function of the arguments of one side (there may be several arrays). A sort
// by such keys has one stable result, so it need not run the comparator.
#pragma once

#include <vector>

#include "strata/op/def.h"

namespace strata::op {

struct SortKey {
  const Value* key;  // a scalar of the comparator, made of one side's arguments
  int operand;  // the array whose elements are compared as they are, under `order`; -1: `key` has
                // to be computed
  const char* order;  // as strata.sort's
  bool descending;
};

/// The keys, the first to look at first; none where the comparator is of another kind.
std::vector<SortKey> sort_keys(const Block& comparator);

/// As many as a row keeps in order while it is read (chlo.top_k).
inline constexpr std::int64_t kFewKept = 16;

/// Whether `op` is a sort by keys (or keeps so many of the greatest that it had better be one): its
/// decomposition says it by strata.sort and strata.argsort, whose kernels need no comparator.
bool sorts_by_keys(const Op& op);
/// The decomposition of such a sort.
Values sort_by_keys(Builder& b, const Op& op, std::span<Value* const> operands,
                    const std::vector<SortKey>& keys);

/// The first `keep` of the arrays sorted along a dimension by the first of them, whose floats are
/// in total order.
Values first_sorted(Builder& b, const Values& arrays, int dimension, bool descending,
                    std::int64_t keep);

/// The comparator of strata.sort: scalars of these dtypes, of which the first are compared.
std::unique_ptr<Block> comparator_of(const std::vector<DType>& dtypes, const std::string& order,
                                     bool descending);

}  // namespace strata::op
