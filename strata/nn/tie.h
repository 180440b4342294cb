// Parameters that are one and the same: said, since values do not alias.
//
//   const std::vector<nn::Tie> ties = {{"head/kernel", "embed/embedding", true}};
//   nn::tie(model, ties);                                  // head's kernel is the table,
//   transposed auto loss = [&](const tree::Tree& params) {
//     return loss_of(nn::merge(model, nn::tied(params, ties), rest), batch);
//   };
//   Tree grads = grad(loss)(nn::untied(nn::state(model, nn::of<nn::Param>()), ties));
//
// An untied state holds each once, so that gradients of both uses meet in it, and an optimizer
// steps it once; a tied one has them at all places again. Upstream shares the Variable (graph
// mode).
#pragma once

#include <span>

#include "strata/nn/state.h"

namespace strata::nn {

/// The leaf at `path` is the one at `source`, or that transposed.
struct Tie {
  std::string path, source;
  bool transposed = false;
};
/// The state without the leaves that are tied to others. Throws Error where a path or source is not
/// there.
tree::Tree untied(const tree::Tree& state, std::span<const Tie> ties);
/// The state with these leaves, made of their sources, as the last. Throws Error where a source is
/// not there, a tied leaf is, or the source is itself tied.
tree::Tree tied(const tree::Tree& state, std::span<const Tie> ties);
/// Writes the sources' values into the tied leaves of a module. Throws Error for a path or source
/// that it lacks, and where shapes or dtypes differ. Call it as nn::tie: `tie` alone finds
/// std::tie.
template <class M>
void tie(M& module, std::span<const Tie> ties);

namespace detail {
tree::Tree tie(const tree::Tree& state, std::span<const Tie> ties);
}  // namespace detail
template <class M>
void tie(M& module, std::span<const Tie> ties) {
  update(module, detail::tie(tree::of(module), ties));
}

}  // namespace strata::nn
