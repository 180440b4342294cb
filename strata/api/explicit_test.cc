// Explicit mode beside what the goldens of JAX say (explicit_golden_test.cc): transforms, loops,
// regions of another mode, mixed meshes, and what mistakes are told.
#include "strata/api/sharding/explicit.h"

#include <gtest/gtest.h>

#include "strata/api/sharding/explicit_testing.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

class Explicit : public testing::ExplicitMesh {};

TEST_F(Explicit, EagerResultsAreBoundWhereTheirTypeSays) {
  const Array a = at({8, 16}, {"x", nullptr}), b = at({16, 4}, {nullptr, "y"});
  const Array c = matmul(a, b);
  EXPECT_EQ(spec(c), "P('x', 'y')");
  EXPECT_EQ(named_sharding(c).spec().to_string(), "P('x', 'y')");
  EXPECT_EQ(c.to_vector<float>(), matmul(some({8, 16}), some({16, 4})).to_vector<float>());
  EXPECT_EQ(spec((a + 1.0f).T()), "P(None, 'x')");
}

TEST_F(Explicit, ReshardMovesAndItsCotangentLiesAsItsArgument) {
  const Array a = at({8, 16}, {"x", nullptr});
  EXPECT_EQ(spec(reshard(a, P{nullptr, "x"})), "P(None, 'x')");
  auto f = [](const Array& v) { return (reshard(v, P{"y", nullptr}) * v.sum()).sum(); };
  std::string inside;
  const Array g = jit([&](const Array& v) {
    const Array out = grad(f)(v);
    inside = spec(out);
    return out;
  })(at({8, 16}, {}));
  EXPECT_EQ(inside, "P(None, None)");
  EXPECT_EQ(spec(grad([](const Array& v) { return (reshard(v, P{nullptr, "x"}) * 3).sum(); })(a)),
            "P('x', None)");
  EXPECT_EQ(
      g.to_vector<float>(),
      grad([](const Array& v) { return (v * v.sum()).sum(); })(some({8, 16})).to_vector<float>());
}

TEST_F(Explicit, OutShardingChoosesWhereTracingWouldNot) {
  const Array a = at({8, 16}, {nullptr, "x"}), b = at({16, 4}, {"x", nullptr});
  const std::string said = message_of([&] { (void)matmul(a, b); });
  EXPECT_THAT(said, HasSubstr("dot_general"));
  EXPECT_THAT(said, HasSubstr("f32[8,16] P(None, 'x') and f32[16,4] P('x', None)"));
  EXPECT_THAT(said, HasSubstr("ambiguous"));
  EXPECT_THAT(said, HasSubstr("OutSharding"));
  const std::vector<float> whole = matmul(some({8, 16}), some({16, 4})).to_vector<float>();
  for (const PartitionSpec& out : {P{"x", nullptr}, P{nullptr, nullptr}, P{"y", "x"}}) {
    EXPECT_EQ(spec(matmul(a, b, OutSharding(out))), out.to_string());
    const Array y = jit([&](const Array& p, const Array& q) {
      return einsum("ij,jk->ik", {p, q}, OutSharding(out));
    })(a, b);
    EXPECT_EQ(spec(y), out.to_string());
    EXPECT_EQ(y.to_vector<float>(), whole);
  }
  EXPECT_EQ(spec(dot(a, b, OutSharding(P{"x", nullptr}))), "P('x', None)");
  EXPECT_EQ(spec(reshape(a, {4, 32}, OutSharding(P{"x", "y"}))), "P('x', 'y')");
  EXPECT_EQ(spec(broadcast_to(a, {2, 8, 16}, OutSharding(P{"y", nullptr, "x"}))),
            "P('y', None, 'x')");
  EXPECT_EQ(spec(sum(a, 1, OutSharding(P{"x"}))), "P('x',)");
  const Array rows = device_put(array({1, 3, 5, 7}), NamedSharding(mesh, {"x"}));
  EXPECT_EQ(spec(take(b, rows, 0, OutSharding(P{"x", nullptr}))), "P('x', None)");
}

