// A run's state as a checkpoint and back.
#pragma once

#include "strata/base/result.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/data/dataset.h"
#include "strata/train/config/base_model.h"
#include "strata/train/config/config.h"
#include "strata/train/config/learning_rate.h"
#include "strata/train/config/make_model.h"
#include "strata/train/config/optimizer.h"
#include "strata/train/step/step.h"

namespace strata::train {

/// The optimizer of a base's weights.
Optimizer make_optimizer(const Config& config, const Base& base);
/// A batch as arrays.
Batch to_batch(data::Batch batch);

/// Fresh weights and moments of the configuration's seed.
State init_state(const Config& config);
/// The base's first weights, which it hands over, and the optimizer's first state.
State init_state(const Config& config, Base& base);

/// The texts that a configuration names, with its tokenizer. Fails as tokenizer::load_tokenizer and
/// data::Dataset::open do.
Result<data::Dataset> open_data(const Config& config, Progress* progress = nullptr);
Result<data::Dataset> open_data(const Config& config, const Base& base,
                                Progress* progress = nullptr);

/// What evaluations read: eval_files, all of whose tokens are kept for that; `data` itself where
/// there are none. Fails as Dataset::open does.
Result<data::Dataset> open_eval_data(const Config& config, const Base& base,
                                     const data::Dataset& data, Progress* progress = nullptr);

/// Parts "params" and "optimizer"; notes: the paths of the weights, the configuration,
/// `data.state(step)`, the random key of the weights, the version.
checkpoint::Checkpoint to_checkpoint(const State& state, std::int64_t step, const Config& config,
                                     const data::Dataset& data);
/// The same of a run on a base. Of a published one, "params" lacks what is frozen, and two notes
/// join: `published_config`, its config.json, and `base`, an object of `init` and `fingerprint`.
checkpoint::Checkpoint to_checkpoint(const State& state, std::int64_t step, const Config& config,
                                     const data::Dataset& data, const Base& base);

/// The state in a checkpoint. Throws ConfigError when it is of a model of other shape than the
/// configuration's, or of an optimizer with other state, naming the keys that differ;
/// Code::corrupt when tensors are missing or of other types.
Result<State> from_checkpoint(const checkpoint::Checkpoint& checkpoint, const Config& config);
/// The same, with the weights that the checkpoint leaves out from the base, which hands them over.
/// Throws ConfigError where the checkpoint stands on another base, naming both.
Result<State> from_checkpoint(const checkpoint::Checkpoint& checkpoint, const Config& config,
                              Base& base);
/// Whether that finds all that it needs: its Code::corrupt else. Throws as it does; the base keeps
/// its weights.
Status check_complete(const checkpoint::Checkpoint& checkpoint, const Config& config,
                      const Base& base);
/// The same under its own configuration. Passes a run on a published base, which is not opened.
Status check_complete(const checkpoint::Checkpoint& checkpoint);
/// The weights alone.
Result<tree::Tree> params_from_checkpoint(const checkpoint::Checkpoint& checkpoint,
                                          const Config& config);
/// The configuration that a checkpoint was written under. Throws ConfigError for a note that is
/// none.
Config config_of(const checkpoint::Checkpoint& checkpoint);
/// Throws ConfigError where the checkpoint stands on another published base than this, naming both.
void check_base(const checkpoint::Checkpoint& checkpoint, const Config& config, const Base& base);
/// What differs between the data that the checkpoint's run read and this; empty when nothing does.
std::string check_data(const checkpoint::Checkpoint& checkpoint, const data::Dataset& data);

}  // namespace strata::train
