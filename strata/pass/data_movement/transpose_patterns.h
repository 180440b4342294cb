// What passes that move transpositions share.
#pragma once

#include <functional>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

/// Whether each dimension stays where it is.
bool is_iota(const ir::Ints& permutation);

/// The last dimension of more than one element; -1: none.
int last_dim(const Shape& shape);

/// The dimension along which neighbours of `v` are in memory, where transpositions are read through
/// (all of them, or those of which that holds); -1: there are no neighbours.
int along_memory(const ir::Value* v,
                 const std::function<bool(const ir::Op&)>& reads_through = nullptr);

/// A value that is transposed, and how.
struct Transposed {
  ir::Value* value;
  ir::Ints permutation;
};
/// One operand of a product; of a transposed array the array itself, where its free dimensions stay
/// in order.
struct DotOperand {
  ir::Value* value;
  std::vector<int> batch, contract;

  DotOperand(ir::Value* v, std::vector<int> batch_dims, std::vector<int> contract_dims);
};
/// The product of two such operands, with the dtype and the order of `like`.
ir::Value* make_dot(ir::Builder& b, const DotOperand& left, const DotOperand& right,
                    const ir::Op& like);

/// `reduction`, of one array that is transpose(x, permutation), as one of x itself: transposed so,
/// it is the same. In which order elements are combined may be another (op/reduce/reduce_order.h):
/// ask before.
Transposed reduction_of_untransposed(ir::Builder& b, const ir::Op& reduction, ir::Value* x,
                                     const ir::Ints& permutation);

}  // namespace strata::pass
