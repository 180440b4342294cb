// MaxText's names of TPU slices, as a TPU's compiler knows them.
#pragma once

#include <string>
#include <string_view>

namespace strata::train::maxtext {

/// "v5e:16x16" of "v5e-256", "v5:2x2x1" of "v5p-8"; empty for a slice whose shape is not known
/// here. Source: maxtext/utils/accelerator_to_spec_map.py.
std::string topology_of(std::string_view slice);

/// Chips of "v5e:16x16", "tpu:v5e:4x4": the product of its numbers, twice that of a tpu7x, whose
/// chips are two devices. 0 for a text without such.
std::int64_t devices_of_topology(std::string_view topology);

}  // namespace strata::train::maxtext
