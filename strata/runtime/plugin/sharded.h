// One program over several devices of a plugin, whose compiler partitions it.
#pragma once

#include <memory>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/runtime/sharded.h"

namespace strata::runtime::plugin {

/// Whether the device is one of a plugin's.
bool is_of_plugin(const Device& device);

/// runtime::compile_sharded for devices of one client of a plugin. How arguments and results are
/// sharded is what our own propagation says (partition/program.h) and is told to the plugin, which
/// cuts what is between. The module is used up. Throws strata::Error as runtime::compile_sharded,
/// for devices of two clients, and for what Client::compile of a plugin refuses.
std::shared_ptr<ShardedExecutable> compile_sharded(ir::Module& module,
                                                   const std::vector<Device*>& devices,
                                                   const ShardedOptions& options);

}  // namespace strata::runtime::plugin
