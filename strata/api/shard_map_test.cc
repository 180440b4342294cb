// Programs written for one device, on meshes of 2, 4, 2 x 2 and 8: as the whole
// computation, and as JAX.
#include "strata/api/sharding/shard_map.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "strata/api/testing.h"
#include "strata/api/transform/stages.h"
#include "strata/ir/text/parser.h"
#include "strata/partition/program.h"

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;

Mesh mesh_2x4() {
  cpu_devices(8);
  return make_mesh({{"x", 2}, {"y", 4}});
}
std::vector<Mesh> meshes() {
  cpu_devices(8);
  return {make_mesh({{"x", 2}}), make_mesh({{"x", 4}}), make_mesh({{"y", 2}, {"x", 2}}),
          make_mesh({{"x", 8}})};
}

/// tools/goldens/shard_map.py: `filled`.
Array filled(const std::vector<std::int64_t>& shape, std::int64_t number) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<float>((i * 7919 + number * 104729) % 1009) / 1009.f - 0.5f);
  return array(out, Sizes(shape));
}

void expect_near(const Array& got, const Array& want, double tolerance = 2e-6) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
}

// ---- as JAX
// ------------------------------------------------------------------------------------

/// Lines "case result0 4x2 values" by "case result0".
std::map<std::string, Array> read_goldens() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "goldens/shard_map.txt");
  std::map<std::string, Array> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, what, shape;
    words >> name >> what >> shape;
    std::vector<std::int64_t> sizes;
    if (shape != "-") {
      std::istringstream numbers(shape);
      for (std::string n; std::getline(numbers, n, 'x');) sizes.push_back(std::stoll(n));
    }
    std::vector<float> values;
    for (float v = 0; words >> v;) values.push_back(v);
    out[name + " " + what] = array(values, Sizes(sizes));
  }
  return out;
}
const Array& golden(const std::string& key) {
  static const std::map<std::string, Array> all = read_goldens();
  const auto it = all.find(key);
  if (it == all.end()) throw Error("golden", "there is no {}", key);
  return it->second;
}

template <class Results>
Array sum_of_sines(const Results& results) {
  Array out = Array(0.f);
  tree::for_each(results, [&](const Array& r) { out = out + numpy::sum(numpy::sin(r)); });
  return out;
}

/// f's results and gradients beside JAX's, at once and under jit; of two
/// arguments or one.
template <int arguments, class F>
void expect_as_jax(const std::string& name, const F& f,
                   const std::vector<std::vector<std::int64_t>>& shapes) {
  SCOPED_TRACE(name);
  const auto check = [&](const char* what, const auto& tree) {
    int number = 0;
    tree::for_each(tree, [&](const Array& x) {
      SCOPED_TRACE(what + std::to_string(number));
      expect_near(device_get(x), golden(fmt::format("{} {}{}", name, what, number++)));
    });
  };
  if constexpr (arguments == 1) {
    const auto loss = [&](const Array& a) { return sum_of_sines(f(a)); };
    const Array a = filled(shapes[0], 0);
    check("result", f(a));
    check("result", jit([&](const Array& x) { return f(x); })(a));
    if (name != "nested") check("gradient", jit(grad(loss))(a));
  } else {
    const auto loss = [&](const std::pair<Array, Array>& p) {
      return sum_of_sines(f(p.first, p.second));
    };
    const std::pair p(filled(shapes[0], 0), filled(shapes[1], 1));
    check("result", f(p.first, p.second));
    check("result",
          jit([&](const Array& x, const Array& w) { return f(x, w); })(p.first, p.second));
    check("gradient", jit(grad(loss))(p));
  }
}

