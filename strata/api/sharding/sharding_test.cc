// Arrays in parts on eight devices, and programs over them.
#include "strata/api/sharding/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"
#include "strata/base/error.h"

namespace strata {
namespace {

using mesh::P;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Mesh mesh_2x4() {
  cpu_devices(8);
  return make_mesh({{"x", 2}, {"y", 4}});
}
Array numbers() { return numpy::reshape(numpy::arange(64).astype(DType::f32), {8, 8}); }

template <class F>
std::string message_of(F f) {
  try {
    f();
    return "nothing was thrown";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Sharding, ArraysLieInParts) {
  const Mesh m = mesh_2x4();
  const Array x = device_put(numbers(), NamedSharding(m, {"x", "y"}));
  EXPECT_EQ(named_sharding(x).spec(), (P{"x", "y"}));
  EXPECT_EQ(x.devices().size(), 8u);
  EXPECT_FALSE(is_fully_replicated(x));
  EXPECT_EQ(x.to_vector<float>(), numbers().to_vector<float>());
  EXPECT_EQ(x.to_string(), numbers().to_string());
  const std::vector<Shard> shards = addressable_shards(x);
  ASSERT_EQ(shards.size(), 8u);
  EXPECT_EQ(shards[5].device.id(), 5);
  EXPECT_EQ(shards[5].index, (ShardIndex{{4, 8}, {2, 4}}));
  EXPECT_EQ(to_string(shards[5].index, x.shape()), "(slice(4, 8, None), slice(2, 4, None))");
  EXPECT_EQ(shards[5].data.devices()[0].id(), 5);
  EXPECT_THAT(shards[5].data.to_vector<float>(), ElementsAre(34, 35, 42, 43, 50, 51, 58, 59));
  const Array copies = device_put(numbers(), NamedSharding(m, {nullptr, "x"}));
  EXPECT_EQ(addressable_shards(copies)[3].replica_id, 3);
  EXPECT_TRUE(is_fully_replicated(device_put(numbers(), NamedSharding(m, P()))));
  // From one sharding to another, and back to one device.
  const Array moved = device_put(x, NamedSharding(m, {nullptr, {"y", "x"}}));
  EXPECT_EQ(moved.to_vector<float>(), numbers().to_vector<float>());
  const Array one = device_put(x, cpu_devices()[3]);
  EXPECT_EQ(one.devices()[0].id(), 3);
  EXPECT_EQ(one.to_vector<float>(), numbers().to_vector<float>());
}

TEST(Sharding, OperationsRunWhereTheirOperandsLie) {
  const Mesh m = mesh_2x4();
  const Array x = device_put(numbers(), NamedSharding(m, {"x", nullptr}));
  const Array y = x * 2 + 1;
  EXPECT_EQ(named_sharding(y).spec(), (P{"x"}));
  EXPECT_EQ(y.to_vector<float>(), (numbers() * 2 + 1).to_vector<float>());
  const Array z = y + device_put(numbers(), NamedSharding(m, {nullptr, "y"}));
  EXPECT_EQ(z.to_vector<float>(), (numbers() * 3 + 1).to_vector<float>());
  EXPECT_EQ((x + numbers()).to_vector<float>(), (numbers() * 2).to_vector<float>());
  EXPECT_EQ(x.sum().item<float>(), 2016);
}

TEST(Sharding, JitTakesShardingsFromArguments) {
  const Mesh m = mesh_2x4();
  auto f = jit([](const Array& a, const Array& w) { return numpy::tanh(numpy::matmul(a, w)); });
  const Array w = numbers() / 64.f;
  const Array whole = f(numbers(), w);
  const Array x = device_put(numbers(), NamedSharding(m, {"x", nullptr})),
              v = device_put(w, NamedSharding(m, {nullptr, "y"}));
  const Array y = f(x, v);
  EXPECT_EQ(named_sharding(y).spec(), (P{"x", "y"}));
  EXPECT_EQ(y.to_vector<float>(), whole.to_vector<float>());
  EXPECT_EQ(f.cache_size(), 2u);
  EXPECT_EQ(f(x, v).to_vector<float>(), whole.to_vector<float>());
  EXPECT_EQ(f.cache_size(), 2u);
  (void)f(v, x);
  EXPECT_EQ(f.cache_size(), 3u);
}

TEST(Sharding, JitPutsArgumentsAndResults) {
  const Mesh m = mesh_2x4();
  const NamedSharding rows(m, {"x", nullptr}), columns(m, {nullptr, "y"});
  auto f = jit(
      [](const Array& a, const Array& b) { return std::pair(a + b, numpy::sum(a, 0)); },
      Shardings{.in_shardings = {rows, std::nullopt}, .out_shardings = {columns, std::nullopt}});
  const auto [sum, total] = f(numbers(), numbers());
  EXPECT_EQ(named_sharding(sum).spec(),
            columns.spec().entries().size() == 2 ? (P{nullptr, "y"}) : P());
  EXPECT_EQ(sum.to_vector<float>(), (numbers() * 2).to_vector<float>());
  EXPECT_EQ(total.to_vector<float>(), numpy::sum(numbers(), 0).to_vector<float>());
  const std::string text = f.lower(numbers(), numbers()).as_text();
  EXPECT_THAT(text, HasSubstr("sdy.sharding_constraint"));
  EXPECT_THAT(text, HasSubstr(R"([{}, {"y"}])"));
}

TEST(Sharding, ConstraintsHoldWithoutShardedArguments) {
  const Mesh m = mesh_2x4();
  const NamedSharding rows(m, {"y", nullptr});
  auto f = jit([&](const Array& a) { return lax::with_sharding_constraint(a * 2, rows); });
  const Array y = f(numbers());
  EXPECT_EQ(named_sharding(y).spec(), (P{"y"}));
  EXPECT_EQ(y.to_vector<float>(), (numbers() * 2).to_vector<float>());
}

TEST(Sharding, DerivativesMapsAndLoopsGoThroughConstraints) {
  const Mesh m = mesh_2x4();
  const NamedSharding rows(m, {"x", nullptr}), row(m, {"y"});
  auto loss = [&](const Array& a) {
    const Array h = lax::with_sharding_constraint(numpy::sin(a), rows);
    return numpy::sum(h * h);
  };
  const Array x = device_put(numbers() / 64.f, rows);
  const Array g = jit(grad(loss))(x), plain = jit(grad([](const Array& a) {
                                        return numpy::sum(numpy::sin(a) * numpy::sin(a));
                                      }))(numbers() / 64.f);
  EXPECT_EQ(named_sharding(g).spec(), (P{"x"}));
  EXPECT_EQ(g.to_vector<float>(), plain.to_vector<float>());
  const Array mapped =
      jit(vmap([&](const Array& a) { return lax::with_sharding_constraint(a * 3, row); }))(x);
  EXPECT_EQ(mapped.to_vector<float>(), (x * 3).to_vector<float>());
  const auto looped = jit([&](const Array& a) {
    return scan(
        [&](const Array& carry, const Array& each) {
          const Array next = lax::with_sharding_constraint(carry + each, row);
          return std::pair(next, numpy::sum(next));
        },
        numpy::zeros({8}), a);
  });
  const auto [last, sums] = looped(x);
  const auto [want, totals] = jit([](const Array& a) {
    return scan([](const Array& carry,
                   const Array& each) { return std::pair(carry + each, numpy::sum(carry + each)); },
                numpy::zeros({8}), a);
  })(numbers() / 64.f);
  EXPECT_EQ(last.to_vector<float>(), want.to_vector<float>());
  EXPECT_TRUE(numpy::allclose(device_get(sums), totals).item<bool>());
}

TEST(Sharding, DonatedPartsAreUsedUp) {
  const Mesh m = mesh_2x4();
  auto step = jit([](const Array& a) { return a * 0.5f + 1; }, JitOptions{.donate_argnums = 0});
  Array x = device_put(numbers(), NamedSharding(m, {"x", "y"}));
  Array want = numbers();
  for (int i = 0; i < 3; ++i) {
    x = step(std::move(x));
    want = want * 0.5f + 1;
  }
  EXPECT_EQ(named_sharding(x).spec(), (P{"x", "y"}));
  EXPECT_EQ(x.to_vector<float>(), want.to_vector<float>());
}

TEST(Sharding, ArraysAreMadeOfParts) {
  const Mesh m = mesh_2x4();
  const NamedSharding s(m, {{"x", "y"}, nullptr});
  int calls = 0;
  const Array x = make_array_from_callback({8, 8}, s, [&](const ShardIndex& i) {
    ++calls;
    return numbers()[i[0].begin].reshape({1, 8});
  });
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(x.to_vector<float>(), numbers().to_vector<float>());
  calls = 0;
  const Array copies = make_array_from_callback({4}, NamedSharding(m, P()), [&](const ShardIndex&) {
    ++calls;
    return numpy::arange(4);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(copies.dtype(), DType::i32);
  std::vector<Array> parts;
  for (const Shard& shard : addressable_shards(x)) parts.insert(parts.begin(), shard.data);
  EXPECT_EQ(make_array_from_single_device_arrays({8, 8}, s, parts).to_vector<float>(),
            numbers().to_vector<float>());
}

TEST(Sharding, MistakesAreNamed) {
  const Mesh m = mesh_2x4();
  EXPECT_THAT(message_of([&] { NamedSharding(m, {"z"}); }), HasSubstr("z"));
  EXPECT_THAT(message_of([&] { NamedSharding(m, {"x", "x"}); }), HasSubstr("x"));
  EXPECT_THAT(message_of([&] { (void)device_put(numpy::zeros({6, 2}), NamedSharding(m, {"y"})); }),
              AllOf(HasSubstr("dimension 0 of f32[6,2]"), HasSubstr("P('y',)"),
                    HasSubstr("do not divide"), HasSubstr("sharding_test.cc")));
  EXPECT_THAT(
      message_of([&] { (void)device_put(numpy::zeros({8}), NamedSharding(m, {"x", "y"})); }),
      HasSubstr("P('x', 'y') has 2 entries, and f32[8] has 1 dimensions"));
  const Mesh other = make_mesh({{"a", 8}});
  const Array x = device_put(numbers(), NamedSharding(m, {"x"})),
              y = device_put(numbers(), NamedSharding(other, {"a"})),
              z = device_put(numbers(), cpu_devices()[1]);
  EXPECT_THAT(message_of([&] { (void)(x + y); }),
              AllOf(HasSubstr("different meshes"), HasSubstr("Mesh('x': 2, 'y': 4"),
                    HasSubstr("Mesh('a': 8"), HasSubstr("P('x',)"), HasSubstr("P('a',)")));
  EXPECT_THAT(message_of([&] { (void)jit([](Array a, Array b) { return a * b; })(x, z); }),
              AllOf(HasSubstr("different devices"), HasSubstr("CpuDevice(id=1)")));
  EXPECT_THAT(message_of([&] {
                (void)jit([&](const Array& a) {
                  return lax::with_sharding_constraint(a, NamedSharding(other, {"a"}));
                })(x);
              }),
              AllOf(HasSubstr("\"a\"=8"), HasSubstr("\"x\"=2, \"y\"=4")));
  EXPECT_THAT(message_of([&] { make_mesh({{"a", 9}}); }),
              HasSubstr("holds device 8, but this process has 8 CPU devices"));
  EXPECT_THAT(message_of([&] {
                (void)jit([](Array a, Array b) { return a + b; },
                          Shardings{.in_shardings = {NamedSharding(m, P()), std::nullopt,
                                                     std::nullopt}})(x, x);
              }),
              HasSubstr("in_shardings has 3 shardings for 2 arguments"));
  EXPECT_THAT(message_of([&] {
                (void)make_array_from_callback({8}, NamedSharding(m, {"x"}),
                                               [](const ShardIndex&) { return numpy::zeros({8}); });
              }),
              AllOf(HasSubstr("(slice(0, 4, None),)"), HasSubstr("f32[8]"), HasSubstr("f32[4]")));
}

}  // namespace
}  // namespace strata
