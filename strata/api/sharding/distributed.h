// Several processes that compute together: on one machine, or on many.
//
//   int main() {
//     distributed::initialize();                      // in each process, before all else
//     Mesh m = make_mesh({{"data", static_cast<std::int64_t>(devices().size())}});
//     Array x = device_put(ones({8, 16}), NamedSharding(m, {"data"}));
//     Array total = jit([](const Array& a) { return numpy::sum(a); })(x);    // over all processes
//     if (distributed::process_index() == 0) std::cout << total << "\n";
//   }
//
// started by `strata launch -n 4 -- ./program`, by mpirun or by srun. Each process runs the same
// program; `devices()` are those of all processes, in the order of processes, and `cpu_devices()`
// those of this one. A program over a mesh runs on all of them: each process compiles it, runs its
// own devices, and moves between processes what collectives need. Bits depend on the mesh alone,
// not on how many processes its devices are in. All processes must run the same programs over a
// mesh in the same order: where they do not, or one dies, the others' waits end within two seconds
// with an Error that names it.
//
// An array whose parts are in several processes cannot be read by one of them: `process_allgather`
// brings it to all, `addressable_shards` are the parts that are here. Source: jax.distributed,
// jax.experimental.multihost_utils. Deviations: a process's address is found as JAX finds it, but
// that Kubernetes' server is not asked (runtime/distributed/place.h); devices are numbered without
// gaps; a process of which nothing is heard for 10 s, not 100, counts as dead.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "strata/api/sharding/sharding.h"

namespace strata::distributed {

/// How this process finds the others. What is not given is found from the environment: of `strata
/// launch`, Open MPI, Slurm, Kubernetes, in this order.
struct Options {
  internal::Named named = internal::Named();
  /// "host:port" of process 0, which serves there.
  std::string coordinator_address = {};
  std::optional<int> num_processes = {};
  std::optional<int> process_id = {};
  /// How many CPU devices this process has; 0: STRATA_NUM_CPU_DEVICES, else one.
  int local_devices = 0;
  /// How long all may take to come.
  std::chrono::milliseconds initialization_timeout = std::chrono::minutes(5);
  /// After how long a process of which nothing is heard counts as dead. One that ends is known of
  /// at once.
  std::chrono::milliseconds heartbeat_timeout = std::chrono::seconds(10);
  /// How long `shutdown` waits for the others.
  std::chrono::milliseconds shutdown_timeout = std::chrono::minutes(5);
};

/// Whether who started this process says which of several it is: `strata launch`, mpirun, srun, an
/// indexed job of Kubernetes. Then `initialize()` needs no options; it throws Error where a
/// variable is missing or wrong.
bool was_launched();
/// Joins the processes: returns when all are there. Throws Error naming those that did not come in
/// time, what is not known, and when it is called twice or after arrays were placed in a mesh.
void initialize(const Options& options = {}, Where where = Where::current());
/// Leaves, and waits until the others do so, too, or die. At the end of a program this happens by
/// itself.
void shutdown();
/// Whether this process is one of several that `initialize` has joined (one alone is, too).
bool is_initialized();

/// 0 where there is one process alone.
int process_index();
/// 1 where there is one process alone.
int process_count();
/// Which process computes on the device.
int process_index(const Device& device);
/// The devices of this process: those that `devices()` has of it.
std::vector<Device> local_devices();

/// Waits until every process has come here. Throws Error naming those that have not in time.
void sync_global_devices(const std::string& name,
                         std::chrono::milliseconds timeout = std::chrono::minutes(5),
                         Where where = Where::current());
/// All of an array that is sharded over a mesh, in this process's memory, in every process; an
/// array that is here already as it is. All processes call it.
Array process_allgather(const Array& x, Where where = Where::current());
/// The array of process 0, in every process: shape and dtype are the same in all of them. The
/// others' elements are not looked at.
Array broadcast_one_to_all(const Array& x, Where where = Where::current());
/// An array over the mesh of what each process has of it: its rows of the dimension that is cut, in
/// the order of the mesh. `local` holds this process's parts side by side; a dimension of which
/// every process holds all has its whole size. Throws Error where sizes do not fit.
Array make_array_from_process_local_data(const NamedSharding& sharding, const Array& local,
                                         const Sizes& global_shape, Where where = Where::current());

/// The store of keys and values at process 0. `get` waits until there is a value. All throw Error
/// when a process has died, or it takes too long; `set` where the key has a value, unless
/// `allow_overwrite`.
void key_value_set(const std::string& key, const std::string& value, bool allow_overwrite = false,
                   Where where = Where::current());
std::string key_value_get(const std::string& key, std::chrono::milliseconds timeout,
                          Where where = Where::current());
/// Nothing where the key has no value now.
std::optional<std::string> key_value_try_get(const std::string& key,
                                             Where where = Where::current());
void key_value_delete(const std::string& key, Where where = Where::current());

}  // namespace strata::distributed
