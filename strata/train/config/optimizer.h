// The optimizer that a configuration describes.
//
//   opt_type: muon                      # any optimizer of optim's registry
//   optimizer:
//     beta: 0.9                         # its options
//     groups:                           # of weights, the first that matches
//       - {match: "*norm*", opt_type: adamw, weight_decay: 0, lr_multiplier: 0.5}
//       - {match: token_embedder, frozen: true}
//
//     stored_as:                        # as another program stores weights, which the rule then
//     sees
//       - {match: embedder/embedding, factor: 8.0}    # 8 p instead of p
//       - {match: "*/scale", plus: 1.0}               # 1 + p
//
// A rule like AdamW moves each number by the same, so that how a program stores a weight decides
// how fast it learns; `stored_as` gives the steps of that program, its clipping norm too.
//
// Patterns are the shell's, in which '*' stands for dots and slashes too; a weight that no group
// matches takes opt_type itself. What is frozen has no gradients, no state and no part in the
// clipping norm.
#pragma once

#include "strata/train/config/by_patterns.h"
#include "strata/train/config/config.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// Clipping, the rules of all groups, and what is frozen. Throws ConfigError, with the key, for
/// what `check_optimizer` refuses, for a group that matches no weight or none that is left, and
/// where nothing is left to train.
Optimizer make_optimizer(const Config& config);
/// The same for weights of these names and types, of which those that `frozen` matches are none of
/// the optimizer's: groups do not see them.
Optimizer make_optimizer(const Config& config, const tree::Tree& weights,
                         const std::optional<tree::Filter>& frozen = std::nullopt);

/// What opt_type may be; the texts live for ever.
std::vector<std::string_view> optimizer_names();
/// Throws ConfigError for an option that its optimizer lacks or misses, or with a value that is not
/// allowed, and for groups that are none. Does not look at the model.
void check_optimizer(const Config& config);
/// Names and options, for --help.
std::string describe_optimizers();
/// Lines of comment: the options that the configuration does not give, with their defaults.
std::string optimizer_options_not_given(const Config& config);

}  // namespace strata::train
