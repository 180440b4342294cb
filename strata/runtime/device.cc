#include "strata/runtime/device.h"

#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"

namespace strata::runtime {

Result<std::unique_ptr<Client>> internal::make_device_client(const std::string& device) {
  auto found = plugin::find_device(device);
  if (!found) return found.status();
  if (found->library.empty()) return std::unique_ptr<Client>();
  if (found->platform == "tpu" && !plugin::has_tpu_chips())
    return Status(Code::unsupported,
                  "device {}: {} is here, but no TPU is; `strata compile --target=tpu:v5e:4x4` "
                  "compiles without one",
                  device, found->library);
  const plugin::Probe tried = plugin::probe(found->library);
  if (!tried.usable)
    return Status(Code::unsupported, "device {}: {} is not usable: {}", device, found->library,
                  tried.trouble);
  return plugin::make_client({.library = found->library, .device = found->index});
}

Status use_device(const std::string& device) {
  auto client = internal::make_device_client(device);
  if (!client) return client.status();
  if (*client && !internal::install(*client))
    return Status(Code::invalid,
                  "device {}: this process has computed on {} already; choose before that", device,
                  default_client().platform());
  return {};
}

}  // namespace strata::runtime
