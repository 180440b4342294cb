// A checkpoint's stacked weights as the tensors of a Hugging Face directory, one tensor at a time.
// Private to strata/model/convert and strata/model/surgery.
#pragma once

#include <optional>

#include "strata/model/convert/plan.h"

namespace strata::model::conversion {

/// The plan of a checkpoint of a run, of Strata's format or Orbax's: of a folder of checkpoints its
/// newest. Memory holds one tensor of the directory; of Orbax's also the chunk that it is read
/// from. Nothing where the checkpoint must be read as a whole: in a bucket, with weights that it
/// leaves out, of no published model. Code::corrupt for a checkpoint that does not match its
/// checksums.
Result<std::optional<Plan>> plan_stacked(const std::string& path);

}  // namespace strata::model::conversion
