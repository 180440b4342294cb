#include "strata/runtime/client.h"

#include <cstdlib>
#include <mutex>
#include <string>

#include "strata/base/error.h"
#include "strata/runtime/device.h"
#include "strata/runtime/reference_client.h"

namespace strata::runtime {
namespace {
std::mutex mutex;
std::unique_ptr<Client> (*factory)() = nullptr;
// Never destroyed: plugins leave threads behind that outlive what is static here.
Client* client = nullptr;
bool devices_ignored = false;

std::unique_ptr<Client> client_of(const std::string& backend) {
  if (backend == "reference") return make_reference_client();
  auto out = internal::make_device_client(backend);
  if (!out) throw Error("STRATA_BACKEND", "{}", out.status().message());
  return std::move(out.value());
}
}  // namespace

Client& default_client() {
  std::lock_guard lock(mutex);
  if (!client) {
    const char* wanted = std::getenv("STRATA_BACKEND");
    const std::string backend = wanted ? wanted : "";
    if (backend == "reference" || (!backend.empty() && !devices_ignored))
      client = client_of(backend).release();
    if (client) return *client;
    STRATA_CHECK(factory != nullptr, "no client registered: call compile::register_cpu() first");
    client = factory().release();
  }
  return *client;
}

void ignore_devices() {
  std::lock_guard lock(mutex);
  devices_ignored = true;
}

bool internal::install(std::unique_ptr<Client>& given) {
  std::lock_guard lock(mutex);
  if (client) return false;
  client = given.release();
  return true;
}

void set_client_factory(std::unique_ptr<Client> (*f)()) {
  std::lock_guard lock(mutex);
  factory = f;
}

}  // namespace strata::runtime