TEST(ShardMap, IsAsJaxsWithCollectives) {
  const Mesh m = mesh_2x4();
  const auto contraction =
      shard_map([](const Array& x, const Array& w) { return lax::psum(numpy::matmul(x, w), "y"); },
                {.mesh = m, .in_specs = {P{"x", "y"}, P{"y"}}, .out_specs = P{"x"}});
  expect_as_jax<2>("contraction", contraction, {{4, 8}, {8, 6}});
  expect_as_jax<1>("ring",
                   shard_map(
                       [](const Array& x) {
                         const Array i = lax::axis_index("y").astype(x.dtype());
                         return numpy::sin(
                             lax::ppermute(x, "y", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}) * (i + 1) + x);
                       },
                       {.mesh = m, .in_specs = P{{"x", "y"}}, .out_specs = P{{"x", "y"}}}),
                   {{8, 3}});
  expect_as_jax<1>(
      "shifted",
      shard_map(
          [](const Array& x) { return lax::ppermute(x, "y", {{0, 1}, {1, 2}, {3, 0}}) + x * x; },
          {.mesh = m, .in_specs = P{"x", "y"}, .out_specs = P{"x", "y"}}),
      {{4, 4}});
  expect_as_jax<2>("gather_and_scatter",
                   shard_map(
                       [](const Array& x, const Array& w) {
                         const Array g = lax::all_gather(x, "y", {.tiled = true});
                         return lax::psum_scatter(numpy::tanh(g) * numpy::sum(w), "y",
                                                  {.scatter_dimension = 0, .tiled = true});
                       },
                       {.mesh = m, .in_specs = {P{"y"}, P{"y"}}, .out_specs = P{"y"}}),
                   {{8, 4}, {8, 4}});
  expect_as_jax<1>("exchanged",
                   shard_map(
                       [](const Array& x) {
                         const Array y = lax::all_to_all(x, "y", 1, 0, {.tiled = true});
                         return lax::pmean(numpy::cos(y) * y, "y");
                       },
                       {.mesh = m, .in_specs = P{"y", "x"}, .out_specs = P{nullptr, "x"}}),
                   {{8, 8, 2}});
  expect_as_jax<1>("softmax",
                   shard_map(
                       [](const Array& x) {
                         const Array most = lax::pmax(
                             numpy::max(lax::stop_gradient(x), {.axis = 1, .keepdims = true}), "y");
                         const Array e = numpy::exp(x - most);
                         return e / lax::psum(numpy::sum(e, {.axis = 1, .keepdims = true}), "y");
                       },
                       {.mesh = m, .in_specs = P{"x", "y"}, .out_specs = P{"x", "y"}}),
                   {{2, 16}});
}

TEST(ShardMap, IsAsJaxsWithLoopsAxesOfItsOwnAndTrees) {
  const Mesh m = mesh_2x4();
  expect_as_jax<2>(
      "layers",
      shard_map(
          [](const Array& x, const Array& ws) {
            const auto [y, none] = scan(
                [](const Array& c, const Array& w) {
                  return std::pair(numpy::sin(lax::all_gather(numpy::matmul(c, w), "y",
                                                              {.axis = 1, .tiled = true})),
                                   Array(0.f));
                },
                x, ws);
            return lax::dynamic_slice_in_dim(y, lax::axis_index("y"), 1, 1);
          },
          {.mesh = m, .in_specs = {P{"x"}, P{nullptr, nullptr, "y"}}, .out_specs = P{"x", "y"}}),
      {{8, 4}, {3, 4, 4}});
  expect_as_jax<1>(
      "partly",
      shard_map(
          [](const Array& x) { return x - lax::pmean(numpy::mean(x), "x") * numpy::cumsum(x, 1); },
          {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"x"}}),
      {{4, 8}});
  expect_as_jax<1>(
      "nested",
      shard_map(
          [](const Array& x) {
            const auto inner = shard_map(
                [](const Array& a) { return a * lax::psum(numpy::sin(a), {"x", "y"}); },
                {.in_specs = P{nullptr, "y"}, .out_specs = P{nullptr, "y"}, .axis_names = {"y"}});
            return inner(x) + x;
          },
          {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"x"}}),
      {{4, 8}});
  expect_as_jax<2>("copies",
                   shard_map(
                       [](const Array& x, const Array& w) {
                         const Array least = lax::pmin(lax::stop_gradient(x), {"x", "y"});
                         return std::pair(x * w[lax::axis_index("y")],
                                          numpy::sum(least) + numpy::sum(w));
                       },
                       {.mesh = m, .in_specs = {P{"y"}, P()}, .out_specs = {P{"y"}, P()}}),
                   {{8}, {4}});
  expect_as_jax<2>("mapped",
                   pmap(
                       [](const Array& x, const Array& w) {
                         return (x - lax::pmean(numpy::matmul(x, w), "i")) * lax::axis_index("i");
                       },
                       {.axis_name = "i", .in_axes = {0, std::nullopt}}),
                   {{8, 3, 2}, {2, 2}});
  const auto contraction =
      shard_map([](const Array& x, const Array& w) { return lax::psum(numpy::matmul(x, w), "y"); },
                {.mesh = m, .in_specs = {P{"x", "y"}, P{"y"}}, .out_specs = P{"x"}});
  expect_near(device_get(vmap(contraction)(filled({3, 4, 8}, 0), filled({3, 8, 6}, 1))),
              golden("vmapped_contraction result0"));
}

