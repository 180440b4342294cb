// lax/staging.h: what programs say beside their numbers. JAX 0.10.2 is the reference for what is
// refused and what programs look like.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::shows_names;

TEST(LaxStaging, TokensSayAnOrder) {
  shows_names("lax.create_token lax.after_all");
  const Array t = lax::create_token();
  EXPECT_TRUE(t.type().is_token());
  EXPECT_TRUE(lax::after_all({t, lax::create_token()}).type().is_token());
  EXPECT_TRUE(lax::after_all({}).type().is_token());
  EXPECT_THAT(message_of([] { (void)lax::after_all({ones({2})}); }),
              HasSubstr("tokens are needed, got f32[2]"));
  const auto f = [](Array x) {
    return std::pair(lax::after_all({lax::create_token(), lax::create_token()}), x + 1);
  };
  const std::string text = jit(f).lower(ones({2})).as_text();
  EXPECT_THAT(text, HasSubstr("stablehlo.create_token"));
  EXPECT_THAT(text, HasSubstr("stablehlo.after_all"));
}

TEST(LaxStaging, DceSinkIsAUse) {
  shows_names("lax.dce_sink");
  const auto f = [](bool keep) {
    return [keep](Array x) {
      lax::dce_sink(std::pair(x * 3, x - 1), {.prevent_mlir_dce = keep});
      return x + 1;
    };
  };
  for (const Array& x :
       {ones({3}), ones({0, 2}).astype(int32), array({true, false}).astype(bfloat16)}) {
    EXPECT_EQ(f(true)(x).to_vector<float>(), (x + 1).to_vector<float>());
    EXPECT_EQ(jit(f(true))(x).to_vector<float>(), (x + 1).to_vector<float>());
    if (x.ndim() > 0) {
      EXPECT_EQ(vmap(f(false))(x).to_vector<float>(), (x + 1).to_vector<float>());
    }
  }
  EXPECT_THAT(jit(f(true)).lower(ones({3})).as_text(),
              HasSubstr("stablehlo.custom_call @dce_sink"));
  EXPECT_THAT(jit(f(false)).lower(ones({3})).as_text(), Not(HasSubstr("dce_sink")));
  expect_array(grad([&](Array x) { return sum(f(false)(x) * x); })(ones({2})), "f32[2]", {3, 3});
  EXPECT_THAT(message_of([&] { (void)vmap(f(true))(ones({2})); }), HasSubstr("cannot be batched"));
  lax::dce_sink(2.0);
}

const lax::NamedSharding kRows{.mesh = {{"a", 1}, {"b", 1}}, .spec = {"a", none}};

TEST(LaxStaging, ShardingConstraintsStayInPrograms) {
  shows_names("lax.with_sharding_constraint");
  const auto f = [](Array x) { return lax::with_sharding_constraint(x, kRows); };
  for (const Array& x : {ones({2, 3}), zeros({0, 2}, int32), ones({2, 2}, bfloat16)}) {
    EXPECT_EQ(testing::type_of(f(x)), testing::type_of(x));
    EXPECT_EQ(jit(f)(x).to_vector<float>(), x.to_vector<float>());
  }
  auto said = [](const lax::NamedSharding& s) {
    return jit([&s](Array x) { return lax::with_sharding_constraint(x, s); })
        .lower(ones({2, 3}))
        .as_text();
  };
  EXPECT_THAT(
      said(kRows),
      HasSubstr(
          R"(sdy.sharding_constraint %arg0 <mesh<["a"=1, "b"=1]>, [{"a"}, {}]> : tensor<2x3xf32>)"));
  EXPECT_THAT(said({.mesh = kRows.mesh, .spec = {{"a", "b"}}}), HasSubstr(R"([{"a", "b"}, {}])"));
  EXPECT_THAT(said({.mesh = kRows.mesh, .spec = {lax::PartitionDim::unconstrained(), "b"}}),
              HasSubstr(R"([{?}, {"b"}])"));
  EXPECT_THAT(said({.mesh = kRows.mesh, .spec = {}}), HasSubstr("[{}, {}]"));
}

TEST(LaxStaging, ShardingConstraintsGoThroughTransforms) {
  const lax::NamedSharding s{.mesh = {{"a", 1}}, .spec = {"a"}};
  EXPECT_TRUE(lax::with_sharding_constraint(1.0, {.mesh = {{"a", 1}}, .spec = {}}).weak());
  EXPECT_EQ(vmap([&](Array x) { return lax::with_sharding_constraint(x, s); })(ones({2, 3}))
                .to_vector<float>(),
            std::vector<float>(6, 1));
  expect_array(grad([&](Array x) { return sum(lax::with_sharding_constraint(x, s) * x); })(
                   array({1.0f, 2.0f})),
               "f32[2]", {2, 4});
  const auto [x, y] = lax::with_sharding_constraint(std::pair(ones({2}), zeros({3})), s);
  EXPECT_EQ(y.size(), 3);
  EXPECT_THAT(message_of([&] { (void)lax::with_sharding_constraint(ones({}), s); }),
              HasSubstr("1 dimensions are said of f32[]"));
  EXPECT_THAT(message_of([&] {
                (void)lax::with_sharding_constraint(ones({2}), {.mesh = {{"a", 1}}, .spec = {"c"}});
              }),
              HasSubstr("the mesh <\"a\"=1> has no axis \"c\""));
  EXPECT_THAT(message_of([&] {
                (void)lax::with_sharding_constraint(ones({2, 2}),
                                                    {.mesh = {{"a", 1}}, .spec = {"a", "a"}});
              }),
              HasSubstr("axis \"a\" cuts twice"));
}

