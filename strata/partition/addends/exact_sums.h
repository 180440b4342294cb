// What the environment says of sums over the devices of a mesh: the one place that reads it.
//
//   partition_program(f, module, {.exact = exact_sums()})
#pragma once

namespace strata::spmd {

/// Whether STRATA_EXACT_SUMS asks that programs over a mesh have the bits of one device: 1 or true;
/// 0, false, nothing and no variable do not. Throws strata::Error for another text.
bool exact_sums();

}  // namespace strata::spmd
