#include "strata/pjrt/call_log.h"

#include <cstdio>
#include <cstdlib>

namespace strata::pjrt {
namespace {

/// The file, or null.
std::FILE* log() {
  static std::FILE* file = [] {
    const char* path = std::getenv("STRATA_PJRT_LOG");
    return path && *path ? std::fopen(path, "a") : nullptr;
  }();
  return file;
}

}  // namespace

void log_call(const char* name, const char* failure) {
  if (std::FILE* file = log()) {
    std::fprintf(file, "%s%s%s\n", name, failure ? ": " : "", failure ? failure : "");
    std::fflush(file);
  }
}

}  // namespace strata::pjrt
