// Rows of a product's operand that run along the sum, on their way from memory.
//
// Squares of eight rows, turned in registers, are read from eight places at once. Where rows are a
// few lines of the cache each, these are within few pages, and no processor foresees what comes
// next: at half the speed at which it reads one row after the other (a matrix of 65536 x 256 by a
// vector: 8.2 ms, 5.3; two threads of a Zen 3).
#pragma once

#include "strata/compile/kernel/gemm/gemm_terms.h"

namespace strata::compile {

/// Rows [place, place + count) of a part of the sum in memory of their own, row by row, filled
/// here; null where they are read as well where they are: in the caches, as very short or long
/// rows, or not along the sum.
loop::Ref* stage_rows(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                      const Index& place, std::int64_t count, const KSlice& part);

}  // namespace strata::compile