TEST_F(Explicit, OutShardingOfIndicesGroupsAndNewArrays) {
  const Array b = at({16, 4}, {"x", nullptr});
  const Array rows = device_put(array({1, 3, 5, 7}), NamedSharding(mesh, {"x"}));
  EXPECT_THAT(message_of([&] { (void)b[{rows}]; }), HasSubstr("OutSharding"));
  const auto chosen = [&](const Array& x, const Array& i) {
    return get(x, {i, slice(0, 2)}, OutSharding(P{"x", nullptr}));
  };
  for (const Array& y : {chosen(b, rows), jit(chosen)(b, rows)}) {
    EXPECT_EQ(spec(y), "P('x', None)");
    EXPECT_EQ(y.to_vector<float>(),
              (some({16, 4})[{array({1, 3, 5, 7}), slice(0, 2)}].to_vector<float>()));
  }
  const Array sizes = array({6, 10}), weights = some({2, 4, 8});
  const auto grouped = [&](const Array& x, const Array& w) {
    return ragged_dot(x, w, sizes, OutSharding(P{"x", "y"}));
  };
  const Array w = device_put(weights, NamedSharding(mesh, {nullptr, nullptr, "y"}));
  const Array y = jit(grouped)(b, w);
  EXPECT_EQ(spec(y), "P('x', 'y')");
  EXPECT_EQ(y.to_vector<float>(),
            lax::ragged_dot(some({16, 4}), weights, sizes).to_vector<float>());

  EXPECT_THAT(message_of([&] { (void)zeros({8, 4}, float32, OutSharding(P{"x"})); }),
              HasSubstr("set_mesh"));
  const set_mesh scope(mesh);
  const auto made = [](const PartitionSpec& p) {
    const OutSharding out(p);
    return std::vector<Array>{zeros({8, 4}, float32, out), ones({8, 4}, float32, out),
                              full({8, 4}, 2.f, {}, out), eye(8, 4, out)};
  };
  for (const Array& x : made(P{"x", "y"})) EXPECT_EQ(spec(x), "P('x', 'y')");
  EXPECT_EQ(spec(arange(8, int32, OutSharding(P{"x"}))), "P('x',)");
  const auto inside = jit([&](const Array& x) { return x + made(P{"x", nullptr})[1]; });
  EXPECT_EQ(spec(inside(device_put(ones({8, 4}), NamedSharding(mesh, {"x", nullptr})))),
            "P('x', None)");
}

TEST_F(Explicit, ATrainingStepIsThatOfOneDevice) {
  auto step = [](const Array& w, const Array& x) {
    auto loss = [&](const Array& v) {
      auto layer = [](Array h, Array m) { return std::pair(tanh(matmul(h, m)), nullptr); };
      return scan(layer, x, v).first.sum();
    };
    return w - 0.1f * grad(loss)(w);
  };
  const Array w = some({3, 8, 8}) * 0.1f, x = some({16, 8});
  const Array alone = step(w, x);
  // Data parallel: rows over x, weights whole.
  const Array placed = jit(step)(device_put(w, NamedSharding(mesh, P())),
                                 device_put(x, NamedSharding(mesh, {"x", nullptr})));
  EXPECT_EQ(spec(placed), "P(None, None, None)");
  EXPECT_TRUE(numpy::allclose(placed, alone, {.rtol = 1e-5, .atol = 1e-6}).item<bool>());
}

TEST_F(Explicit, LoopsKeepTheirCarries) {
  const Array a = at({8, 8}, {"x", nullptr});
  const std::string said = message_of([&] {
    (void)scan([](Array c, std::nullptr_t) { return std::pair(c.T(), nullptr); }, a, nullptr,
               {.length = 2});
  });
  EXPECT_THAT(said, HasSubstr("f32[8,8], lies as P('x', None) before a step and as P(None, 'x')"));
  auto back = [](Array c, std::nullptr_t) {
    return std::pair(reshard(c.T(), P{"x", nullptr}), nullptr);
  };
  EXPECT_EQ(spec(scan(back, a, nullptr, {.length = 2}).first), "P('x', None)");
}

TEST_F(Explicit, AutoAxesLeaveARegionToTheCompiler) {
  const Array a = at({8, 16}, {nullptr, "x"}), b = at({16, 4}, {"x", nullptr});
  auto f = auto_axes(
      [](const Array& p, const Array& q) {
        EXPECT_FALSE(has_sharding_in_type(p));
        return tanh(matmul(p, q) * 0.1f);
      },
      {.out_sharding = P{"x", "y"}});
  EXPECT_EQ(spec(f(a, b)), "P('x', 'y')");
  EXPECT_EQ(spec(jit(f)(a, b)), "P('x', 'y')");
  EXPECT_EQ(spec(grad([&](const Array& p) { return f(p, b).sum(); })(a)), "P(None, 'x')");
}

TEST_F(Explicit, ExplicitAxesTypeARegion) {
  const Mesh loose = make_mesh({{"x", 4}, {"y", 2}});
  const Array a = device_put(some({8, 16}), NamedSharding(loose, {"x", nullptr}));
  EXPECT_FALSE(has_sharding_in_type(a));
  auto f = explicit_axes(
      [](const Array& p) {
        EXPECT_EQ(spec(p), "P('x', 'y')");
        EXPECT_EQ(spec(p.T()), "P('y', 'x')");
        return p.T() * 2;
      },
      {.in_sharding = P{"x", "y"}});
  set_mesh scope(loose);
  const Array y = jit(f)(a);
  EXPECT_EQ(y.to_vector<float>(), (some({8, 16}).T() * 2).to_vector<float>());
}