TEST(LaxStaging, PlatformDependentTakesTheCpusFunction) {
  shows_names("lax.platform_dependent");
  const auto more = [](Array x) { return x + 1; };
  const auto twice = [](Array x) { return x * 2; };
  for (const Array& x : {ones({3}), zeros({0}, int32), array({2, 5}), ones({}, bfloat16)}) {
    auto with_cpu = [&](Array v) {
      return lax::platform_dependent(lax::Platforms{.cpu = more, .cuda = twice, .default_ = twice},
                                     v);
    };
    auto without = [&](Array v) {
      return lax::platform_dependent(lax::Platforms{.tpu = more, .default_ = twice}, v);
    };
    EXPECT_EQ(with_cpu(x).to_vector<float>(), more(x).to_vector<float>());
    EXPECT_EQ(jit(with_cpu)(x).to_vector<float>(), more(x).to_vector<float>());
    EXPECT_EQ(without(x).to_vector<float>(), twice(x).to_vector<float>());
  }
  expect_array(
      grad([&](Array x) {
        return sum(lax::platform_dependent(lax::Platforms{.cpu = twice, .default_ = more}, x));
      })(ones({2})),
      "f32[2]", {2, 2});
  const auto narrow = [](Array x) { return x.astype(int32); };
  const auto first = [](Array x) { return x[slice(1)]; };
  EXPECT_THAT(message_of([&] {
                (void)lax::platform_dependent(lax::Platforms{.cpu = twice, .cuda = narrow},
                                              ones({3}));
              }),
              HasSubstr("result 0 is f32[3] on one platform and i32[3] on another"));
  EXPECT_THAT(message_of([&] {
                (void)lax::platform_dependent(lax::Platforms{.rocm = first, .default_ = twice},
                                              ones({3}));
              }),
              HasSubstr("f32[3] on one platform and f32[1]"));
}

TEST(LaxStaging, CompositesHaveNamesInPrograms) {
  shows_names("lax.composite");
  const auto tangent =
      lax::composite([](Array x) { return lax::sin(x) / lax::cos(x); }, "my.tangent");
  for (const Array& x : {array({0.5f, 1.0f}), zeros({0, 2}), ones({}, bfloat16)}) {
    EXPECT_EQ(tangent(x).to_vector<float>(), (lax::sin(x) / lax::cos(x)).to_vector<float>());
    EXPECT_EQ(jit(tangent)(x).to_vector<float>(), tangent(x).to_vector<float>());
  }
  EXPECT_EQ(vmap(tangent)(array({0.5f, 1.0f})).to_vector<float>(),
            tangent(array({0.5f, 1.0f})).to_vector<float>());
  const auto both =
      lax::composite([](Array x, Array y) { return std::pair(x + y, x * 2); }, "my.pair",
                     {.version = 3,
                      .attributes = {{"axis", std::int64_t{1}},
                                     {"scale", 0.5},
                                     {"s", std::string("hi")},
                                     {"b", true},
                                     {"t", std::vector<std::int64_t>{1, 2}}}});
  const std::string text = jit([&](Array x) { return std::pair(both(x, x), tangent(tangent(x))); })
                               .lower(ones({3}))
                               .as_text();
  EXPECT_THAT(text,
              HasSubstr("stablehlo.composite \"my.pair\" %arg0, %arg0 {composite_attributes = "
                        "{axis = 1 : i64, b = true, s = \"hi\", scale = 5.000000e-01 : f64, "
                        "t = [1, 2]}, decomposition = @my.pair, version = 3 : i32} : "
                        "(tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)"));
  EXPECT_THAT(text, HasSubstr("{decomposition = @my.tangent} : (tensor<3xf32>) -> tensor<3xf32>"));
  EXPECT_THAT(text, HasSubstr("func.func private @my.tangent_0("));
}

TEST(LaxStaging, ProgramsOfCompositesRun) {
  const auto inner = lax::composite([](Array x) { return x * 3; }, "my.inner");
  const auto outer = lax::composite([&](Array x) { return inner(x) + 1; }, "my.outer");
  const std::string text = jit(outer).lower(ones({2})).as_text();
  auto program = Program::read(text, "composites");
  ASSERT_TRUE(program.ok()) << program.status().message() << text;
  const std::vector<Array> out = (*program)({array({1.0f, 2.0f})});
  expect_array(out[0], "f32[2]", {4, 7});
}

TEST(LaxStaging, CompositesRefuseWhatJaxRefuses) {
  const auto tangent = lax::composite([](Array x) { return lax::sin(x); }, "my.sine");
  EXPECT_THAT(message_of([&] { (void)grad([&](Array x) { return sum(tangent(x)); })(ones({2})); }),
              HasSubstr("custom_jvp"));
  EXPECT_THAT(
      message_of([&] { (void)lax::composite([](Array x) { return x; }, "plain")(ones({2})); }),
      HasSubstr("\"plain\" has no dialect"));
  const auto closes = [](Array w) {
    return lax::composite([w](Array x) { return x + w; }, "my.sum")(w);
  };
  expect_array(closes(ones({2})), "f32[2]", {2, 2});
  EXPECT_THAT(message_of([&] { (void)jit(closes)(ones({2})); }),
              HasSubstr("uses a traced array from outside, f32[2]; give it as an argument"));
}

}  // namespace
}  // namespace strata
