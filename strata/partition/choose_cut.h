// Over which axes each factor of an operation is cut.
//
// Every tensor of the operation votes with its elements for the axes that it has (or, results, is
// to have) along each factor; the factor with the most votes chooses first, and an axis goes to one
// factor. Source: insert_explicit_reshards of shardy/dialect/sdy/transforms/export, simplified.
#pragma once

#include <vector>

#include "strata/partition/local.h"

namespace strata::spmd {

/// `operands` and `results` are the layouts that there are and that are wanted (null: any). Factors
/// that are permuted or needed whole are not cut, reduced ones only with `may_cut_sums`. A factor
/// that does not divide is cut only where it is all of its dimensions.
Cut choose_cut(const op::Op& op, const Grid& grid, const std::vector<const Layout*>& operands,
               const std::vector<const Layout*>& results, bool may_cut_sums);

}  // namespace strata::spmd
