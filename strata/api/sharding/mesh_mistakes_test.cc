// Mistakes with meshes, one a row: each message names what was wrong, and the specs and shapes that
// do not go together.
#include <gtest/gtest.h>

#include <functional>

#include "strata/api/lax/parallel.h"
#include "strata/api/sharding/explicit.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

struct Mistake {
  const char* what;
  std::function<void()> made;
  std::vector<std::string> told;
};

std::vector<Mistake> mistakes() {
  const Mesh m = make_mesh({{"x", 2}, {"y", 4}}), other = make_mesh({{"a", 8}});
  const Mesh grid = make_mesh({{"x", 2, AxisType::Explicit}, {"y", 4, AxisType::Explicit}});
  const Array a = ones({8, 6});
  const auto part = [](const Array& v) { return v; };
  const auto mapped = [=](const PartitionSpec& in, const PartitionSpec& out) {
    return [=] { (void)shard_map(part, {.mesh = m, .in_specs = in, .out_specs = out})(a); };
  };
  const auto put = [=](const PartitionSpec& spec) {
    return [=] { (void)device_put(a, NamedSharding(m, spec)); };
  };
  return {
      {"an unknown axis, put", put({"z"}), {"axis 'z' of P('z',)", "Mesh('x': 2, 'y': 4"}},
      {"an unknown axis, mapped",
       mapped({"z"}, {}),
       {"spec P('z',) of argument 0 names the axis z", "Mesh('x': 2, 'y': 4"}},
      {"an unknown axis, resharded",
       [=] { (void)reshard(device_put(a, NamedSharding(grid, {"x"})), P{"z"}); },
       {"reshard: f32[8,6]", "axis 'z' of P('z',)"}},
      {"an axis twice, put", put({"x", "x"}), {"'x' stands twice in P('x', 'x')"}},
      {"an axis twice, mapped",
       mapped({"x", "x"}, {}),
       {"spec P('x', 'x') of argument 0 names the axis x twice"}},
      {"an axis twice, of a result",
       [=] {
         const Array p = device_put(ones({8, 8}), NamedSharding(grid, {"x", nullptr}));
         (void)(p + device_put(ones({8, 8}), NamedSharding(grid, {nullptr, "x"})));
       },
       {"f32[8,8] P('x', None) and f32[8,8] P(None, 'x')", "P('x', 'x')"}},
      {"a size that does not divide, put",
       put({nullptr, "y"}),
       {"dimension 1 of f32[8,6] has size 6", "4 devices of P(None, 'y')"}},
      {"a size that does not divide, mapped",
       mapped({nullptr, "y"}, {}),
       {"dimension 1 of argument 0 (f32[8,6]) has size 6", "P(None, 'y')"}},
      {"a size that does not divide, constrained",
       [=] {
         (void)jit([=](const Array& v) {
           return lax::with_sharding_constraint(v * 2, NamedSharding(m, {nullptr, "y"}));
         })(a);
       },
       {"dimension 1 of f32[8,6] has size 6", "P(None, 'y')"}},
      {"a size that does not divide, resharded",
       [=] { (void)reshard(device_put(a, NamedSharding(grid, P())), P{nullptr, "y"}); },
       {"f32[8,6] as P(None, 'y')", "size 6"}},
      {"more entries than dimensions",
       put({"x", nullptr, "y"}),
       {"P('x', None, 'y') has 3 entries, and f32[8,6] has 2 dimensions"}},
      {"two meshes in one call",
       [=] {
         (void)jit([](const Array& v, const Array& w) { return v * w; })(
             device_put(a, NamedSharding(m, {"x"})), device_put(a, NamedSharding(other, {"a"})));
       },
       {"different meshes", "f32[8,6]", "P('x',)", "P('a',)", "Mesh('a': 8"}},
      {"a constraint over another mesh",
       [=] {
         (void)jit([=](const Array& v) {
           return lax::with_sharding_constraint(v, NamedSharding(other, {"a"}));
         })(device_put(a, NamedSharding(m, {"x"})));
       },
       {"\"a\"=8", "\"x\"=2, \"y\"=4"}},
      {"a shard_map over another mesh within one",
       [=] {
         const auto inner = shard_map(part, {.mesh = other, .in_specs = P(), .out_specs = P()});
         (void)shard_map(inner, {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}})(a);
       },
       {"Mesh('a': 8", "is not that of the shard_map around", "Mesh('x': 2, 'y': 4"}},
      {"psum outside of a mesh",
       [=] { (void)lax::psum(a, "x"); },
       {"psum", "of f32[8,6]", "unbound axis name: x", "none is", "shard_map"}},
      {"all_gather outside of a mesh",
       [=] { (void)lax::all_gather(a, "x"); },
       {"all_gather", "of f32[8,6]", "unbound axis name: x", "shard_map"}},
      {"all_to_all outside of a mesh",
       [=] { (void)lax::all_to_all(a, "x", 0, 0, {.tiled = true}); },
       {"all_to_all", "of f32[8,6]", "unbound axis name: x", "shard_map"}},
      {"ppermute outside of a mesh",
       [=] { (void)lax::ppermute(a, "x", {{0, 1}}); },
       {"ppermute", "of f32[8,6]", "unbound axis name: x", "shard_map"}},
      {"psum_scatter outside of a mesh",
       [=] { (void)lax::psum_scatter(a, "x", {.tiled = true}); },
       {"psum_scatter", "of f32[8,6]", "unbound axis name: x", "shard_map"}},
      {"axis_index outside of a mesh",
       [] { (void)lax::axis_index("x"); },
       {"axis_index", "unbound axis name: x", "shard_map"}},
      {"a collective over an axis of another mesh",
       [=] {
         (void)shard_map([](const Array& v) { return lax::psum(v, "a"); },
                         {.mesh = m, .in_specs = P{"x"}, .out_specs = P()})(a);
       },
       {"of f32[4,6]", "unbound axis name: a. Bound here: x, y"}},
      {"a result that varies",
       mapped({"x"}, {}),
       {"result 0 (f32[4,6] on each device) varies along the mesh axis x", "P()", "psum"}},
      {"a result that varies along another axis",
       mapped({"x"}, {"y"}),
       {"varies along the mesh axis x", "P('y',)"}},
      {"a gathered result that is not known to be the same",
       [=] {
         (void)shard_map([](const Array& v) { return lax::all_gather(v, "x", {.tiled = true}); },
                         {.mesh = m, .in_specs = P{"x"}, .out_specs = P()})(a);
       },
       {"result 0 (f32[8,6] on each device) varies along the mesh axis x", "P()"}},
  };
}

TEST(MeshMistakes, AreToldWithSpecsAndShapes) {
  cpu_devices(8);
  for (const Mistake& each : mistakes()) {
    SCOPED_TRACE(each.what);
    const std::string message = message_of(each.made);
    for (const std::string& text : each.told) EXPECT_THAT(message, HasSubstr(text));
    // A sharding is a value of its own, which knows no line.
    if (!message.starts_with("NamedSharding")) {
      EXPECT_THAT(message, HasSubstr("mesh_mistakes_test.cc"));
    }
  }
}

}  // namespace
}  // namespace strata
