#include "strata/runtime/client.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "strata/runtime/reference_client.h"

namespace strata::runtime {
namespace {
std::mutex mutex;
std::unique_ptr<Client> (*factory)() = nullptr;
std::unique_ptr<Client> client;
}  // namespace

Client& default_client() {
  std::lock_guard lock(mutex);
  if (!client) {
    const char* backend = std::getenv("STRATA_BACKEND");
    if (backend && std::string_view(backend) == "reference") {
      client = make_reference_client();
      return *client;
    }
    STRATA_CHECK(factory != nullptr, "no client registered: call compile::register_cpu() first");
    client = factory();
  }
  return *client;
}

void set_client_factory(std::unique_ptr<Client> (*f)()) {
  std::lock_guard lock(mutex);
  factory = f;
}

}  // namespace strata::runtime
