// What calls on a device cost, and whether they leak: many of x + 1 of one number, each on the
// result of the one before, and memory before and after.
//
//   STRATA_BACKEND=cuda device-dispatch [CALLS]
//   {"device": ..., "calls": ..., "ns": ..., "value": ..., "resident_growth": ..., "device_growth":
//   ...}: of a call; bytes of the process and, where it tells, of the device
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "strata/strata.h"

namespace {

long resident_bytes() {
  std::ifstream in("/proc/self/statm");
  long pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace strata;
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100000;
  if (calls <= 0 || argc > 2) {
    std::fputs("usage: STRATA_BACKEND=DEVICE device-dispatch [CALLS, 100000]\n", stderr);
    return 2;
  }
  const auto f = jit([](Array x) { return x + 1.0f; });
  Array x = zeros({});
  for (int i = 0; i < 1000; ++i) x = f(x);
  (void)x.block_until_ready();
  const Device device = x.devices()[0];
  const auto before = device.memory_stats();
  const long resident = resident_bytes();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    x = f(x);
    if (i % 1000 == 999) (void)x.block_until_ready();  // as a program that looks at its loss
  }
  (void)x.block_until_ready();
  const double ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count() /
      calls;
  const long grown = resident_bytes() - resident;
  const auto after = device.memory_stats();
  std::printf(
      "{\"device\": \"%s\", \"calls\": %d, \"ns\": %.1f, \"value\": %.1f, "
      "\"resident_growth\": %ld, \"device_growth\": %ld}\n",
      device.to_string().c_str(), calls, ns, x.item<double>(), grown,
      before && after ? static_cast<long>(after->in_use - before->in_use) : 0L);
}
