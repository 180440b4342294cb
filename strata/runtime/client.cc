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

using Owned = std::unique_ptr<Client, void (*)(Client*)>;
/// A client that goes with the process, and with it the programs that it keeps, which then report.
Owned owned(std::unique_ptr<Client> c) {
  return Owned(c.release(), [](Client* gone) { delete gone; });
}
/// A plugin's, which is never destroyed: plugins leave threads behind that outlive what is static.
Owned left(std::unique_ptr<Client> c) {
  return Owned(c.release(), [](Client*) {});
}
Owned client = owned(nullptr);
bool devices_ignored = false;

Owned client_of(const std::string& backend) {
  if (backend == "reference") return owned(make_reference_client());
  auto out = internal::make_device_client(backend);
  if (!out) throw Error("STRATA_BACKEND", "{}", out.status().message());
  return left(std::move(out.value()));
}
}  // namespace

Client& default_client() {
  std::lock_guard lock(mutex);
  if (!client) {
    const char* wanted = std::getenv("STRATA_BACKEND");
    const std::string backend = wanted ? wanted : "";
    if (backend == "reference" || (!backend.empty() && !devices_ignored))
      client = client_of(backend);
    if (client) return *client;
    STRATA_CHECK(factory != nullptr, "no client registered: call compile::register_cpu() first");
    client = owned(factory());
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
  client = left(std::move(given));
  return true;
}

void set_client_factory(std::unique_ptr<Client> (*f)()) {
  std::lock_guard lock(mutex);
  factory = f;
}

}  // namespace strata::runtime
