// What a handler of foreign calls (op/foreign/foreign.h) is given and gives.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/op/def.h"

namespace strata::op::foreign {

/// A call as the program states it. Memory is in the stated layouts, while types have the logical
/// dimensions; a token is a value without memory; an element below 8 bits takes a byte.
struct Call {
  std::string target;
  Attrs attrs;                          // but for the target, layouts, aliases and shardings
  std::vector<Type> operands, results;  // tensors and tokens
  std::vector<int> aliases;  // of each result: the operand whose value stands in its memory before
                             // the call, or -1
};

/// Where the values of one run are. An operand that a result aliases has the result's address.
struct Buffers {
  std::span<void* const> operands, results;
};

/// `context` is what the thread's `WithContext` says, else null.
using Bound = std::function<Status(const Buffers& buffers, void* context)>;
using Handler = std::function<Result<Bound>(const Call& call)>;

}  // namespace strata::op::foreign
