// arc4random for a C library that lacks it (glibc before 2.36): LLVM's static libraries ask for it,
// to name temporary files.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() {
  std::uint32_t out = 0;
  if (getrandom(&out, sizeof out, 0) != sizeof out) std::abort();
  return out;
}
