#include "strata/api/options.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "strata/base/error.h"

namespace strata {
namespace {
thread_local bool x64 = false;
}

bool x64_enabled() { return x64; }
EnableX64::EnableX64(bool on) : before_(x64) { x64 = on; }
EnableX64::~EnableX64() { x64 = before_; }

std::vector<std::int64_t> Axes::resolve(int rank) const {
  if (!axes_) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<std::int64_t> out;
  for (std::int64_t axis : *axes_) {
    if (axis < -rank || axis >= rank)
      throw Error("axis", "axis {} is out of range for an array of {} dimensions", axis, rank);
    out.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(out.begin(), out.end());
  auto twice = std::adjacent_find(out.begin(), out.end());
  if (twice != out.end()) throw Error("axis", "axis {} is given twice", *twice);
  return out;
}

std::string describe(const std::source_location& where) {
  std::string_view file = where.file_name();
  if (auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

}  // namespace strata