TEST_F(Explicit, MixedMeshesTypeTheirExplicitAxes) {
  const Mesh mixed = make_mesh({{"x", 4, AxisType::Explicit}, {"y", 2}});
  const Array a = device_put(some({8, 16}), NamedSharding(mixed, {"x", "y"}));
  EXPECT_EQ(spec(a), "P('x', None)");
  const Array b = jit([](const Array& v) {
    EXPECT_EQ(spec(v * 2), "P('x', None)");
    return v * 2 + 1;
  })(a);
  EXPECT_EQ(b.to_vector<float>(), (some({8, 16}) * 2 + 1).to_vector<float>());
  EXPECT_THAT(message_of([&] { (void)reshard(a, P{"y", nullptr}); }),
              HasSubstr("names the axis y, which is Auto"));
}

TEST_F(Explicit, ShardMapTakesArgumentsAsTheirTypesSay) {
  const Array a = at({8, 16}, {"x", nullptr});
  auto doubled =
      shard_map([](const Array& part) { return part * 2; },
                {.mesh = mesh, .in_specs = P{"x", nullptr}, .out_specs = P{"x", nullptr}});
  const Array y = doubled(a);
  EXPECT_EQ(spec(y), "P('x', None)");
  EXPECT_EQ(y.to_vector<float>(), (some({8, 16}) * 2).to_vector<float>());
  auto other = shard_map([](const Array& part) { return part * 2; },
                         {.mesh = mesh, .in_specs = P{nullptr, "x"}, .out_specs = P{nullptr, "x"}});
  EXPECT_THAT(message_of([&] { (void)other(a); }),
              HasSubstr("lies as P('x', None) by its type, and its spec in in_specs is "
                        "P(None, 'x')"));
}

TEST_F(Explicit, SetMeshIsTheMeshOfSpecs) {
  EXPECT_THAT(message_of([&] { (void)reshard(ones({8, 2}), P{"x"}); }), HasSubstr("set_mesh"));
  set_mesh scope(mesh);
  const Array x = jit([] { return reshard(ones({8, 2}) * 3, P{"x", nullptr}); })();
  EXPECT_EQ(spec(x), "P('x', None)");
  EXPECT_EQ(spec(reshard(ones({8, 2}), P{nullptr, "y"})), "P(None, 'y')");
}

TEST_F(Explicit, MistakesNameOperationTypesAndSpecs) {
  const Array a = at({8, 16}, {"x", nullptr}), b = at({8, 16}, {"y", nullptr});
  EXPECT_THAT(message_of([&] { (void)(a + b); }),
              HasSubstr("add: f32[8,16] P('x', None) and f32[8,16] P('y', None): dimensions "
                        "that belong together are cut over x and y; move an operand "
                        "first (reshard)"));
  EXPECT_THAT(message_of([&] { (void)(a + at({8, 16}, {nullptr, "x"})); }),
              HasSubstr("the axis x would cut two dimensions of the result, P('x', 'x')"));
  EXPECT_THAT(message_of([&] { (void)a.reshape(32, 4); }), HasSubstr("into f32[32,4]"));
  EXPECT_THAT(message_of([&] { (void)lax::sort(a, 0); }), HasSubstr("must be whole"));
  EXPECT_THAT(message_of([&] { (void)lax::slice(a, {0, 0}, {3, 16}); }),
              HasSubstr("dimension 0 becomes 3, which the 4 devices of x do not divide"));
  EXPECT_THAT(message_of([&] { (void)reshard(a, P{nullptr, {"x", "x"}}); }), HasSubstr("x"));
  EXPECT_THAT(message_of([&] { (void)reshard(at({6, 4}, {}), P{"x"}); }),
              HasSubstr("f32[6,4] as P('x',)"));
  EXPECT_THAT(message_of([&] {
                (void)jit([&](const Array& v) {
                  return lax::with_sharding_constraint(v * 2, NamedSharding(mesh, {"y", nullptr}));
                })(a);
              }),
              HasSubstr("lies as P('x', None), not as P('y', None)"));
  const Mesh other = make_mesh({{"x", 2, AxisType::Explicit}, {"z", 4, AxisType::Explicit}});
  const Array c = device_put(some({8, 16}), NamedSharding(other, {"x", nullptr}));
  EXPECT_THAT(message_of([&] { (void)(a + c); }), HasSubstr("'z': 4"));
}

}  // namespace
}  // namespace strata
