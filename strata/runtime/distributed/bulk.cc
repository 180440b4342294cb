#include "strata/runtime/distributed/bulk.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace strata::runtime::distributed {
namespace {

/// Beside what this code is in, or in `lib` beside the folder of programs.
void* library() {
  const char* named = std::getenv("STRATA_GLOO");
  if (named != nullptr && *named != '\0')
    return std::string(named) == "off" ? nullptr : ::dlopen(named, RTLD_NOW | RTLD_LOCAL);
  Dl_info own{};
  std::filesystem::path folder;
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<void*>(&make_gloo), &own) != 0 && own.dli_fname != nullptr)
    folder = std::filesystem::canonical(own.dli_fname, ignored).parent_path();
  for (const char* place : {"libstrata_gloo.so", "../lib/libstrata_gloo.so"})
    if (void* found = ::dlopen((folder / place).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  return nullptr;
}

}  // namespace

std::unique_ptr<Bulk> make_gloo(const std::string& own_address, int process, int processes,
                                const Exchange& exchange, std::string* failed) {
  void* found = library();
  void* make = found == nullptr ? nullptr : ::dlsym(found, "strata_gloo");
  if (make == nullptr) return nullptr;
  return std::unique_ptr<Bulk>(
      reinterpret_cast<MakeBulk>(make)(own_address.c_str(), process, processes, exchange, failed));
}

}  // namespace strata::runtime::distributed