// ---- as the whole
// ------------------------------------------------------------------------------

/// Of a function of one argument and its twin for parts of rows over x.
struct Law {
  const char* name;
  std::function<Array(const Array&)> whole;
  std::function<Array(const Array&)> part;
  PartitionSpec out;
};

std::vector<Law> laws() {
  return {
      {"elementwise", [](const Array& a) { return numpy::tanh(a) * a; },
       [](const Array& a) { return numpy::tanh(a) * a; }, P{"x"}},
      {"psum", [](const Array& a) { return numpy::sum(a * a, 0); },
       [](const Array& a) { return lax::psum(numpy::sum(a * a, 0), "x"); }, P()},
      {"all_gather", [](const Array& a) { return numpy::matmul(a, numpy::transpose(a)); },
       [](const Array& a) {
         return numpy::matmul(a, numpy::transpose(lax::all_gather(a, "x", {.tiled = true})));
       },
       P{"x"}},
      {"psum_scatter", [](const Array& a) { return numpy::matmul(numpy::transpose(a), a); },
       [](const Array& a) {
         return lax::psum_scatter(numpy::matmul(numpy::transpose(a), a), "x", {.tiled = true});
       },
       P{"x"}},
      {"all_to_all", [](const Array& a) { return numpy::cumsum(numpy::sin(a), 0); },
       [](const Array& a) {
         const Array columns = lax::all_to_all(numpy::sin(a), "x", 1, 0, {.tiled = true});
         return lax::all_to_all(numpy::cumsum(columns, 0), "x", 0, 1, {.tiled = true});
       },
       P{"x"}},
      {"ppermute", [](const Array& a) { return numpy::roll(a, 1, 0) * a; },
       [](const Array& a) {
         const std::int64_t n = lax::axis_size("x");
         std::vector<std::pair<std::int64_t, std::int64_t>> ring;
         for (std::int64_t i = 0; i < n; ++i) ring.emplace_back(i, (i + 1) % n);
         const Array last = lax::ppermute(a[slice(-1, none)], "x", ring);
         return numpy::concatenate({last, a[slice(-1)]}, 0) * a;
       },
       P{"x"}},
      {"axis_index",
       [](const Array& a) {
         return a * numpy::reshape(numpy::arange(a.shape()[0]), {-1, 1}).astype(a.dtype());
       },
       [](const Array& a) {
         const Array row = numpy::arange(a.shape()[0]) + lax::axis_index("x") * Array(a.shape()[0]);
         return a * numpy::reshape(row, {-1, 1}).astype(a.dtype());
       },
       P{"x"}},
  };
}

TEST(ShardMap, IsTheWholeComputationOnEveryMesh) {
  const Array a = filled({8, 8}, 3), batch = filled({2, 8, 8}, 5);
  for (const Mesh& m : meshes())
    for (const Law& law : laws()) {
      SCOPED_TRACE(fmt::format("{} over {}", law.name, m.to_string()));
      const auto mapped = shard_map([&](const Array& x) { return law.part(x); },
                                    {.mesh = m, .in_specs = P{"x"}, .out_specs = law.out});
      const auto whole = [&](const Array& x) { return law.whole(x); };
      const Array got = mapped(a);
      EXPECT_EQ(named_sharding(got).mesh(), m);
      expect_near(device_get(got), whole(a), 1e-5);
      const auto loss = [](const auto& f) {
        return [&f](const Array& x) { return numpy::sum(numpy::sin(f(x))); };
      };
      expect_near(device_get(jit(grad(loss(mapped)))(a)), jit(grad(loss(whole)))(a), 1e-5);
      expect_near(device_get(jit(vmap(mapped))(batch)), jit(vmap(whole))(batch), 1e-5);
      // Second derivatives along a direction.
      const auto twice = [&](const auto& f) {
        return jit([&](const Array& x) {
          return grad([&](const Array& y) { return numpy::sum(grad(loss(f))(y) * batch[0]); })(x);
        });
      };
      expect_near(device_get(twice(mapped)(a)), twice(whole)(a), 1e-4);
    }
}

