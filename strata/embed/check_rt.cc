// Our own mistakes in the runtime of object files: said without fmt, and the end of the process.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "strata/base/check.h"

namespace strata::internal {

void fail_check(const char* file, int line, const char* condition, fmt::string_view format,
                fmt::format_args) {
  if (const char* room = std::strstr(file, "strata/")) file = room;
  std::fprintf(stderr, "%s:%d: internal check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(format.size()), format.data());
  std::abort();
}

}  // namespace strata::internal
