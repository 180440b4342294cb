#include "strata/api/trace/client.h"

#include "strata/compile/cpu/cpu_client.h"
#include "strata/runtime/device.h"

namespace strata::internal {

void register_cpu() { compile::register_cpu(); }

runtime::Client& client_for(runtime::Device* device) {
  register_cpu();
  return runtime::client_of(device);
}

}  // namespace strata::internal
