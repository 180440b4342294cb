// Is this graph well formed?
//
//   if (Status s = ir::verify(module); !s.ok()) ...   // "program.mlir:4:10: stablehlo.add:
//   operands must have ..."
//
// Checks, for each function: every value is used where it is visible (defined before, in the same
// block or around it; isolated regions see their arguments alone); each operation's constraints
// hold and its result types are those that it infers, or refine them ('?' against a size); isolated
// regions capture nothing; called functions exist, take and return those types, and do not call
// themselves, directly or through others. The first mistake is reported, with the operation and
// where it stands: Code::invalid, or Code::unsupported where an operation does not take a dtype
// yet.
#pragma once

#include "strata/base/result.h"
#include "strata/ir/graph.h"

namespace strata::ir {

Status verify(const Module& module);
/// One block that stands alone (nothing is visible from outside); calls are not followed.
Status verify(const Block& block);

/// Whether two types agree where both are known: equal but for dimensions of which one is '?'.
bool may_be_same(const Type& a, const Type& b);

}  // namespace strata::ir