TEST(ShardMap, GivesTheSameBitsAsOneDeviceWhereNothingIsAdded) {
  const Mesh m = mesh_2x4();
  const Array a = filled({8, 16}, 1);
  const auto f = [](const Array& x) { return numpy::sort(numpy::exp(x) * 3.f, 1); };
  const Array got =
      shard_map(f, {.mesh = m, .in_specs = P{{"y", "x"}}, .out_specs = P{{"y", "x"}}})(a);
  EXPECT_EQ(got.to_vector<float>(), f(a).to_vector<float>());
  EXPECT_EQ(named_sharding(got).spec(), (P{{"y", "x"}}));
  EXPECT_EQ(addressable_shards(got)[0].data.shape(), Shape::of({1, 16}));
}

TEST(ShardMap, TakesWhatIsCapturedAndLiesOnTheMesh) {
  const Mesh m = mesh_2x4();
  const Array x = device_put(filled({8, 4}, 0), NamedSharding(m, {nullptr, "y"})),
              w = filled({4, 4}, 1);
  const auto f = shard_map([&](const Array& rows) { return numpy::matmul(rows, w); },
                           {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}});
  expect_near(device_get(f(x)), numpy::matmul(device_get(x), w));
  // Without arguments: each device says where it stands.
  const auto places = shard_map([] { return numpy::reshape(lax::axis_index({"x", "y"}), {1}); },
                                {.mesh = m, .in_specs = {}, .out_specs = P{{"x", "y"}}});
  EXPECT_EQ(places().to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  // Other devices than the first ones.
  const Mesh last({{"x", 2}}, {6, 7});
  const Array there = shard_map([](const Array& a) { return a * 2; },
                                {.mesh = last, .in_specs = P{"x"}, .out_specs = P{"x"}})(w);
  EXPECT_EQ(there.devices()[0].id(), 6);
}

TEST(ShardMap, WithoutTheCheckTakesTheFirstCopy) {
  const Mesh m = mesh_2x4();
  const ShardMap options{.mesh = m, .in_specs = P{"y"}, .out_specs = P(), .check_vma = false};
  const Array x = filled({8}, 0);
  EXPECT_EQ(shard_map([](const Array& a) { return a; }, options)(x).to_vector<float>(),
            x[slice(2)].to_vector<float>());
  // Copies that are equal have the gradient of the whole.
  const auto equal = shard_map([](const Array& a) { return lax::psum(a, "y"); }, options);
  const Array g = jit(grad([&](const Array& a) { return numpy::sum(numpy::sin(equal(a))); }))(x);
  const Array want = numpy::cos(numpy::sum(numpy::reshape(x, {4, 2}), 0));
  expect_near(device_get(g), numpy::tile(want, 4));
}

// ---- mistakes
// ----------------------------------------------------------------------------------

