#include "strata/runtime/device.h"

#include <utility>

namespace strata::runtime {

namespace {
thread_local Device* of_thread = nullptr;
}  // namespace

Device* thread_device() { return of_thread; }
Device* set_thread_device(Device* device) { return std::exchange(of_thread, device); }
Client& client_of(Device* device) {
  return device != nullptr ? device->client() : default_client();
}

}  // namespace strata::runtime
