#include "strata/op/lapack/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace strata::op::lapack {
namespace {

struct Library {
  void* handle = nullptr;
  Status status;

  Library() {
    const char* name = std::getenv("STRATA_LAPACK");
    if (name == nullptr || *name == '\0') {
      status = Status(Code::unsupported, "LAPACK is not known here: name its library in STRATA_LAPACK (liblapack.so.3)");
      return;
    }
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      status = Status(Code::unsupported, "STRATA_LAPACK names no library that opens: {}", ::dlerror());
      return;
    }
    if (void* set = ::dlsym(handle, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(1);
  }
};

}  // namespace

Result<void*> routine(const std::string& name) {
  static const Library& library = *new Library;  // never closed: threads may be in it when the process ends
  if (library.handle == nullptr) return library.status;
  void* address = ::dlsym(library.handle, (name + "_").c_str());
  if (address == nullptr) return Status(Code::unsupported, "the library of STRATA_LAPACK has no {}", name);
  return address;
}

}  // namespace strata::op::lapack
