// Which client is the process's own: the embedded CPU, the reference evaluator, or a device's.
#include <cstdlib>
#include <mutex>
#include <string>

#include "strata/base/error.h"
#include "strata/runtime/client.h"
#include "strata/runtime/device.h"
#include "strata/runtime/reference_client.h"

namespace strata::runtime {
namespace internal {
/// The embedded CPU where the program is linked with it (compile/cpu/cpu_client.cc), null where it
/// is not: this room stands below that one, and nothing runs before main to introduce the two.
[[gnu::weak]] std::unique_ptr<Client> make_linked_cpu_client();
}  // namespace internal

namespace {
std::mutex mutex;
std::unique_ptr<Client> (*factory)() = nullptr;

using Owned = std::unique_ptr<Client, void (*)(Client*)>;
/// A client that goes with the process, and with it the programs that it keeps, which then report.
Owned owned(std::unique_ptr<Client> c) {
  return Owned(c.release(), [](Client* gone) { delete gone; });
}
/// A plugin's, which is never destroyed: plugins leave threads behind that outlive what is static.
Owned left(Client* c) {
  return Owned(c, [](Client*) {});
}
Owned client = owned(nullptr), cpu = owned(nullptr);
bool devices_ignored = false;

/// With the mutex held.
Client& cpu_itself() {
  if (!cpu) {
    const auto make = factory != nullptr ? factory : &internal::make_linked_cpu_client;
    STRATA_CHECK(make != nullptr, "no client registered: call compile::register_cpu() first");
    cpu = owned(make());
  }
  return *cpu;
}

Owned client_of(const std::string& backend) {
  if (backend == "reference") return owned(make_reference_client());
  auto out = internal::make_device_client(backend);
  if (!out) throw Error("STRATA_BACKEND", "{}", out.status().message());
  return left(out.value());
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
    client = left(&cpu_itself());
  }
  return *client;
}

Client& internal::cpu_client() {
  std::lock_guard lock(mutex);
  return cpu_itself();
}

void ignore_devices() {
  std::lock_guard lock(mutex);
  devices_ignored = true;
}

bool internal::install(Client* given) {
  std::lock_guard lock(mutex);
  if (client) return false;
  client = left(given);
  return true;
}

void set_client_factory(std::unique_ptr<Client> (*f)()) {
  std::lock_guard lock(mutex);
  factory = f;
}

}  // namespace strata::runtime
