// graph.h, callback.h and debug.h.
#include <iostream>
#include <sstream>

#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::shows_names;
using ::testing::StartsWith;

TEST(Graph, OfAFunction) {
  shows_names("make_jaxpr");
  const Lowered graph = make_graph([](Array x, Array y) { return sin(x) * y; })(zeros({2}), 1.0f);
  EXPECT_THAT(graph.as_text(), HasSubstr("stablehlo.sine"));
  EXPECT_EQ(graph.block().num_arguments(), 2);
  EXPECT_THAT(make_graph(grad([](Array x) { return sum(x * x); }))(zeros({3})).as_text(),
              HasSubstr("tensor<3xf32>"));
}

TEST(Graph, ScopesAreInPlaces) {
  shows_names("named_scope");
  const Lowered graph = make_graph([](Array x) {
    named_scope outer("block");
    const Array y = sin(x);
    named_scope inner("attention");
    return cos(y);
  })(1.0f);
  std::vector<std::string> places;
  for (const auto& op : graph.block().ops()) places.push_back(op->where.text());
  EXPECT_THAT(places, ElementsAre(StartsWith("block/debug_test.cc:"),
                                  StartsWith("block/attention/debug_test.cc:")));
  EXPECT_EQ(named_scope::current(), "");
}

TEST(Graph, LinearTranspose) {
  shows_names("linear_transpose");
  const Array w = array({{1, 2, 3}, {4, 5, 6}}).astype(float32);
  const auto pull = linear_transpose([&](Array x) { return dot(w, x) * 2; }, zeros({3}));
  expect_array(std::get<0>(pull(array({1.0f, -1.0f}))), "f32[3]", {-6, -6, -6});
  const auto two =
      linear_transpose([](Array x, Array y) { return 3 * x - sum(y); }, zeros({}), zeros({2}));
  const auto [x, y] = two(Array(2.0f));
  expect_array(x, "f32[]", {6});
  expect_array(y, "f32[2]", {-2, -2});
  const auto inside = jit([&](Array c) {
    return std::get<0>(linear_transpose([&](Array v) { return dot(w, v); }, zeros({3}))(c));
  });
  expect_array(inside(array({1.0f, 1.0f})), "f32[3]", {5, 7, 9});
  EXPECT_THAT(
      message_of([] { linear_transpose([](Array v) { return sin(v); }, zeros({3}))(zeros({3})); }),
      Not("no error"));
  EXPECT_THAT(message_of([&] { pull(zeros({3})); }),
              StartsWith("linear_transpose: result 0 is f32[2], its cotangent f32[3]"));
  EXPECT_THAT(
      message_of([] { linear_transpose([](Array v) { return v; }, array({1, 2}))(array({1, 2})); }),
      StartsWith("linear_transpose: a function of i32[2] is not linear"));
}

TEST(Remat, IsCheckpoint) {
  shows_names(
      "checkpoint");  // upstream has both names; strata::checkpoint is the room that saves arrays
  const auto f = remat([](Array x) { return sum(sin(sin(x))); });
  const auto plain = [](Array x) { return sum(sin(sin(x))); };
  const Array x = array({0.5f, 1.0f});
  EXPECT_EQ(grad(f)(x).to_vector<float>(), grad(plain)(x).to_vector<float>());
  EXPECT_EQ(f(x).item<float>(), plain(x).item<float>());
}

TEST(Callback, OfPrograms) {
  shows_names("pure_callback experimental.io_callback");
  int calls = 0;
  const auto twice = [&](const Array& v) {
    ++calls;
    return array(std::vector<float>{v.to_vector<float>()[0] * 2, v.to_vector<float>()[1] * 2});
  };
  const auto f = jit([&](Array x) { return pure_callback(twice, x, x) + 1; });
  expect_array(f(array({1.0f, 2.0f})), "f32[2]", {3, 5});
  EXPECT_EQ(calls, 1);
  expect_array(f(array({2.0f, 3.0f})), "f32[2]", {5, 7});
  EXPECT_EQ(calls, 2);
  expect_array(pure_callback(twice, zeros({2}), array({1.0f, 2.0f})), "f32[2]", {2, 4});
  EXPECT_EQ(calls, 3);

  // Effects in order, also in loops; trees both ways.
  std::vector<int> seen;
  const auto note = [&](const Array& i, const std::vector<Array>& more) {
    seen.push_back(i.item<int>());
    return std::pair(Array(i.item<int>() * 10).astype(int32), more[0]);
  };
  const auto loop = jit([&](Array x) {
    return fori_loop(
        0, 3,
        [&](Array i, Array c) {
          return c + experimental::io_callback(note, std::pair(Array(0), zeros({2})), i,
                                               std::vector<Array>{x})
                         .first;
        },
        zeros({}, int32));
  });
  EXPECT_EQ(loop(ones({2})).item<int>(), 30);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));

  const auto wrong =
      jit([](Array x) { return pure_callback([](const Array&) { return zeros({3}); }, x, x); });
  EXPECT_THAT(message_of([&] { (void)wrong(zeros({2})); }),
              HasSubstr("result 0 of the function is f32[3], f32[2] was said"));
  const auto thrower = jit([](Array x) {
    return pure_callback(
        [](const Array& v) -> Array { throw std::runtime_error("disk is full " + v.to_string()); },
        x, x);
  });
  EXPECT_THAT(message_of([&] { (void)thrower(Array(1.0f)); }), HasSubstr("disk is full 1."));
  EXPECT_THAT(message_of([&] {
                (void)grad([&](Array x) {
                  return pure_callback([](const Array& v) { return v; }, x, x);
                })(1.0f);
              }),
              Not("no error"));
}

