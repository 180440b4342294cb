// Matrices of derivatives: shapes, several arguments, trees, and both modes alike.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;

struct Line {
  Array w, b;
  STRATA_FIELDS(w, b)
};

TEST(Jacobian, HasTheShapeOfResultThenArgument) {
  testing::shows_names("jacfwd jacrev hessian");
  auto f = [](Array x) { return stack({x[0] * x[1], x[0] + x[1], x[0]}); };
  const std::vector<double> jacobian = {3, 2, 1, 1, 1, 0};
  expect_array(jacfwd(f)(array({2.f, 3.f})), "f32[3,2]", jacobian);
  expect_array(jacrev(f)(array({2.f, 3.f})), "f32[3,2]", jacobian);
  expect_array(jit(jacfwd(f))(array({2.f, 3.f})), "f32[3,2]", jacobian);
  auto rows = [](Array x) { return x * 2; };
  EXPECT_EQ(testing::type_of(jacfwd(rows)(zeros({2, 0}))), "f32[2,0,2,0]");
  EXPECT_EQ(testing::type_of(jacrev(rows)(zeros({2, 3}))), "f32[2,3,2,3]");
  expect_array(jacfwd(rows)(1.0f), "f32[]", {2});
  expect_array(hessian([](Array x) { return x * x * x; })(2.0f), "f32[]", {12});
}

TEST(Jacobian, OfSeveralArgumentsIsATuple) {
  auto f = [](Array x, int power, Array y) {
    return stack({x[0] * y, x[1] * y * y * static_cast<float>(power)});
  };
  const Array x = array({2.f, 3.f}), y = array(5.f);
  auto check = [&](const auto& jacobian) {
    const auto& [jx, jy] = jacobian;
    expect_array(jx, "f32[2,2]", {5, 0, 0, 50});
    expect_array(jy, "f32[2]", {2, 60});
  };
  check(jacfwd<0, 2>(f)(x, 2, y));
  check(jacrev<0, 2>(f)(x, 2, y));
  expect_array(jacfwd<2>(f)(x, 2, y), "f32[2]", {2, 60});
  const auto [jy, jx] =
      jacrev<2, 0>(f)(x, 2, y);  // in the order of the numbers, as upstream gives them
  expect_array(jy, "f32[2]", {2, 60});
  expect_array(jx, "f32[2,2]", {5, 0, 0, 50});
}

TEST(Jacobian, OfATreeIsATreeOfTrees) {
  auto f = [](Line p, Array x) { return std::pair(p.w * x + p.b, sum(x) * p.b); };
  const Line p{.w = array({2.f, 3.f}), .b = array(1.f)};
  const Array x = array({10.f, 20.f});
  auto check = [&](const auto& jacobian) {
    const auto& [first, second] = jacobian;
    expect_array(first.w, "f32[2,2]", {10, 0, 0, 20});
    expect_array(first.b, "f32[2]", {1, 1});
    expect_array(second.w, "f32[2]", {0, 0});
    expect_array(second.b, "f32[]", {30});
  };
  check(jacfwd(f)(p, x));
  check(jacrev(f)(p, x));
  const std::pair<Array, Array> by_x = jacfwd<1>(f)(p, x);
  expect_array(by_x.first, "f32[2,2]", {2, 0, 0, 3});
  expect_array(by_x.second, "f32[2]", {1, 1});
  const std::vector<std::tuple<Array, Array>> listed =
      jacrev<0, 1>([](Array a, Array b) { return std::vector<Array>{a * b, a}; })(3.f, 4.f);
  expect_array(std::get<1>(listed[0]), "f32[]", {3});
  expect_array(std::get<0>(listed[1]), "f32[]", {1});
  const std::array<Line, 2> both =
      jacfwd([](Line q) { return std::array<Array, 2>{sum(q.w), q.b}; })(p);
  expect_array(both[0].w, "f32[2]", {1, 1});
  expect_array(both[1].b, "f32[]", {1});
}

TEST(Jacobian, SecondDerivativesOfSeveralArguments) {
  expect_array(hessian([](Array x) { return sum(x * x * x); })(array({1.f, 2.f})), "f32[2,2]",
               {6, 0, 0, 12});
  auto f = [](Array x, Array y) { return sum(x * x) * y * y; };
  const auto [of_x, of_y] = hessian<0, 1>(f)(array({1.f, 2.f}), 3.f);
  expect_array(std::get<0>(of_x), "f32[2,2]", {18, 0, 0, 18});
  expect_array(std::get<1>(of_x), "f32[2]", {12, 24});
  expect_array(std::get<0>(of_y), "f32[2]", {12, 24});
  expect_array(std::get<1>(of_y), "f32[]", {10});
  expect_array(hessian<1>(f)(array({1.f, 2.f}), 3.f), "f32[]", {10});
}

