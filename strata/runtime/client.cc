#include "strata/runtime/client.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "strata/base/error.h"

namespace strata::runtime {

std::size_t Device::memory_index(const std::string& memory_kind) const {
  const std::vector<std::string> kinds = memory_kinds();
  const auto at = std::ranges::find(kinds, memory_kind);
  if (at == kinds.end())
    throw Error("device_put", "{} has no memory of kind '{}'; it has {}", to_string(), memory_kind,
                fmt::join(kinds, ", "));
  return static_cast<std::size_t>(at - kinds.begin());
}

std::vector<Buffer> Executable::run(std::vector<Buffer> arguments) {
  std::vector<void*> in, out;
  for (Buffer& b : arguments)
    if (b.there()) b = Buffer(b.literal());
  for (Buffer& b : arguments) in.push_back(const_cast<std::byte*>(b.data()));
  std::vector<Buffer> results = results_for(arguments);
  for (Buffer& b : results) out.push_back(b.mutable_data());
  run_at(in.data(), out.data());
  return results;
}

}  // namespace strata::runtime
