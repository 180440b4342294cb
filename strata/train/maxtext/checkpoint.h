// Whole states of MaxText's runs in this trainer's trees, and back.
//
//   auto saved = model::maxtext::open_checkpoint("gs://bucket/run/checkpoints/400");
//   auto state = maxtext::state_of(*saved, options, first_state);
//   maxtext::write_state("out/400", *state, 400, options);
//
// Source: AI-Hypercomputer/maxtext, common/train_state_nnx.py: `params`, `opt_state` as optax's
// chain has it, `step`. Deviation: random states of layers (`nnx_aux`) are neither read nor
// written: no layer that is built draws numbers, and MaxText begins with its own where they are
// missing.
#pragma once

#include <cstdint>
#include <string>

#include "strata/model/maxtext/checkpoint.h"
#include "strata/train/step/step.h"

namespace strata::train::maxtext {

/// Whose moments the optimizer's are: of the weights, or of the weights as MaxText stores them
/// (`optimizer.stored_as`).
enum class Moments { of_weights, as_stored };

/// A checkpoint's weights and the state of AdamW, adam_pax or SGD in a state of `like`'s paths and
/// types. Code::invalid where the stored optimizer is another one, or arrays are missing: the
/// message names them. Throws Error for a `like` of another optimizer.
Result<State> state_of(const checkpoint::Checkpoint& saved, const model::decoder::Options& options,
                       const State& like, std::int64_t scan_axis = 1,
                       Moments moments = Moments::of_weights);
/// How many updates the state has seen: its `step`; 0 where there is none.
std::int64_t step_of(const checkpoint::Checkpoint& saved);

/// Writes a step's folder that MaxText restores by load_full_state_path, or as a step of a run of
/// its own. Fails as orbax::save. Throws Error for an optimizer that is none of these, and as
/// to_maxtext. `layout.what` is not looked at.
Status write_state(const std::string& path, const State& state, std::int64_t step,
                   const model::decoder::Options& options,
                   const model::maxtext::Layout& layout = {},
                   Moments moments = Moments::of_weights);

/// Writes a checkpoint of this trainer's, whose run had the architecture of a published model, as
/// `write_state` does; moments as its `optimizer.stored_as` says. Code::unsupported for a run of
/// another model, of adapters, or one tuned from a published model's weights.
Status export_checkpoint(const checkpoint::Checkpoint& saved, const std::string& path,
                         const model::maxtext::Layout& layout = {});

}  // namespace strata::train::maxtext
