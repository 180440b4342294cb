#include "strata/compile/llvm/kernel_testing.h"

#include <cstring>

#include "strata/base/thread_pool.h"

namespace strata::compile::testing {

const CpuTarget& plain_host() {
  static const CpuTarget target = [] {
    CpuTarget host = CpuTarget::named("native");
    host.avx512bf16 = host.vnni = false;
    return host;
  }();
  return target;
}
const CpuTarget& old_processor() {
  static const CpuTarget target = CpuTarget::named("x86-64-v3");
  return target;
}

std::string difference_from_interpreter(const CpuTarget& target, const loop::Kernel& kernel,
                                        const loop::testing::Buffers& contents, int misalignment) {
  loop::testing::Buffers expected = contents, placed, actual;
  std::vector<void*> refs;
  std::vector<loop::Ref*> parameters = kernel.parameters();
  for (std::size_t i = 0; i < contents.size(); ++i) {
    placed.emplace_back(contents[i].size() + 64 + 64 * byte_width(parameters[i]->dtype));
    std::byte* start = placed.back().data();
    start += (64 - reinterpret_cast<std::uintptr_t>(start) % 64) % 64 +
             static_cast<std::size_t>(misalignment) * byte_width(parameters[i]->dtype);
    if (!contents[i].empty()) std::memcpy(start, contents[i].data(), contents[i].size());
    refs.push_back(start);
  }
  {
    DefaultFloatEnvironment environment;
    compile_kernel_for(target, kernel)(refs.data(), 0, kernel.grid);
  }
  for (std::size_t i = 0; i < contents.size(); ++i) {
    auto* start = static_cast<std::byte*>(refs[i]);
    actual.emplace_back(start, start + contents[i].size());
  }
  loop::interpret(kernel, loop::testing::pointers(expected), loop::testing::random_functions());
  return loop::testing::difference(kernel, expected, actual);
}

}  // namespace strata::compile::testing