TEST(ShardMap, SaysWhatDoesNotFit) {
  const Mesh m = mesh_2x4();
  const auto same = [](const Array& a) { return a; };
  const auto said = [&](ShardMap options, const Array& x) {
    options.mesh = options.mesh.is_placeholder() ? m : options.mesh;
    return message_of([&] { (void)shard_map(same, options)(x); });
  };
  const Array x = filled({8, 4}, 0);
  EXPECT_THAT(said({.in_specs = P{"z"}, .out_specs = P()}, x),
              AllOf(HasSubstr("P('z',) of argument 0 names the axis z"), HasSubstr("'x': 2")));
  EXPECT_THAT(said({.in_specs = P{"x", "x"}, .out_specs = P()}, x),
              HasSubstr("names the axis x twice"));
  EXPECT_THAT(said({.in_specs = P{nullptr, {"x", "y"}}, .out_specs = P()}, x),
              AllOf(HasSubstr("dimension 1 of argument 0 (f32[8,4]) has size 4"),
                    HasSubstr("8 devices along x, y")));
  EXPECT_THAT(said({.in_specs = P{"x", nullptr, nullptr}, .out_specs = P()}, x),
              HasSubstr("2 dimensions, but its spec P('x', None, None) has 3 entries"));
  EXPECT_THAT(said({.in_specs = P{"x"}, .out_specs = P()}, x),
              AllOf(HasSubstr("result 0 (f32[4,4] on each device) varies along "
                              "the mesh axis x"),
                    HasSubstr("P()"), HasSubstr("lax::psum")));
  EXPECT_THAT(said({.in_specs = P{"x"}, .out_specs = P{"y"}}, x), HasSubstr("varies"));
  EXPECT_THAT(said({.in_specs = {P{"x"}, P()}, .out_specs = P{"x"}}, x),
              HasSubstr("in_specs has 2 specs for 1 arguments"));
  EXPECT_THAT(said({.in_specs = P{"x"}, .out_specs = {P{"x"}, P()}}, x),
              HasSubstr("out_specs has 2 specs for 1 arrays"));
  EXPECT_THAT(said({.in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"y"}}, x),
              HasSubstr("names the axis x, which is not among axis_names"));
  EXPECT_THAT(said({.in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"w"}}, x),
              HasSubstr("axis_names holds w"));
  EXPECT_THAT(
      message_of([&] { (void)shard_map(same, {.in_specs = P{"x"}, .out_specs = P{"x"}})(x); }),
      HasSubstr("no mesh is given"));
  EXPECT_THAT(message_of([&] { (void)lax::psum(x, "x"); }), HasSubstr("unbound axis name: x"));
  EXPECT_THAT(message_of([&] {
                (void)shard_map([](const Array& a) { return lax::psum(a, "w"); },
                                {.mesh = m, .in_specs = P{"x"}, .out_specs = P()})(x);
              }),
              AllOf(HasSubstr("unbound axis name: w"), HasSubstr("x, y")));
  EXPECT_THAT(message_of([&] {
                (void)shard_map(
                    [&](const Array& a) {
                      return lax::with_sharding_constraint(a, NamedSharding(m, {"x", nullptr}));
                    },
                    {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}})(x);
              }),
              HasSubstr("names the axis x, over which"));
}

TEST(ShardMap, NestedOnesTakeTheAxesThatAreLeft) {
  const Mesh m = mesh_2x4();
  const Array x = filled({8, 4}, 0);
  const auto around = [&](auto inner) {
    return message_of([&] {
      (void)shard_map(inner,
                      {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"x"}})(x);
    });
  };
  const auto same = [](const Array& a) { return a; };
  EXPECT_THAT(around(shard_map(same, {.in_specs = P{"x"}, .out_specs = P{"x"}})),
              HasSubstr("a shard_map around this one has bound already"));
  EXPECT_THAT(around(shard_map(same, {.in_specs = P(), .out_specs = P(), .axis_names = {"x"}})),
              HasSubstr("axis_names holds x, which a shard_map around"));
  EXPECT_THAT(
      around(shard_map(same, {.mesh = Mesh({{"y", 2}}), .in_specs = P(), .out_specs = P()})),
      HasSubstr("is not that of the shard_map around"));
}

TEST(ShardMap, NestedOnesHaveTheGradientOfTheWhole) {
  const Mesh m = mesh_2x4();
  const Array x = filled({4, 8}, 0);
  const auto inner =
      shard_map([](const Array& a) { return a * lax::psum(numpy::sin(a), {"x", "y"}); },
                {.in_specs = P{nullptr, "y"}, .out_specs = P{nullptr, "y"}, .axis_names = {"y"}});
  const auto nested =
      shard_map([&](const Array& a) { return inner(a) + a; },
                {.mesh = m, .in_specs = P{"x"}, .out_specs = P{"x"}, .axis_names = {"x"}});
  const auto whole = [](const Array& a) {
    const Array parts = numpy::reshape(numpy::sin(a), {2, 2, 4, 2});
    return a * numpy::tile(numpy::sum(parts, {0, 2}), {2, 4}) + a;
  };
  const auto loss = [](const auto& f) {
    return [&f](const Array& a) { return numpy::sum(numpy::cos(f(a))); };
  };
  expect_near(device_get(nested(x)), whole(x));
  expect_near(device_get(jit(grad(loss(nested)))(x)), jit(grad(loss(whole)))(x));
}

