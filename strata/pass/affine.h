// Integers that are sums of multiples of their own index: positions, and what is made of them.
//
//   iota(5x7, dimension 0) - iota(5x7, dimension 1) + 2       is      1 * index[0] + -1 * index[1]
//   + 2
//
// Found by looking at the operations, never by computing elements, so that large arrays cost as
// little as small ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/op/def.h"

namespace strata::pass {

/// constant + sum over d of factors[d] * index[d]. A dimension of size 1 has the factor 0.
struct Affine {
  std::vector<std::int64_t> factors;
  std::int64_t constant = 0;
};

/// The value as an affine function of its index where it is seen to be one within `steps`
/// operations, which are counted down. For signed integers of 32 bits and more, whose numbers wrap
/// nowhere.
std::optional<Affine> affine(const ir::Value* v, int& steps);

/// An operation that only puts elements at other places: a broadcast, a reshape, a transposition.
bool only_moves(const ir::Op& op);
/// Where dimension d of operand 0 is in the result of such an operation, with the same index; -1:
/// nowhere.
int moved_dim(const op::Factors& factors, int d);

}  // namespace strata::pass
