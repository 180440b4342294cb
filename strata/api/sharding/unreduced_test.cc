// What explicit mode's types say of sums over devices: `unreduced` and `reduced`. How results are
// typed stands in explicit_golden_test.cc; here are collectives, derivatives, arrays outside of
// programs and what mistakes are told.
#include <gtest/gtest.h>

#include "strata/api/sharding/explicit.h"
#include "strata/api/sharding/explicit_testing.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/api/testing.h"
#include "strata/api/transform/stages.h"
#include "strata/ir/text/parser.h"
#include "strata/partition/program.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

const PartitionSpec kUnreduced = PartitionSpec{}.with_unreduced({"x"}),
                    kReduced = PartitionSpec{}.with_reduced({"x"});

class Unreduced : public testing::ExplicitMesh {
 protected:
  static std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

/// The collectives of the program.
template <class F, class... Args>
std::string explained(const F& f, const Args&... args) {
  auto module = ir::parse(f.lower(args...).as_text(), "program");
  if (!module) throw Error("test", "{}", module.status().message());
  spmd::normalize(**module);
  return spmd::partition_program(*(*module)->entry(), **module).explanation;
}

/// What each device holds.
std::vector<float> held(const Array& x) {
  std::vector<float> out;
  for (const Shard& s : addressable_shards(x)) out.push_back(s.data.to_vector<float>()[0]);
  return out;
}

TEST_F(Unreduced, DevicesKeepTheirAddendsUntilReshard) {
  const Array a = at({2, 8}, {nullptr, "x"}), b = at({8, 2}, {"x", nullptr});
  const Array sums = jit(
      [](const Array& p, const Array& q) { return matmul(p, q, OutSharding(kUnreduced)); })(a, b);
  EXPECT_EQ(spec(sums), "P(None, None, unreduced={'x'})");
  EXPECT_EQ(named_sharding(sums).spec().to_string(), "P(unreduced={'x'})");
  // Columns 2d and 2d + 1 of the first row by those rows; both devices along y hold the same.
  EXPECT_EQ(held(sums), (std::vector<float>{1, 1, 3, 3, 7, 7, 3, 3}));
  const std::vector<float> whole = matmul(some({2, 8}), some({8, 2})).to_vector<float>();
  EXPECT_EQ(reshard(sums, PartitionSpec{}).to_vector<float>(), whole);
  EXPECT_EQ(reshard(sums, PartitionSpec{nullptr, "y"}).to_vector<float>(), whole);
  EXPECT_THAT(message_of([&] { (void)sums.to_vector<float>(); }),
              HasSubstr("f32[2,2] lies as P(unreduced={'x'}): each device holds an addend; "
                        "reshard(x, P{...}) adds them up"));
}

TEST_F(Unreduced, WhatIsPutIsHeldByTheFirst) {
  const Array a = at({2, 2}, kUnreduced) + at({2, 2}, kUnreduced);
  EXPECT_EQ(spec(a), "P(None, None, unreduced={'x'})");
  EXPECT_EQ(held(a), (std::vector<float>{-2, -2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reshard(a, PartitionSpec{}).to_vector<float>(), (std::vector<float>{-2, 0, 2, 4}));
  const Array r = at({2, 2}, kReduced);
  EXPECT_EQ(named_sharding(r).spec(), kReduced);
  EXPECT_EQ(r.to_vector<float>(), some({2, 2}).to_vector<float>());
  EXPECT_EQ(reshard(a * r, PartitionSpec{}).to_vector<float>(), (std::vector<float>{2, 0, 2, 8}));
}

TEST_F(Unreduced, ACotangentIsTheOtherOne) {
  const Array x = at({8, 4}, {"x", nullptr}), w = at({4, 2}, kReduced);
  const auto loss = [](const Array& v, const Array& u) { return (matmul(u, v) * 3.0f).sum(); };
  const auto gradient = jit([&](const Array& v, const Array& u) { return grad(loss)(v, u); });
  const Array g = gradient(w, x);
  EXPECT_EQ(spec(g), "P(None, None, unreduced={'x'})");
  EXPECT_EQ(reshard(g, PartitionSpec{}).to_vector<float>(),
            grad(loss)(some({4, 2}), some({8, 4})).to_vector<float>());
  const std::vector<float> mine = held(g);
  EXPECT_EQ(mine[0] + mine[2] + mine[4] + mine[6],
            reshard(g, PartitionSpec{}).to_vector<float>()[0]);
  EXPECT_NE(mine[0], mine[2]);
}

// Source: test_minibatch_scan_unreduced of jax/tests/pjit_test.py.
TEST_F(Unreduced, GradientsOfManyBatchesAreSummedOnce) {
  const auto model = [](const Array& w, const Array& x) { return sin(matmul(x, w)).sum(); };
  const auto step = jit([&](const Array& w, const Array& batches) {
    const Array start = reshard(zeros_like(w), kUnreduced);
    const Array total = scan(
                            [&](const Array& sum, const Array& x) {
                              const Array g = grad(model)(w, x);
                              EXPECT_EQ(spec(g), "P(None, None, unreduced={'x'})");
                              return std::pair(sum + g, nullptr);
                            },
                            start, batches)
                            .first;
    return reshard(w, PartitionSpec{}) - reshard(total, PartitionSpec{}) * 0.01f;
  });
  set_mesh around(mesh);
  const Array w = at({4, 4}, kReduced), batches = at({3, 8, 4}, {nullptr, "x", nullptr});
  const Array next = step(w, batches);
  Array expected = some({4, 4});
  Array total = zeros({4, 4});
  for (std::int64_t i = 0; i < 3; ++i)
    total = total + grad(model)(some({4, 4}), some({3, 8, 4})[{i}]);
  expected = expected - total * 0.01f;
  EXPECT_EQ(spec(next), "P(None, None)");
  EXPECT_TRUE(
      numpy::allclose(device_get(next), expected, {.rtol = 1e-5, .atol = 1e-6}).item<bool>());
  // The loss, which nothing asks for, is the other one.
  const std::string said = explained(step, w, batches);
  EXPECT_EQ(count(said, "all_reduce over x"), 2u) << said;
  EXPECT_EQ(count(said, "all_reduce over x 96  for sdy.sharding_constraint"), 1u) << said;
  EXPECT_EQ(count(said, "x 3  for stablehlo.reduce"), 1u) << said;
}

TEST_F(Unreduced, WhatIsCutByTheAxisIsScattered) {
  const Array a = at({4, 8}, {nullptr, "x"}), b = at({8, 4}, {"x", nullptr});
  const auto f = jit([](const Array& p, const Array& q) {
    return reshard(matmul(p, q, OutSharding(kUnreduced)), PartitionSpec{"x", nullptr});
  });
  const std::string said = explained(f, a, b);
  EXPECT_EQ(count(said, "reduce_scatter over x"), 1u) << said;
  EXPECT_EQ(count(said, "all_reduce"), 0u) << said;
  EXPECT_EQ(f(a, b).to_vector<float>(), matmul(some({4, 8}), some({8, 4})).to_vector<float>());
}

TEST_F(Unreduced, MapsAndRematCarryIt) {
  const Array w = at({3, 4}, kReduced);
  EXPECT_EQ(spec(vmap([](const Array& r) { return sin(r); })(w)), "P(None, None, reduced={'x'})");
  EXPECT_EQ(spec(grad([](const Array& v) {
              return remat([](const Array& u) { return sin(u).sum(); })(v);
            })(w)),
            "P(None, None, unreduced={'x'})");
}

TEST_F(Unreduced, ShardMapGivesAddendsAndTakesWhatIsReduced) {
  const Array x = at({8, 4}, {"x", nullptr}), w = at({4, 2}, kReduced);
  const auto sums = shard_map(
      [](const Array& v, const Array& u) { return matmul(v, u).sum(0); },
      {.mesh = mesh, .in_specs = {PartitionSpec{"x"}, kReduced}, .out_specs = kUnreduced});
  const auto f = jit([&](const Array& v, const Array& u) { return sums(v, u); });
  const Array y = f(x, w);
  EXPECT_EQ(spec(y), "P(None, unreduced={'x'})");
  const Array whole = matmul(some({8, 4}), some({4, 2})).sum(0);
  EXPECT_EQ(reshard(y, PartitionSpec{}).to_vector<float>(), whole.to_vector<float>());
  // Rows 2d and 2d + 1 are those of a device.
  EXPECT_EQ(held(y)[0],
            matmul(some({8, 4}), some({4, 2})).reshape(4, 2, 2)[{0}].sum(0).to_vector<float>()[0]);
  const auto loss = [&](const Array& u) {
    return (reshard(sums(x, u), PartitionSpec{}) * 2.0f).sum();
  };
  const Array g = jit([&](const Array& u) { return grad(loss)(u); })(w);
  EXPECT_EQ(spec(g), "P(None, None, unreduced={'x'})");
  EXPECT_EQ(reshard(g, PartitionSpec{}).to_vector<float>(),
            grad([&](const Array& u) { return (matmul(some({8, 4}), u).sum(0) * 2.0f).sum(); })(
                some({4, 2}))
                .to_vector<float>());
}

TEST_F(Unreduced, WithinShardMapManyGradientsAreSummedOnce) {
  const Array w = at({4}, {}), rows = at({3, 8, 4}, {nullptr, "x", nullptr});
  const auto model = [](const Array& u, const Array& v) { return sin(matmul(v, u)).sum(); };
  const auto gradient = shard_map(
      [&](const Array& u, const Array& batches) {
        const Array mine = lax::pcast(u, "x", {.to = "reduced"});
        Array total = zeros({4});
        for (std::int64_t i = 0; i < 3; ++i) total = total + grad(model)(mine, batches[{i}]);
        return lax::psum(lax::pcast(total, "x", {.to = "unreduced"}), "x");
      },
      {.mesh = mesh,
       .in_specs = {PartitionSpec{}, PartitionSpec{nullptr, "x"}},
       .out_specs = PartitionSpec{}});
  const auto f = jit([&](const Array& u, const Array& v) { return gradient(u, v); });
  Array expected = zeros({4});
  for (std::int64_t i = 0; i < 3; ++i)
    expected = expected + grad(model)(some({4}), some({3, 8, 4})[{i}]);
  EXPECT_TRUE(
      numpy::allclose(device_get(f(w, rows)), expected, {.rtol = 1e-5, .atol = 1e-6}).item<bool>());
  EXPECT_EQ(count(explained(f, w, rows), "all_reduce over x 24 "), 1u) << explained(f, w, rows);
}

TEST_F(Unreduced, MistakesOfShardMapNameSpecs) {
  const auto with = [&](const PartitionSpec& in, const PartitionSpec& out, const Array& x) {
    return message_of([&] {
      (void)shard_map([](const Array& v) { return v * 2.0f; },
                      {.mesh = mesh, .in_specs = in, .out_specs = out})(x);
    });
  };
  const Array x = at({8, 8}, {"x", nullptr}), whole = at({8, 8}, {});
  EXPECT_THAT(with(PartitionSpec{}, kUnreduced, whole),
              HasSubstr("is the same along the mesh axis x, and its spec P(unreduced={'x'}) says"));
  EXPECT_THAT(with(kUnreduced, PartitionSpec{}, whole), HasSubstr("come in whole or cut"));
  EXPECT_THAT(with(PartitionSpec{}, PartitionSpec{}, at({8, 8}, kUnreduced)),
              HasSubstr("what is unreduced is reduced first"));
  EXPECT_THAT(with(PartitionSpec{"x"}, PartitionSpec{"x"}.with_unreduced({"x"}), x),
              HasSubstr("names the axis x twice"));
  EXPECT_THAT(with(PartitionSpec{"x"}, PartitionSpec{}.with_unreduced({"z"}), x),
              HasSubstr("names the axis z, and the mesh is"));
}

TEST_F(Unreduced, MistakesNameSpecs) {
  const Array u = at({8, 8}, kUnreduced), r = at({8, 8}, kReduced), p = at({8, 8}, {});
  EXPECT_THAT(message_of([&] { (void)(u + p); }),
              HasSubstr("add: f32[8,8] P(None, None, unreduced={'x'}), f32[8,8] P(None, None): one "
                        "operand is unreduced over x and the other is not"));
  EXPECT_THAT(message_of([&] { (void)(u * u); }), HasSubstr("no sum of products"));
  EXPECT_THAT(message_of([&] { (void)(u * 2.0f); }), HasSubstr("is not reduced over it"));
  EXPECT_THAT(message_of([&] { (void)sin(u); }), HasSubstr("it does not take what is unreduced"));
  EXPECT_THAT(message_of([&] { (void)(r + p); }),
              HasSubstr("the same on the devices of x and another is reduced"));
  EXPECT_THAT(message_of([&] { (void)(r * at({8, 8}, {"x"})); }),
              HasSubstr("one operand is cut over x and another is reduced over it"));
  EXPECT_THAT(message_of([&] { (void)matmul(p, p, OutSharding(kUnreduced)); }),
              HasSubstr("unreduced over x, and the dimensions that are contracted are cut over "
                        "nothing"));
  EXPECT_THAT(message_of([&] { (void)sum(p, 0, OutSharding(kUnreduced)); }),
              HasSubstr("cuts no dimension that is summed"));
  EXPECT_THAT(message_of([&] { (void)take(p, arange(2), 0, OutSharding(kUnreduced)); }),
              HasSubstr("cannot be unreduced or reduced"));
  EXPECT_THAT(message_of([&] { (void)reshape(r, {64}, OutSharding(PartitionSpec{})); }),
              HasSubstr("a reshape keeps what is unreduced or reduced"));
  EXPECT_THAT(message_of([&] { (void)reshard(p, PartitionSpec{"x"}.with_unreduced({"x"})); }),
              HasSubstr("axis 'x' stands twice in P('x', unreduced={'x'})"));
  EXPECT_THAT(message_of([&] { (void)reshard(p, PartitionSpec{}.with_unreduced({"z"})); }),
              HasSubstr("axis 'z' of P(unreduced={'z'}) is not in"));
  const Mesh mixed = make_mesh({{"x", 4, AxisType::Explicit}, {"y", 2}});
  EXPECT_THAT(message_of([&] {
                (void)device_put(some({4}),
                                 NamedSharding(mixed, PartitionSpec{}.with_reduced({"y"})));
              }),
              HasSubstr("unreduced or reduced axis 'y' of P(reduced={'y'}) is not Explicit"));
}

}  // namespace
}  // namespace strata
