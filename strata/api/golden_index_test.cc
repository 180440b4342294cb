// How x[...] and x.at(...) are called: by expressions that tools/goldens/api_cases/index.py draws
// at random.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

using nlohmann::json;
using testing::Call;

std::optional<std::int64_t> bound(const json& j) {
  return j.is_null() ? std::nullopt : std::optional(j.get<std::int64_t>());
}

Index entry(const Call& c, const json& e, std::size_t first_array) {
  if (e.is_number()) return e.get<std::int64_t>();
  if (e.is_string()) return e == "newaxis" ? Index(newaxis) : Index(ellipsis);
  if (e.is_array()) return slice(bound(e[0]), bound(e[1]), bound(e[2]));
  return c.x(first_array + e["array"].get<std::size_t>() - 1);
}
/// The expression, whose arrays begin with argument `first_array`.
Indices indices(const Call& c, std::size_t first_array) {
  std::vector<Index> out;
  for (const json& e : c.option("index")) out.push_back(entry(c, e, first_array));
  return out;
}

Array read(const Call& c) {
  if (!c.has("mode")) return c.x(0)[indices(c, 1)];
  return c.x(0)
      .at(indices(c, 1))
      .get({.mode = c.text("mode"), .fill_value = c.array("fill_value")});
}
STRATA_GOLDEN("at.get", read(c));

#define STRATA_UPDATE(kind) \
  STRATA_GOLDEN("at." #kind, c.x(0).at(indices(c, 2)).kind(c.x(1), {.mode = c.text("mode")}))
STRATA_UPDATE(set);
STRATA_UPDATE(add);
STRATA_UPDATE(subtract);
STRATA_UPDATE(multiply);
STRATA_UPDATE(divide);
STRATA_UPDATE(power);
STRATA_UPDATE(min);
STRATA_UPDATE(max);

}  // namespace
}  // namespace strata