TEST(ShardMap, BecomesCollectives) {
  const Mesh m = mesh_2x4();
  const auto collectives = [&](auto f, const PartitionSpec& in, const PartitionSpec& out) {
    const std::string text = jit(shard_map(f, {.mesh = m, .in_specs = in, .out_specs = out}))
                                 .lower(filled({8, 8}, 0))
                                 .as_text();
    auto module = ir::parse(text, "program");
    if (!module) throw Error("test", "{}", module.status().message());
    spmd::normalize(**module);
    return spmd::partition_program(*(*module)->entry(), **module).explanation;
  };
  EXPECT_THAT(collectives([](const Array& x) { return lax::psum(x, "y"); }, P{"y"}, P()),
              HasSubstr("all_reduce over y"));
  EXPECT_THAT(collectives([](const Array& x) { return lax::psum_scatter(x, "y", {.tiled = true}); },
                          P{nullptr, "y"}, P{"y"}),
              HasSubstr("reduce_scatter over y"));
  EXPECT_THAT(
      collectives([](const Array& x) { return lax::all_to_all(x, "y", 1, 0, {.tiled = true}); },
                  P{"y"}, P{nullptr, "y"}),
      HasSubstr("all_to_all over y"));
  EXPECT_THAT(
      collectives(
          [](const Array& x) { return numpy::matmul(x, lax::all_gather(x, "y", {.tiled = true})); },
          P{"y"}, P{"y"}),
      HasSubstr("all_gather over y"));
  const auto ring = [](const Array& x) {
    return lax::ppermute(x, "y", {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  };
  EXPECT_THAT(collectives(ring, P{"y"}, P{"y"}),
              AllOf(HasSubstr("permute over y"), Not(HasSubstr("all_gather"))));
  const auto swaps = [](const Array& x) { return lax::ppermute(x, "y", {{0, 3}, {3, 0}, {1, 2}}); };
  EXPECT_THAT(collectives(swaps, P{"y"}, P{"y"}),
              AllOf(HasSubstr("permute over y"), Not(HasSubstr("all_gather"))));
}

TEST(Pmap, IsVmapOverDevices) {
  cpu_devices(8);
  const Array xs = filled({4, 3}, 0);
  const auto f = [](const Array& x) { return x / lax::psum(x, "i"); };
  const Array got = pmap(f, {.axis_name = "i"})(xs);
  expect_near(device_get(got), vmap(f, {.axis_name = "i"})(xs));
  EXPECT_EQ(got.devices().size(), 4u);
  EXPECT_EQ(addressable_shards(got)[2].data.shape(), Shape::of({1, 3}));
  const Array there = pmap([](const Array& x) { return x * 2; },
                           {.in_axes = 1, .out_axes = 1, .devices = {5, 2, 7}})(xs);
  EXPECT_EQ(there.devices()[0].id(), 5);
  expect_near(device_get(there), xs * 2);
  EXPECT_EQ(pmap([] { return lax::axis_index("i"); }, {.axis_name = "i", .axis_size = 8})()
                .to_vector<int>(),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(message_of([&] { (void)pmap(f, {.axis_name = "i"})(filled({9}, 0)); }),
              AllOf(HasSubstr("pmap"), HasSubstr("9 elements"), HasSubstr("8")));
  EXPECT_THAT(message_of([&] { (void)pmap(f, {.axis_name = "i", .devices = {0, 1}})(xs); }),
              HasSubstr("4 elements for 2 devices"));
  EXPECT_THAT(message_of([&] {
                (void)pmap([](const Array& a, const Array& b) { return a + b; })(xs,
                                                                                 filled({3, 3}, 0));
              }),
              AllOf(HasSubstr("pmap"), HasSubstr("different sizes: 4 and 3")));
}

}  // namespace
}  // namespace strata
