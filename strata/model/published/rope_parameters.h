// Rotary positions as config.json states them, in all its spellings.
#pragma once

#include "strata/model/decoder/options.h"
#include "strata/model/published/config.h"

namespace strata::model::published {

/// What a family adds to what stands in the file.
struct RopeDefaults {
  double theta = 10000;
  /// The kind of layer whose rotary embedding it is, where `rope_parameters` is keyed by these:
  /// "full_attention".
  std::string layer_type = {};
  /// Whether "su" and "yarn" are old names of longrope, as in Phi-3's files.
  bool old_longrope = false;
};
/// The rotary embedding of heads of this width. Reads `rope_parameters` (flat or keyed by
/// layer types), or `rope_theta`, `rope_scaling` with `rope_type` or `type`, and
/// `partial_rotary_factor`: inside of rope_parameters first, then at the top, then the default.
/// Throws Error for types that there are not.
decoder::Rope rope_of(const Config& config, std::int64_t head_dim,
                      const RopeDefaults& defaults = {});

}  // namespace strata::model::published
