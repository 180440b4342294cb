// Transforms on user functions: values against closed forms, and their composition.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;
using testing::type_of;

struct Params {
  Array w, b;
  STRATA_FIELDS(w, b)
};

const auto loss = [](const Params& p, Array x, Array y) {
  return mean(square(dot(x, p.w) + p.b - y));
};

TEST(Jit, ComputesWhatEagerComputesAndCompilesOncePerType) {
  testing::shows_names("jit");
  auto f = jit([](Array x, Array y) { return exp(x) * y + 1; });
  Array x = array({0.5f, 1.0f}), y = array({2.0f, 3.0f});
  EXPECT_EQ(f(x, y).to_vector<float>(), (exp(x) * y + 1).to_vector<float>());
  (void)f(y, x);
  (void)f(x, 2.0f);
  (void)f(x, 3.0f);  // scalars are operands
  EXPECT_EQ(f.cache_size(), 2u);
  expect_array(f(x, 3), "f32[2]", {1 + 3 * std::exp(0.5), 1 + 3 * std::exp(1.0)});
}

TEST(Jit, TreesGoInAndOutAndStaticDataIsPartOfTheStructure) {
  struct Config {
    Array x;
    int power;
    STRATA_FIELDS(x, power)
  };
  auto f = jit([](const Config& c) { return std::pair(power(c.x, c.power), c.power); });
  auto [y, n] = f(Config{array({2.0f, 3.0f}), 3});
  expect_array(y, "f32[2]", {8, 27});
  EXPECT_EQ(n, 3);
  expect_array(f(Config{array({2.0f, 3.0f}), 2}).first, "f32[2]", {4, 9});
}

TEST(Grad, OfSoftplusWhereItsTermsAreEqual) {
  auto softplus = [](Array x) { return nn::softplus(x); };
  expect_array(grad(softplus)(0.0f), "f32[]", {0.5});
  expect_array(grad(grad(softplus))(0.0f), "f32[]", {0.25});
  expect_array(vmap(grad(softplus))(array({-inf, 0.0, 1000.0, inf}, float32)), "f32[4]",
               {0, 0.5, 1, 1});
}

TEST(Jit, InsideATraceTheFunctionIsPartOfTheProgram) {
  int calls = 0;
  auto inner = jit([&](Array x) {
    ++calls;
    return sin(x);
  });
  auto outer = jit([&](Array x) { return inner(x) * 2; });
  expect_array(outer(1.0f), "f32[]", {2 * std::sin(1.0)});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(inner.cache_size(), 0u);
}

TEST(Jit, CapturedArraysAreConstants) {
  Array table = array({10, 20, 30});
  auto f = jit([&](Array i) { return take(table, i, 0, {.mode = "clip"}); });
  expect_array(f(array({2, 0})), "i32[2]", {30, 10});
}

TEST(Jit, LowersToText) {
  const std::string text = jit([](Array x) { return x + 1; }).lower(zeros({4})).as_text();
  EXPECT_THAT(text, ::testing::HasSubstr("stablehlo.add"));
  EXPECT_THAT(text, ::testing::HasSubstr("tensor<4xf32>"));
}

