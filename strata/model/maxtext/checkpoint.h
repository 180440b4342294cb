// Checkpoints of MaxText's as Orbax stores them: a model's weights, read and written.
//
//   auto saved = model::maxtext::open_checkpoint("gs://bucket/run/checkpoints/400");
//   auto params = model::maxtext::params_of(*saved, options);
//   model::maxtext::write_params("out/0", *params, options);
//
// A step's folder has the item `items` (of earlier releases `default`), whose tree is `params`,
// `opt_state` and `step`; the folder of parameters alone has `params`. Written are the items and
// names that MaxText 0.2.5 restores. Source: AI-Hypercomputer/maxtext, common/checkpointing.py.
#pragma once

#include <string>
#include <vector>

#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/orbax/pytree.h"
#include "strata/model/maxtext/weights.h"

namespace strata::model::maxtext {

/// What a path of MaxText's means: a step's folder, the item `items` in it, or a folder of steps,
/// of which it is the newest. Code::not_found, Code::corrupt as orbax::load; Code::invalid where
/// there are no arrays below params/params.
Result<checkpoint::Checkpoint> open_checkpoint(const std::string& path);
/// Whether a path holds one of Orbax's checkpoints whose arrays are called as MaxText's. One that
/// is damaged is none; codes of is_there for what cannot be found out.
Result<bool> is_checkpoint(const std::string& path);

/// The arrays whose names begin so, without that. `open_checkpoint` gave the checkpoint.
Arrays arrays_below(const checkpoint::Checkpoint& saved, const std::string& prefix);
/// Those of its parameters: all below kParams, and the biases that experts of DeepSeek's and Kimi's
/// are chosen by, which a whole state of theirs keeps below kNoParameters, layers first.
Arrays arrays_of_params(const checkpoint::Checkpoint& saved, std::int64_t scan_axis = 1);
/// Its weights, as the options' model has them. Codes of from_maxtext; the layers may be scanned or
/// not. Throws Error as that.
Result<tree::Tree> params_of(const checkpoint::Checkpoint& saved, const decoder::Options& options,
                             std::int64_t scan_axis = 1);

/// Writes a step's folder that MaxText restores by load_parameters_path; fails and throws as
/// orbax::save and to_maxtext. `layout.what` is not looked at.
Status write_params(const std::string& path, const tree::Tree& params,
                    const decoder::Options& options, const Layout& layout = {});

/// A leaf of MaxText's tree: numbers in its path are places in a sequence.
checkpoint::orbax::Leaf leaf_at(const std::string& path, Literal value);
/// Adds arrays below a path that ends with a slash.
void add_leaves(std::vector<checkpoint::orbax::Leaf>& leaves, const std::string& folder,
                Arrays arrays);
/// Writes a step's folder of such leaves.
Status write_leaves(const std::string& path, std::vector<checkpoint::orbax::Leaf> leaves,
                    bool scanned);

/// Where MaxText's weights stand in its tree.
inline constexpr const char* kParams = "params/params/";
/// And what is none of its parameters.
inline constexpr const char* kNoParameters = "nnx_aux/model/";
/// How the names of the biases end that experts are chosen by.
inline constexpr const char* kChoiceBias = "/MoeBlock_0/gate/bias";

}  // namespace strata::model::maxtext
