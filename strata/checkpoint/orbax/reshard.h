// A checkpoint of Orbax's as it is stored, to be written again in other chunks.
//
//   auto contents = orbax::read_contents(*orbax::Directory::open("jax/400"));
//   for (auto& [item, leaves] : contents->items)
//     for (orbax::Leaf& leaf : leaves) orbax::cut(leaf, 8);
//   orbax::save("jax8/400", *contents);
#pragma once

#include <cstdint>

#include "strata/checkpoint/orbax/directory.h"

namespace strata::checkpoint::orbax {

/// All that a checkpoint holds: trees with their containers, kinds, shardings, values and formats,
/// in items or in the folder itself as they are, JSON items, other files, metrics, handlers and
/// the caller's metadata. Chunks are compressed where the caller does not change `formats`. Codes
/// of PyTree::read.
Result<Contents> read_contents(const Directory& directory);

/// Cuts an array that is to be written into chunks along the first axis that their number divides;
/// one chunk where none is, and for 1.
void cut(Leaf& leaf, std::int64_t shards);

}  // namespace strata::checkpoint::orbax