TEST(Jit, DonatedArgumentsAreGone) {
  auto f = jit([](Array x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = zeros({3});
  x = f(std::move(x));
  expect_array(x, "f32[3]", {1, 1, 1});
}

TEST(Grad, ReadmeExampleLearns) {
  auto step = jit([&](Params p, Array x, Array y) {
    auto [l, g] = value_and_grad(loss)(p, x, y);
    return std::pair{l, tree::map([](Array p, Array g) { return p - 0.1f * g; }, p, g)};
  });
  Array x = array({{1.f, 2.f}, {-1.f, 0.5f}, {0.3f, -0.7f}}), y = array({3.f, -0.5f, 0.6f});
  Params p{zeros({2}), 0.0f};
  std::vector<float> losses;
  for (int i = 0; i < 60; ++i) {
    auto [l, next] = step(p, x, y);
    p = next;
    losses.push_back(l.item<float>());
  }
  EXPECT_LT(losses.back(), 0.05f * losses.front());
  EXPECT_EQ(type_of(p.w), "f32[2]");
}

TEST(Grad, IsTheDerivativeForTreesSeveralArgumentsAndAux) {
  testing::shows_names("grad value_and_grad");
  auto f = [](Array x, Array y) { return sum(x * x * y); };
  Array x = array({1.f, 2.f}), y = array({3.f, 4.f});
  expect_array(grad(f)(x, y), "f32[2]", {6, 16});
  auto [gx, gy] = grad<0, 1>(f)(x, y);
  expect_array(gx, "f32[2]", {6, 16});
  expect_array(gy, "f32[2]", {1, 4});
  expect_array(grad<1>(f)(x, y), "f32[2]", {1, 4});
  auto [second, first] = grad<1, 0>(f)(x, y);  // in the order of the numbers
  expect_array(first, "f32[2]", {6, 16});
  expect_array(second, "f32[2]", {1, 4});
  auto g = [](Array x) { return std::pair(sum(x * x), x + 1); };
  auto [value, grads] = value_and_grad(g)(x);
  expect_array(value.first, "f32[]", {5});
  expect_array(value.second, "f32[2]", {2, 3});
  expect_array(grads, "f32[2]", {2, 4});
  auto [only, aux] = grad(g)(x);
  expect_array(aux, "f32[2]", {2, 3});
}

TEST(Grad, OfUnusedArgumentsIsZeroAndOfScalarsAScalar) {
  expect_array(grad<1>([](Array x, Array) { return sum(x); })(ones({2}), ones({3})), "f32[3]",
               {0, 0, 0});
  expect_array(grad([](Array x) { return x * x * x; })(2.0f), "f32[]", {12});
}

TEST(Grad, NestsToAnyDepth) {
  auto f = [](Array x) { return x * x * x * x; };
  expect_array(grad(grad(grad(f)))(2.0f), "f32[]", {48});
  expect_array(jit(grad(jit(grad(f))))(2.0f), "f32[]", {48});
  expect_array(hessian([](Array x) { return sum(x * x * x); })(array({1.f, 2.f})), "f32[2,2]",
               {6, 0, 0, 12});
}

TEST(Grad, SeesCapturedArraysOfOuterTraces) {
  auto f = [](Array x) { return grad([&](Array y) { return x * x * y * y; })(3.0f); };  // 2 x^2 y
  expect_array(grad(f)(2.0f), "f32[]", {2 * 2 * 2 * 3});
  Array scale = array({1.f, 10.f});
  expect_array(grad([&](Array x) { return sum(scale * x); })(ones({2})), "f32[2]", {1, 10});
}

TEST(Jvp, AndLinearizeAndVjpAgree) {
  testing::shows_names("jvp linearize vjp");
  auto f = [](Array x, Array y) { return sin(x) * y; };
  Array x = array({0.3f, 1.2f}), y = array({2.f, -1.f}), dx = array({1.f, 0.5f}),
        dy = array({0.25f, 4.f});
  const std::vector<double> expected = {std::cos(0.3) * 2 * 1 + std::sin(0.3) * 0.25,
                                        std::cos(1.2) * -1 * 0.5 + std::sin(1.2) * 4};
  auto [value, tangent] = jvp(f, std::tuple(x, y), std::tuple(dx, dy));
  expect_array(value, "f32[2]", {std::sin(0.3) * 2, -std::sin(1.2)});
  expect_array(tangent, "f32[2]", expected);
  auto [same, push] = linearize(f, x, y);
  expect_array(push(dx, dy), "f32[2]", expected);
  auto [again, pull] = vjp(f, x, y);
  auto [gx, gy] = pull(array({1.f, 2.f}));
  expect_array(gx, "f32[2]", {std::cos(0.3) * 2, 2 * -std::cos(1.2)});
  expect_array(gy, "f32[2]", {std::sin(0.3), 2 * std::sin(1.2)});
}

TEST(Vmap, MapsOverAxes) {
  testing::shows_names("vmap");
  auto f = [](Array x, Array y) { return dot(x, y); };
  Array x = arange(0.0, 6.0).reshape({2, 3}), y = array({1.f, 2.f, 3.f});
  expect_array(vmap(f, {.in_axes = {0, none}})(x, y), "f32[2]", {8, 26});
  expect_array(vmap(f)(x, x), "f32[2]", {5, 50});
  expect_array(vmap(f, {.in_axes = {1, 1}})(x, x), "f32[3]", {9, 17, 29});
  auto outer_product = vmap(vmap([](Array a, Array b) { return a * b; }, {.in_axes = {none, 0}}),
                            {.in_axes = {0, none}});
  expect_array(outer_product(array({1, 2}), array({3, 4, 5})), "i32[2,3]", {3, 4, 5, 6, 8, 10});
  expect_array(
      vmap([](Array a) { return a * array({1, 10}); }, {.out_axes = {1}})(array({1, 2, 3})),
      "i32[2,3]", {1, 2, 3, 10, 20, 30});
}

TEST(Vmap, OfGradGivesGradientsOfEachExample) {
  auto per_example = vmap(grad(loss), {.in_axes = {none, 0, 0}});
  Params p{array({1.f, -1.f}), 0.5f};
  Params g = per_example(p, array({{1.f, 2.f}, {0.f, 1.f}}), array({0.f, 1.f}));
  expect_array(g.w, "f32[2,2]", {-1, -2, 0, -3});
  expect_array(g.b, "f32[2]", {-1, -3});
}

TEST(Scan, CarriesAndStacks) {
  testing::shows_names("lax.scan");
  auto [last, ys] =
      scan([](Array c, Array x) { return std::pair(c + x, c * x); }, 1, array({1, 2, 3}));
  expect_array(last, "i32[]", {7});
  expect_array(ys, "i32[3]", {1, 4, 12});
  auto [back, reversed] = scan([](Array c, Array x) { return std::pair(c * 2 + x, c); }, 0,
                               array({1, 2, 3}), {.reverse = true});
  expect_array(back, "i32[]", {17});
  expect_array(reversed, "i32[3]", {8, 3, 0});
  auto [end, none_] = scan([](Array c, std::nullptr_t) { return std::pair(c * 2, nullptr); }, 1,
                           nullptr, {.length = 5});
  expect_array(end, "i32[]", {32});
}

TEST(Scan, DifferentiatesInBothModesAndBatches) {
  auto f = [](Array w) {
    return scan([&](Array c, Array x) { return std::pair(tanh(w * c + x), c); }, 0.5f,
                array({0.1f, 0.2f, 0.3f}))
        .first;
  };
  double c = 0.5, d = 0, w = 0.7;
  for (double x : {0.1, 0.2, 0.3}) {
    const double next = std::tanh(w * c + x);
    d = (1 - next * next) * (c + w * d);
    c = next;
  }
  expect_array(f(0.7f), "f32[]", {c});
  expect_array(grad(f)(0.7f), "f32[]", {d}, 1e-5);
  expect_array(jvp(f, std::tuple(Array(0.7f)), std::tuple(Array(1.0f))).second, "f32[]", {d}, 1e-5);
  expect_array(vmap(grad(f))(array({0.7f, 0.7f})), "f32[2]", {d, d}, 1e-5);
  expect_array(jit(grad(f))(0.7f), "f32[]", {d}, 1e-5);
}

TEST(Scan, MakesAWeakInitialCarryStrong) {
  auto [last, ys] =
      scan([](Array c, Array x) { return std::pair(c + x, c); }, 0, array({1.5f, 2.0f}));
  expect_array(last, "f32[]", {3.5});
}

TEST(Loops, WhileAndFori) {
  testing::shows_names("lax.while_loop lax.fori_loop");
  Array limit = 100;
  expect_array(while_loop([&](Array i) { return i < limit; }, [](Array i) { return i * 3; }, 1),
               "i32[]", {243});
  expect_array(fori_loop(2, 5, [](Array i, Array x) { return x * i; }, 1), "i32[]", {24});
  expect_array(
      fori_loop(Array(2), Array(5), [](Array i, Array x) { return x * i; }, 1), "i32[]", {24});
  expect_array(grad([](Array x) {
                 return fori_loop(0, 3, [&](Array, Array y) { return y * x; }, 1.0f);
               })(2.0f),
               "f32[]", {12});
  auto doubling = [](Array x) {
    return while_loop([](Array v) { return v < 100; }, [](Array v) { return v * 2; }, x);
  };
  expect_array(jvp(doubling, std::tuple(Array(3.0f)), std::tuple(Array(1.0f))).second, "f32[]",
               {64});
  expect_array(vmap(doubling)(array({3.f, 60.f, 200.f})), "f32[3]", {192, 120, 200});
}

TEST(Cond, TakesOneBranchAndDifferentiates) {
  testing::shows_names("lax.cond");
  Array offset = array({10.f, 20.f});
  auto f = [&](Array x) {
    return cond(sum(x) > 0, [&](Array v) { return v * v + offset; }, [](Array v) { return -v; }, x);
  };
  expect_array(f(array({1.f, 2.f})), "f32[2]", {11, 24});
  expect_array(f(array({-1.f, -2.f})), "f32[2]", {1, 2});
  expect_array(grad([&](Array x) { return sum(f(x)); })(array({1.f, 2.f})), "f32[2]", {2, 4});
  expect_array(grad([&](Array x) { return sum(f(x)); })(array({-1.f, -2.f})), "f32[2]", {-1, -1});
  std::vector<std::function<Array(Array)>> branches = {[](Array x) { return x + 1; },
                                                       [](Array x) { return x * 10; }};
  for (auto [index, expected] : {std::pair(0, 3), {1, 20}, {7, 20}, {-2, 3}})
    expect_array(switch_(index, branches, 2), "i32[]", {double(expected)});
}

TEST(Custom, JvpRuleIsUsed) {
  testing::shows_names("custom_jvp");
  auto f = custom_jvp([](Array x) { return x * x; },
                      [](std::tuple<Array> x, std::tuple<Array> t) {
                        return std::pair(std::get<0>(x) * std::get<0>(x), 100 * std::get<0>(t));
                      });
  expect_array(f(3.0f), "f32[]", {9});
  expect_array(grad(f)(3.0f), "f32[]", {100});
  expect_array(jvp(f, std::tuple(Array(3.0f)), std::tuple(Array(2.0f))).second, "f32[]", {200});
  expect_array(vmap(grad(f))(array({3.f, 4.f})), "f32[2]", {100, 100});
}

TEST(Custom, VjpRuleIsUsedAndMayCapture) {
  testing::shows_names("custom_vjp");
  Array limit = 0.5f;
  auto clip_gradient = custom_vjp(
      [](Array x) { return x * 1.0f; }, [](Array x) { return std::pair(x * 1.0f, std::tuple<>()); },
      [&](std::tuple<>, Array ct) { return std::tuple(clip(ct, -limit, limit)); });
  expect_array(
      grad([&](Array x) { return sum(clip_gradient(x) * array({0.1f, 5.f, -7.f})); })(ones({3})),
      "f32[3]", {0.1, 0.5, -0.5});
  auto f = custom_vjp([](Array x, Array n) { return x * n; },
                      [](Array x, Array n) { return std::pair(x * n, n); },
                      [](Array n, Array ct) { return std::tuple(ct * n * 10, zeros_like(n)); });
  expect_array(jit(grad([&](Array x) { return f(x, 3); }))(2.0f), "f32[]", {30});
}

TEST(Checkpoint, GivesTheSameGradients) {
  auto block = [](Array x) { return sin(checkpoint_name(sin(x), "inner")); };
  auto plain = [&](Array x) { return sum(block(block(x))); };
  Array x = array({0.4f, 1.1f});
  const Array expected = grad(plain)(x);
  for (const char* policy : {"nothing", "everything", "dots", "names:inner"}) {
    auto saved = [&](Array v) {
      return sum(remat(block, {.policy = policy})(remat(block, {.policy = policy})(v)));
    };
    EXPECT_EQ(grad(saved)(x).to_vector<float>(), expected.to_vector<float>()) << policy;
  }
}

TEST(EvalShape, KnowsTypesWithoutComputing) {
  testing::shows_names("eval_shape");
  Params p =
      eval_shape([](Array x) { return Params{dot(x, transpose(x)), sum(x)}; }, zeros({3, 4}));
  EXPECT_EQ(type_of(p.w), "f32[3,3]");
  EXPECT_EQ(type_of(p.b), "f32[]");
}

TEST(StopGradient, HidesAValueFromDerivatives) {
  testing::shows_names("lax.stop_gradient");
  expect_array(grad([](Array x) { return x * lax::stop_gradient(x); })(3.0f), "f32[]", {3});
}

TEST(Vmap, OneAxisForAllArguments) {
  auto f = [](Array a, Array b) { return a * b; };
  const Array x = array({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  expect_array(vmap(f, {.in_axes = 0})(x, x), "f32[2,3]", {1, 4, 9, 16, 25, 36});
  expect_array(vmap(f, {.in_axes = 1})(x, x), "f32[3,2]", {1, 16, 4, 25, 9, 36});
  expect_array(vmap(f, {.in_axes = -1, .out_axes = -1})(x, x), "f32[2,3]", {1, 4, 9, 16, 25, 36});
  expect_array(vmap(f, {.in_axes = none, .axis_size = 2})(2.f, 3.f), "f32[2]", {6, 6});
  expect_array(vmap(f, {.in_axes = {1, none}, .out_axes = {1}})(x, 2.f), "f32[2,3]",
               {2, 4, 6, 8, 10, 12});
  EXPECT_THAT(testing::message_of([&] { vmap(f, {.in_axes = {0}})(x, x); }),
              ::testing::HasSubstr("in_axes has 1 entries for 2 arguments"));
}

TEST(Jit, OneDonatedArgument) {
  auto f = jit([](Array a, Array b) { return a + b; }, {.donate_argnums = 0});
  Array x = zeros({5000});
  const std::byte* place = x.buffer().data();
  x = f(std::move(x), 1.0f);
  EXPECT_EQ(x.buffer().data(), place);
  auto both =
      jit([](Array a, Array b) { return std::pair(a + 1, b + 1); }, {.donate_argnums = {0, 1}});
  const auto [a, b] = both(zeros({2}), zeros({2}));
  expect_array(b, "f32[2]", {1, 1});
}

}  // namespace
}  // namespace strata