/// What f writes to std::cout.
template <class F>
std::string written_by(F f) {
  std::ostringstream out;
  std::streambuf* before = std::cout.rdbuf(out.rdbuf());
  f();
  std::cout.rdbuf(before);
  return out.str();
}

TEST(Debug, PrintAndCallback) {
  shows_names("debug.print debug.callback");
  const Array x = array({1.0f, 2.0f});
  EXPECT_EQ(written_by([&] { debug::print("x = {} and {{{}}}", x, 3); }), "x = [1. 2.] and {3}\n");
  EXPECT_EQ(written_by([&] { debug::print("{1} {0:.2f}", Array(0.125f), Array(7)); }), "7 0.12\n");
  const auto f = jit([](Array v) {
    debug::print("sum {}", sum(v));
    return v * 2;
  });
  EXPECT_EQ(written_by([&] {
              (void)f(x);
              (void)f(x + 1);
            }),
            "sum 3.0\nsum 5.0\n");
  EXPECT_EQ(written_by([&] {
              expect_array(grad([](Array v) {
                             debug::print("at {}", v);
                             return v * v;
                           })(3.0f),
                           "f32[]", {6});
            }),
            "at 3.0\n");
  EXPECT_THAT(message_of([&] { debug::print("{} {}", x); }),
              StartsWith("debug.print: \"{} {}\" asks for array 1 of 1"));
  EXPECT_THAT(message_of([&] { debug::print("{}", x, x); }),
              StartsWith("debug.print: \"{}\" does not print array 1 of 2"));
  EXPECT_THAT(message_of([&] { debug::print("{x}", x); }),
              StartsWith("debug.print: arrays are numbered, got \"{x}\""));
  float last = 0;
  (void)jit([&](Array v) {
    debug::callback(
        [&](const Array& a, const Array& b) { last = a.item<float>() + b.item<float>(); }, v, 2);
    return v;
  })(5.0f);
  EXPECT_EQ(last, 7);
}

TEST(Debug, NaNIsFound) {
  shows_names("debug_nans");
  const Array x = array({1.0f, -1.0f});
  EXPECT_EQ(message_of([&] { (void)log(x); }), "no error");
  debug_nans looking;
  EXPECT_EQ(message_of([&] { (void)(sqrt(abs(x)) / 0 + 1); }), "no error");  // infinity is none
  const int line = __LINE__ + 1;
  const std::string of_log = message_of([&] { (void)log(x); });
  EXPECT_EQ(of_log,
            "debug_nans: log made NaN: element 1 of f32[2], from f32[2] [ 1. -1.]; keep such "
            "elements away with where before it, or switch debug_nans off [at debug_test.cc:" +
                std::to_string(line) + "]");
  const auto f = jit([](Array v) {
    const Array y = v * 2;
    return sum(exp(log(y)));
  });
  EXPECT_THAT(message_of([&] { (void)f(x); }),
              StartsWith("debug_nans: log made NaN: element 1 of f32[2], from f32[2] [ 2. -2.]"));
  EXPECT_THAT(message_of([&] { (void)f(x); }),
              HasSubstr("[at debug_test.cc:" + std::to_string(line + 7) + "]"));
  EXPECT_EQ(f(abs(x)).item<float>(), 4);
  {
    debug_nans off(false);
    EXPECT_FALSE(debug_nans::enabled());
    EXPECT_TRUE(std::isnan(f(x).item<float>()));
  }
  EXPECT_TRUE(debug_nans::enabled());
}

}  // namespace
}  // namespace strata
