// Masks that say yes or no for each path, as upstream's trees of booleans.
//
//   optim::masked(optim::adam(1e-3), optim::mask_by_path({{"layers/0/kernel", true}, ...}))
//
// Patterns of paths (`tree::path("**/kernel")`) say the same in fewer words, and fit any model.
#pragma once

#include <map>
#include <string>

#include "strata/api/tree/tree.h"

namespace strata::optim {

/// A filter of the leaves whose paths have `true`. A leaf without an answer is an Error with both
/// structures' difference: the mask is of another model.
tree::Filter mask_by_path(std::map<std::string, bool> by_path);
/// The same of a tree of booleans, one for each leaf. Throws Error for a leaf that is none.
tree::Filter mask_of(const tree::Tree& booleans);

}  // namespace strata::optim
