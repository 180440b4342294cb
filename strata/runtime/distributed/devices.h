// The devices of all processes, and the process's own place among them.
//
//   distributed::start({});                          // in each process, before all else
//   for (Device* d : distributed::all_cpu_devices()) ...   // of process 0, then of process 1, ...
//
// Devices are numbered through all processes. A device of another process has a number, a name and
// nothing else: programs run there when that process launches them.
#pragma once

#include <string>
#include <vector>

#include "strata/runtime/client.h"
#include "strata/runtime/distributed/cluster.h"

namespace strata::runtime::distributed {

struct StartOptions {
  Place place = {};
  /// CPU devices of this process; 0: those it has, else what STRATA_NUM_CPU_DEVICES says.
  int local_devices = 0;
  Cluster::Options cluster = {};
};

/// Joins the processes, and leaves them at exit. Codes: invalid when called twice, or after devices
/// were placed in meshes, and those of find_place and Cluster::join.
Status start(const StartOptions& options);
/// Leaves: waits until the others do so too, or die. Nothing where there are no processes.
Status stop();
/// Null where this process is by itself.
Cluster* cluster();

/// 0 where the process is by itself.
int process_index();
/// 1 where the process is by itself.
int process_count();
/// Every process's CPU devices in the order of processes: those of this process are
/// `cpu_devices()`. From the first call on, `start` comes too late.
const std::vector<Device*>& all_cpu_devices();
/// Which process runs the device.
int process_of(const Device& device);
/// Whether it is of this process.
inline bool is_here(const Device& device) { return process_of(device) == process_index(); }

}  // namespace strata::runtime::distributed
