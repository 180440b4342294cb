#include "strata/op/foreign/lapack/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "strata/lapack/routine.h"

namespace strata::op::lapack {
namespace {

/// The library that the environment names, if it does.
struct Library {
  bool is_named = false;
  void* handle = nullptr;
  Status status;

  Library() {
    const char* name = std::getenv("STRATA_LAPACK");
    is_named = name != nullptr && *name != '\0';
    if (!is_named) return;
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      status =
          Status(Code::unsupported, "STRATA_LAPACK names no library that opens: {}", ::dlerror());
      return;
    }
    if (void* set = ::dlsym(handle, "openblas_set_num_threads"))
      reinterpret_cast<void (*)(int)>(set)(1);
  }
};

}  // namespace

Result<void*> routine(const std::string& name) {
  static const Library& library =
      *new Library;  // never closed: threads may be in it when the process ends
  if (!library.is_named) {
    if (void* address = strata::lapack::routine(name)) return address;
    return Status(Code::unsupported,
                  "LAPACK is not known here: name its library in STRATA_LAPACK (liblapack.so.3)");
  }
  if (library.handle == nullptr) return library.status;
  void* address = ::dlsym(library.handle, (name + "_").c_str());
  if (address == nullptr)
    return Status(Code::unsupported, "the library of STRATA_LAPACK has no {}", name);
  return address;
}

}  // namespace strata::op::lapack
