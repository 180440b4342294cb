// One program over several devices: partitioned, compiled once, run on all of them together.
//
//   auto e = runtime::compile_sharded(module, runtime::cpu_devices(8));
//   std::vector<std::vector<Buffer>> results = e->execute(parts);   // parts[d][i], results[d][r]
//
// A program's entry function says how arguments and results are cut: `sdy.sharding` attributes of a
// mesh of the module, or HLO's strings (`mhlo.sharding`). What it leaves open is decided by
// propagation (partition/program.h) and told afterwards. Devices are counted by their places in
// `devices`, which are the numbers that the mesh holds and what stablehlo.partition_id gives:
// device d holds the tile of the place of d in the mesh's row-major order (mesh::tile_of).
//
// The devices work at the same time and meet in collectives without spinning. Sums over devices
// are added in the order of their group, so bits depend on the mesh alone, never on timing. What
// fails on one device ends the others' waiting: it is thrown where a result is waited for.
//
// Devices may be of several processes (distributed/devices.h): each runs its own, gives buffers to
// those alone, and gets results of those alone. All of them compile and run the same programs in
// the same order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/mesh/sharding.h"
#include "strata/runtime/client.h"

namespace strata::runtime {

/// Buffers by device, then by argument or result.
using ShardedBuffers = std::vector<std::vector<Buffer>>;

struct ShardedOptions {
  /// Arguments whose memory may be reused for results, by position.
  std::vector<bool> donated = {};
  /// The program's name in messages and profiles.
  std::string name = "main";
  /// Whether bits must be those of the program on one device: no sum of floats is cut.
  bool exact = false;
};

/// A program that several devices run together. Thread-safe; runs on the same devices take place
/// one after the other, in one order on all of them.
class ShardedExecutable {
 public:
  virtual ~ShardedExecutable() = default;
  /// Runs on the parts that each device holds; buffers on other devices are copied to it. Gives
  /// at once the parts of results, which may not be there yet; those of other processes' devices
  /// are neither looked at nor given (empty lists). A buffer given by rvalue in
  /// `donated` positions may be reused when its handle is the only one. Throws Error when numbers
  /// or types differ from what was compiled; what fails later is thrown where a result is waited
  /// for.
  virtual ShardedBuffers execute(ShardedBuffers arguments) = 0;
  /// Device d runs the program as partition d.
  virtual const std::vector<Device*>& devices() const = 0;
  /// The mesh that the shardings are of; without axes where the program names none, and then every
  /// device does the whole program.
  virtual const mesh::Mesh& mesh() const = 0;
  /// The shardings of arguments and results: closed in all dimensions. Sizes are divided by the
  /// number of pieces (mesh::local_shape).
  virtual const std::vector<mesh::TensorSharding>& argument_shardings() const = 0;
  virtual const std::vector<mesh::TensorSharding>& result_shardings() const = 0;
  /// Types of whole arguments and results, and of what one device holds.
  virtual const std::vector<Type>& argument_types() const = 0;
  virtual const std::vector<Type>& result_types() const = 0;
  virtual const std::vector<Type>& local_argument_types() const = 0;
  virtual const std::vector<Type>& local_result_types() const = 0;
  /// What was decided where and by whose annotation, with the bytes of each collective; empty
  /// where the device's own compiler partitions.
  virtual const std::string& explanation() const = 0;
};

/// The devices that meshes count: all of the plugin whose device is the process's own (--device,
/// STRATA_BACKEND), else the CPU devices of all processes.
std::vector<Device*> mesh_devices();

/// Partitions the entry function and compiles it for the devices, as many as its mesh has (any
/// number where it names none). The module is used up: calls become what they stand for. CPU
/// devices (cpu_devices.h) run it side by side, each on its share of the cores; devices of a plugin
/// as its own compiler partitions (plugin/sharded.h). Throws
/// strata::Error for shardings that do not fit, another number of devices, a device that comes
/// twice, devices of several platforms, and programs that cannot be partitioned (dynamic shapes).
std::shared_ptr<ShardedExecutable> compile_sharded(ir::Module& module,
                                                   const std::vector<Device*>& devices,
                                                   const ShardedOptions& options = {});

/// The same for a program that is already one device's: a block with collectives, which every
/// device runs. The block is used up. Shardings are those of whole arrays without a mesh.
std::shared_ptr<ShardedExecutable> compile_sharded_body(ir::Block& body,
                                                        const std::vector<Device*>& devices,
                                                        const ShardedOptions& options = {});

}  // namespace strata::runtime
