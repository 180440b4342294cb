#include "strata/api/transform/axes.h"

#include <algorithm>

#include "strata/api/trace/trace.h"

namespace strata::internal {
namespace {

thread_local std::vector<BoundAxis> bound;

std::string names_of_bound() {
  std::string out;
  for (const BoundAxis& axis : bound) out += (out.empty() ? "" : ", ") + axis.name;
  return out.empty() ? "none is" : out;
}

}  // namespace

AxisScope::AxisScope(BoundAxis axis) { bound.push_back(std::move(axis)); }
AxisScope::~AxisScope() { bound.pop_back(); }

const BoundAxis& bound_axis(const char* operation, const std::string& name) {
  const auto it = std::find_if(bound.rbegin(), bound.rend(),
                               [&](const BoundAxis& axis) { return axis.name == name; });
  if (it == bound.rend())
    fail(operation,
         "unbound axis name: {}. Bound here: {}. vmap(f, {{.axis_name = \"{}\"}}) binds it while f "
         "runs, and shard_map the axes of its mesh",
         name, names_of_bound(), name);
  return *it;
}

}  // namespace strata::internal
