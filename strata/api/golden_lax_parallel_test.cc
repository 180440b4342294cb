// How collective functions of jax.lax are called: within a vmap for each name.
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<std::string> names_of(const Call& c, const char* option,
                                  std::vector<std::string> otherwise) {
  if (!c.has(option)) return otherwise;
  return c.option(option).is_array() ? c.option(option).get<std::vector<std::string>>()
                                     : std::vector<std::string>{c.text(option)};
}
AxisNames axis_name(const Call& c) { return names_of(c, "axis_name", {"i"}); }

/// f of each input, under a vmap for each name, the first outermost.
Array over_axes(const Call& c, const std::vector<std::string>& names, std::size_t first,
                const Array& x, const std::function<Array(const Array&)>& f) {
  if (first == names.size()) return f(x);
  const std::optional<std::int64_t> axis =
      c.has("axis_size") ? std::nullopt : std::optional<std::int64_t>(0);
  auto inner = [&](const Array& each) { return over_axes(c, names, first + 1, each, f); };
  return vmap(inner,
              {.in_axes = {axis}, .axis_name = names[first], .axis_size = c.maybe("axis_size")})(x);
}
/// Numbers of C++ that are the same for all inputs do not become arrays of the trace, as Python's
/// do not: psum multiplies them.
Array over_axes(const Call& c, const std::function<Array(const Array&)>& f) {
  const bool is_number = c.has("axis_size") && c.x(0).weak();
  return over_axes(c, axis_name(c).get(), 0, c.x(0),
                   [&](const Array& x) { return f(is_number ? c.x(0) : x); });
}

std::vector<std::vector<std::int64_t>> groups(const Call& c) {
  return c.has("axis_index_groups")
             ? c.option("axis_index_groups").get<std::vector<std::vector<std::int64_t>>>()
             : std::vector<std::vector<std::int64_t>>();
}
Pairs pairs(const Call& c) {
  Pairs out;
  for (const auto& pair : c.option("perm")) out.emplace_back(pair[0], pair[1]);
  return out;
}

#define STRATA_COLLECTIVE(name, ...)                                                   \
  STRATA_GOLDEN("lax." #name, over_axes(c, [&](const Array& x) {                       \
                  return Array(lax::name(x, axis_name(c) __VA_OPT__(, ) __VA_ARGS__)); \
                }))

STRATA_COLLECTIVE(psum, {.axis_index_groups = groups(c)});
STRATA_COLLECTIVE(pmean, {.axis_index_groups = groups(c)});
STRATA_COLLECTIVE(pmax, {.axis_index_groups = groups(c)});
STRATA_COLLECTIVE(pmin, {.axis_index_groups = groups(c)});
STRATA_COLLECTIVE(all_gather, {.axis_index_groups = groups(c),
                               .axis = c.integer("axis"),
                               .tiled = c.flag("tiled"),
                               .to = c.text("to", "varying")});
STRATA_COLLECTIVE(all_to_all, c.integer("split_axis"), c.integer("concat_axis"),
                  {.axis_index_groups = groups(c), .tiled = c.flag("tiled")});
STRATA_COLLECTIVE(pswapaxes, c.integer("axis"), {.axis_index_groups = groups(c)});
STRATA_COLLECTIVE(psum_scatter, {.scatter_dimension = c.integer("scatter_dimension"),
                                 .axis_index_groups = groups(c),
                                 .tiled = c.flag("tiled")});
STRATA_COLLECTIVE(ppermute, pairs(c));
STRATA_COLLECTIVE(pshuffle, c.integers("perm"));
STRATA_COLLECTIVE(pbroadcast, c.integer("source"));

STRATA_GOLDEN("lax.axis_index", over_axes(c, [&](const Array&) {
                return lax::axis_index(names_of(c, "asked", axis_name(c).get()));
              }));
STRATA_GOLDEN("lax.axis_size", over_axes(c, [&](const Array&) {
                return Array(lax::axis_size(names_of(c, "asked", axis_name(c).get())));
              }));

}  // namespace
}  // namespace strata
