// Tuples do not reach evaluation or machine code: what is taken out of one is what was put in.
#pragma once

#include <memory>

#include "strata/op/def.h"

namespace strata::op {

/// Whether any value in the block is a tuple.
bool has_tuples(const Block& block);
/// A copy without tuples. Throws strata::Error (unsupported) where one enters or leaves the
/// program, a loop or a branch.
std::unique_ptr<Block> without_tuples(const Block& block);

}  // namespace strata::op
