// Rows of some dozens of elements, sixteen of which are reduced together.
//
// What their lanes took is turned in registers, so that a total is a lane, and what is one number
// per row a vector. To bring the lanes of one row together, and to compute with one number, takes
// as long as a short row itself (the log-sum-exp of 50000 rows of 50: 1.10 ms row by row, 0.54 so).
#pragma once

#include <functional>

#include "strata/compile/kernel/row/transposed_rows.h"

namespace strata::compile {

/// Whether that pays for the rows of a group.
bool can_interleave_rows(const RowPasses& rows);

/// All rows; those that are left, fewer than sixteen, by `one_row`. Maps of a pass go in strips of
/// `lanes`; what is `turned`, if anything, is brought together before.
void build_interleaved_rows(RowPasses& rows, int lanes, TransposedRows* turned,
                            const std::function<void(Index)>& one_row);

}  // namespace strata::compile
