// Transformations of some of the leaves.
//
//   optim::masked(optim::adam(1e-3), tree::path("**/kernel"))
//   optim::partition({{"matrix", optim::adamw(1e-3)}, {"other", optim::sgd(0.1)}},
//                    [](const tree::Entry&, const Array& x) { return x.ndim() > 1 ? "matrix" :
//                    "other"; })
//
// A leaf that the mask leaves out is not in the tree that the inner transformation sees, and passes
// unchanged. State: `inner_state/...`; of a partition `inner_states/LABEL/inner_state/...`.
// Source: Optax. Deviation: masks are filters of paths and leaves, and are asked for each tree.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

/// Which leaves are meant; none: all are.
using Mask = std::optional<tree::Filter>;
/// Leaves of at least `axes` axes: matrices, but no biases and scales.
tree::Filter of_rank(int axes);

/// `inner` on the leaves of the mask.
GradientTransformation masked(GradientTransformation inner, tree::Filter mask);
/// `inner` itself without a mask.
GradientTransformation masked(GradientTransformation inner, const Mask& mask);

/// The label of a leaf.
using Labels = std::function<std::string(const tree::Entry& entry, const Array& leaf)>;
/// Labels by paths, the longest that fits: `labels_by_path({{"encoder", "slow"}, {"", "fast"}})`.
Labels labels_by_path(std::map<std::string, std::string> labels);
/// Each leaf by the transformation of its label. Throws Error for a label without one.
GradientTransformation partition(std::map<std::string, GradientTransformation> transforms,
                                 Labels labels);
/// Another name of partition.
inline GradientTransformation multi_transform(
    std::map<std::string, GradientTransformation> transforms, Labels labels) {
  return partition(std::move(transforms), std::move(labels));
}
/// Zeros for the leaves of the mask; the others pass.
GradientTransformation freeze(tree::Filter mask);
/// `optimizer` on the leaves outside of the mask, zeros for those in it.
GradientTransformation selective_transform(GradientTransformation optimizer,
                                           tree::Filter freeze_mask);

/// Rules by patterns of paths, the first that fits: a parameter group each.
///
///   optim::groups({{"**/bias|**/scale", optim::sgd(0.1)}, {"**", optim::adamw(1e-3)}})
///
/// Throws Error, at init, for a leaf that no pattern fits, and for a pattern that fits none.
GradientTransformation groups(std::vector<std::pair<std::string, GradientTransformation>> patterns);

}  // namespace strata::optim
