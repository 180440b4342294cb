// The mesh of a run, from its configuration.
//
//   Config c = with_devices(config, 8);          // ici_fsdp_parallelism=-1 becomes 8
//   auto mesh = mesh_of(c);                      // null where one device does everything
//
// Axes, sizes and rules are MaxText's: the size of an axis is ici_AXIS_parallelism (devices of a
// slice) times dcn_AXIS_parallelism (slices), and `logical_axis_rules` say which dimensions of
// weights and activations are cut over it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/nn/sharding/logical_sharding.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// One of the axes, and the keys of its size.
struct ParallelAxis {
  std::string_view name;
  std::int64_t Config::* ici;
  std::int64_t Config::* dcn;
  /// What the keys call it: ici_KEY_parallelism.
  std::string_view key = name;
};
/// In the order of the mesh, the first one major.
std::span<const ParallelAxis> parallel_axes();

/// Whether some key asks for more than one device.
bool names_mesh(const Config& config);
/// Devices that the keys amount to; a key of -1 counts as 1.
std::int64_t device_count(const Config& config);
/// One -1 among the ici_ keys and one among the dcn_ keys become what is left of the devices of a
/// slice, and of the slices. Throws ConfigError, with the keys, for two of a kind, and where their
/// product is not the number of devices.
Config with_devices(Config config, std::int64_t devices, std::int64_t slices = 1);
/// Throws ConfigError for rules that name no dimension of any model, or no axis.
void check_parallelism(const Config& config);

/// The rules of a configuration: its own, in place of those of the same names, behind MaxText's.
std::vector<nn::AxisRule> axis_rules(const Config& config);
/// The mesh with its rules; axes of one device are left out. Devices of a slice follow each other
/// in the order of their numbers. Null for one device.
std::shared_ptr<const nn::LogicalMesh> mesh_of(const Config& config);
/// "fsdp=4, tensor=2".
std::string axes_text(const mesh::Mesh& mesh);

}  // namespace strata::train
