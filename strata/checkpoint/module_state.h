// The state of modules and optimizers as tensors of a checkpoint, and back.
//
//   checkpoint::save(root, {.step = n, .parts = {{"model", checkpoint::state_of(model)},
//                                                {"optimizer", checkpoint::state_of(optimizer)}}});
//   ...
//   auto latest = checkpoint::load_latest(root);
//   auto model = checkpoint::restored(Model(config, rngs), latest->checkpoint->parts.at("model"));
//   if (!model) return fail(model.status());
//
// All variables go: parameters, statistics, keys and counts of random streams, caches, moments. A
// step from restored state gives the bits of a run that was never interrupted. Tensors are called
// as the leaves' paths, "blocks/0/norm/mean"; that of a lone array "value".
#pragma once

#include "strata/api/tree/tree.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {

namespace internal {
Tensors state_of(const tree::Tree& state);
Result<tree::Tree> restored(const tree::Tree& like, const Tensors& tensors);
}  // namespace internal

/// The values of all leaves of a tree. Throws Error, with the path, for a leaf that is traced or
/// has no value.
template <tree::TreeLike T>
Tensors state_of(const T& tree) {
  return internal::state_of(tree::of(tree));
}
/// `like` with the values of tensors; a leaf of `like` without a value takes what comes.
/// Code::invalid where a leaf has no tensor, a tensor no leaf, or one has another dtype or shape:
/// the message names the path and both types.
template <tree::TreeLike T>
Result<T> restored(T like, const Tensors& tensors) {
  Result<tree::Tree> state = internal::restored(tree::of(like), tensors);
  if (!state) return state.status();
  return tree::as(std::move(like), *state);
}

}  // namespace strata::checkpoint
