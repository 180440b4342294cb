// The state of an optimizer in one safetensors file, under upstream's paths.
//
//   Status saved = checkpoint::save_optimizer_state(tx, state, "optimizer.safetensors");
//   Result<Tree> state = checkpoint::load_optimizer_state(tx, tx.init(params), "optimizer...");
//
// A tensor is called as its leaf: "0/mu/layers/0/kernel". The file says what the optimizer was.
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/optim/gradient_transformation.h"

namespace strata::checkpoint {

/// Writes the state. The old file or the whole new one is there, whatever happens. Codes of
/// save_file. Throws Error for traced arrays.
Status save_optimizer_state(const optim::GradientTransformation& tx, const tree::Tree& state,
                            const std::string& filename);

/// What may differ between the file and the optimizer that goes on.
enum class ChangedOptimizer { is_refused, is_taken };
/// The state that was saved, in the order of `like`, which says paths, shapes and dtypes.
/// Code::invalid where the file's optimizer is another one, both being named, unless that is to be
/// taken; and where a leaf is missing, unknown or of another type, with both optimizers again. What
/// the same optimizer saved beside the leaves of `like`, as it adds in its first step, comes
/// behind. Functions and schedules have no text: one of them in another's place is not seen. Codes
/// of read_safetensors.
Result<tree::Tree> load_optimizer_state(const optim::GradientTransformation& tx,
                                        const tree::Tree& like, const std::string& filename,
                                        ChangedOptimizer changed = ChangedOptimizer::is_refused);

}  // namespace strata::checkpoint
