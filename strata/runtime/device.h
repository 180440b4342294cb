// Which device computes: the embedded CPU, or one of a plugin's.
//
//   if (Status s = runtime::use_device("plugin:/usr/lib/pjrt_c_api_cpu_plugin.so"); !s.ok()) ...
//   Array y = sin(x);                      // compiled and run there
//
// Also by the environment: STRATA_BACKEND=plugin:/path/x.so.
#pragma once

#include <memory>
#include <string>

#include "strata/base/result.h"
#include "strata/runtime/client.h"

namespace strata::runtime {

/// Makes a device the process's own: "cpu", "cuda", "tpu", "cuda:1", "plugin:/path/x.so", or a name
/// of PJRT_NAMES_AND_LIBRARY_PATHS. A plugin is first tried in a child process; one that dies there
/// is not loaded. Codes: invalid for a name that is none, or where the process has computed
/// already; not_found with what to install; those of the plugin.
Status use_device(const std::string& device);

/// From now on this copy of the runtime computes on the embedded CPU, whatever STRATA_BACKEND says
/// of devices: what is itself a plugin must not look for one.
void ignore_devices();

namespace internal {
/// A client of the device, or none for the embedded CPU.
Result<std::unique_ptr<Client>> make_device_client(const std::string& device);
/// Makes it the process's client; false where there is one.
bool install(std::unique_ptr<Client>& client);
}  // namespace internal

}  // namespace strata::runtime
