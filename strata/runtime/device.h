// Which devices there are, and which one computes: the embedded CPU, one of several CPUs, one of a
// plugin's.
//
//   if (Status s = runtime::use_device("plugin:/usr/lib/pjrt_c_api_cpu_plugin.so"); !s.ok()) ...
//   Array y = sin(x);                      // compiled and run there
//   for (Device* d : *runtime::devices("cpu")) fmt::print("{}\n", d->to_string());
//
// Also by the environment: STRATA_BACKEND=plugin:/path/x.so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/runtime/client.h"

namespace strata::runtime {

/// Makes a device the process's own: "cpu", "cuda", "tpu", "cuda:1", "plugin:/path/x.so", or a name
/// of PJRT_NAMES_AND_LIBRARY_PATHS. A plugin is first tried in a child process; one that dies there
/// is not loaded. Codes: invalid for a name that is none, or where the process has computed
/// already; not_found with what to install; those of the plugin.
Status use_device(const std::string& device);

/// The devices of a platform: "cpu" (cpu_devices.h), "cuda", "tpu", "plugin:/path/x.so", or those
/// of the process's own client for "". Codes: those of `use_device`.
Result<std::vector<Device*>> devices(const std::string& platform = "");

/// What this thread's programs run on when no argument is bound to a device; null for the process's
/// own client.
Device* thread_device();
/// Sets it, and gives what it was before.
Device* set_thread_device(Device* device);
/// The client of a device, the process's own for null.
Client& client_of(Device* device);
/// Where a tensor is held; one of this process's memory counts as the process's own device.
Device* device_of(const Buffer& buffer);

/// From now on this copy of the runtime computes on the embedded CPU, whatever STRATA_BACKEND says
/// of devices: what is itself a plugin must not look for one.
void ignore_devices();

namespace internal {
/// A client of the device, which lives as long as the process; null for the embedded CPU.
Result<Client*> make_device_client(const std::string& device);
/// Makes it the process's client; false where there is one.
bool install(Client* client);
/// The client of the embedded CPU, whatever the process's own is.
Client& cpu_client();
}  // namespace internal

}  // namespace strata::runtime