TEST(Jacobian, IntegersHaveNone) {
  auto f = [](Array x, Array i) { return x * i; };
  EXPECT_THAT(message_of([&] { (void)jacfwd<1>(f)(2.f, array({1, 2})); }),
              ::testing::HasSubstr("jacfwd: argument 1 is i32[2]: only floats have derivatives"));
  EXPECT_THAT(message_of([&] { (void)(jacrev<0, 1>(f)(2.f, array({1, 2}))); }),
              ::testing::HasSubstr("jacrev: argument 1 is i32[2]: only floats have derivatives"));
  expect_array(jacrev(f)(2.f, array({1, 2})), "f32[2]", {1, 2});
}

TEST(Jacobian, OfAStructIsOneOfTrees) {
  auto f = [](const Line& p) { return Line{p.w * p.b, sum(p.w) + p.b}; };
  const Line p{array({2.f, 3.f}), array(5.f)};
  auto check = [&](const auto& j) {
    expect_array(j[&Line::w].w, "f32[2,2]", {5, 0, 0, 5});
    expect_array(j[&Line::w].b, "f32[2]", {2, 3});
    expect_array(j[&Line::b].w, "f32[2]", {1, 1});
    const auto& [w, b] = j;
    expect_array(w.b, "f32[2]", {2, 3});
    expect_array(b.b, "f32[]", {1});
    EXPECT_EQ(tree::paths(j), (std::vector<std::string>{"w.w", "w.b", "b.w", "b.b"}));
  };
  check(jacfwd(f)(p));
  check(jacrev(f)(p));
  check(jit(jacrev(f))(p));
}

TEST(Hessian, OfAStructIsOneOfStructs) {
  auto f = [](const Line& p) { return sum(p.w * p.w * p.w) * p.b; };
  const Line p{array({2.f, 3.f}), array(5.f)};
  const auto h = hessian(f)(p);
  expect_array(h[&Line::w].w, "f32[2,2]", {60, 0, 0, 90});
  expect_array(h[&Line::w].b, "f32[2]", {12, 27});
  expect_array(h[&Line::b].w, "f32[2]", {12, 27});
  expect_array(h[&Line::b].b, "f32[]", {0});
  // Third derivatives: fields of fields.
  const auto third = jacfwd(hessian(f))(p);
  expect_array(third[&Line::w][&Line::w].b, "f32[2,2]", {12, 0, 0, 18});
  expect_array(third[&Line::w][&Line::b].w, "f32[2,2]", {12, 0, 0, 18});
}

struct Network {
  std::vector<Line> layers;
  std::map<std::string, Array> scales;
  std::optional<Array> bias;
  std::variant<Array, Line> head;
  int depth = 0;
  STRATA_FIELDS(layers, scales, bias, head, depth)
};

TEST(Jacobian, OfEveryKindOfTree) {
  auto f = [](const Network& n) { return n; };
  const Network n{{Line{array({1.f, 2.f}), array(3.f)}},
                  {{"a", array(4.f)}},
                  array({5.f}),
                  Line{array(6.f), array(7.f)},
                  8};
  const auto j = jacrev(f)(n);
  const Network& by_w = j[&Network::layers][0][&Line::w];
  expect_array(by_w.layers[0].w, "f32[2,2]", {1, 0, 0, 1});
  expect_array(by_w.scales.at("a"), "f32[2]", {0, 0});
  EXPECT_EQ(by_w.depth, 8);
  expect_array(j[&Network::scales].at("a").scales.at("a"), "f32[]", {1});
  expect_array(*j[&Network::bias]->bias, "f32[1,1]", {1});
  const auto& head = std::get<1>(j[&Network::head]);
  expect_array(std::get<1>(head[&Line::b].head).b, "f32[]", {1});
  EXPECT_EQ(j[&Network::depth], 8);
  const auto empty = jacfwd([](Line q) { return std::optional<Array>(q.w); })(n.layers[0]);
  expect_array(empty->w, "f32[2,2]", {1, 0, 0, 1});
}

struct Hidden {
  Array w, kept = ones({1});
  STRATA_SOME_FIELDS(w)
};
TEST(Jacobian, RefusesFieldsThatAreNotListed) {
  const auto j = jacfwd([](Line p) { return Hidden{p.w}; })(Line{array({1.f}), array(2.f)});
  expect_array(j[&Hidden::w].w, "f32[1,1]", {1});
  EXPECT_THAT(message_of([&] { (void)j[&Hidden::kept]; }),
              ::testing::HasSubstr("STRATA_FIELDS does not list this field"));
}

}  // namespace
}  // namespace strata
