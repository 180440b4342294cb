// Chapter 18: which device an array lies on, and where programs run. tutorial/18_devices.md walks
// through it.
#include <strata/core.h>

#include <cmath>
#include <cstdio>

using namespace strata;

int main() {
  // Two devices of one processor, each with half of its cores.
  std::vector<Device> cpus = cpu_devices(2);
  for (const Device& d : cpus) std::printf("%s\n", d.to_string().c_str());

  // Put an array on the second: it is bound to it, and so is what is computed of it.
  Array x = device_put(arange(6), cpus[1]);
  auto f = jit([](const Array& a) { return (a * a).sum(); });
  Array y = f(x);
  std::printf("%d on %s\n", y.item<int>(), y.devices()[0].to_string().c_str());

  // A call returns before it has run, so both devices work at the same time.
  auto slow = jit([](const Array& a) { return sin(a) * cos(a) + sqrt(abs(a)); });
  Array left = device_put(linspace(0, 1, 100000), cpus[0]);
  Array right = device_put(linspace(1, 2, 100000), cpus[1]);
  for (int i = 0; i < 5; ++i) {
    left = slow(left);
    right = slow(right);
  }
  // Looking at an element waits for it. Arrays of one call lie on one device: move one of them.
  Array both = left + device_put(right, cpus[0]);
  std::printf("%zu elements on %s\n", both.to_vector<float>().size(),
              both.devices()[0].to_string().c_str());

  // Arrays of two devices in one call are a mistake, and the message names both.
  try {
    Array mixed = left + right;
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }

  // A device reaches several memories. What waits for later need not fill the one it computes in.
  Array waiting = device_put(both, DeviceMemory(cpus[0], "pinned_host"));
  Array used = waiting * 2.f;
  std::printf("from %s to %s\n", memory_kind(waiting).c_str(), memory_kind(used).c_str());

  // What is bound to no device goes to the default one.
  {
    DefaultDevice here(cpus[1]);
    Array z = ones({3}) + 1.f;
    std::printf("%s\n", z.devices()[0].to_string().c_str());
  }
  return y.item<int>() == 55 && std::isfinite(both.to_vector<float>()[0]) ? 0 : 1;
}
