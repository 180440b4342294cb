// Checks come out of every transform, with the path of their module.
#include "strata/nn/inspect/checkify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/transform/control.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/scan.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

using ::testing::HasSubstr;

struct Root {
  Param scale;
  STRATA_FIELDS(scale)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Root");
    check(x >= 0, "the input of a root is negative");
    return scope.returns(numpy::sqrt(x) * scale_of(), x);
  }
  Array scale_of() const { return scale; }
};
struct Net {
  std::vector<Root> roots;
  STRATA_FIELDS(roots)
  Array operator()(Array x) const {
    const ModuleScope scope(*this, "Net");
    for (const Root& root : roots) x = root(x) - 1.5f;
    return x;
  }
};
Net net() { return {{Root{Array(1.0f)}, Root{Array(2.0f)}}}; }
const auto call = [](const Net& m, const Array& x) { return m(x); };

class Checks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(Checks, NameTheFirstThatFails) {
  testing::shows_names("nnx.checkify");
  const Net m = net();
  const auto [fine, y] = checkify(call)(m, Array(9.0f));
  EXPECT_FALSE(fine.get().has_value());
  fine.throw_if_failed();
  EXPECT_EQ(y.item<float>(), call(m, Array(9.0f)).item<float>());
  const auto [error, z] = checkify(call)(m, Array(1.0f));
  EXPECT_EQ(error.get(), "in roots/1: the input of a root is negative");
  EXPECT_THROW(error.throw_if_failed(), Error);
}

TEST_F(Checks, ComeOutOfTransforms) {
  Net m = net();
  const auto jitted = nn::jit(call);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(checkify(jitted)(m, Array(9.0f)).first.get());
    EXPECT_TRUE(checkify(jitted)(m, Array(1.0f)).first.get());
  }
  EXPECT_EQ(jitted.cache_size(), 1u);
  const auto loss = [](const Net& n, const Array& x) { return numpy::sum(n(x)); };
  EXPECT_TRUE(checkify(nn::grad(loss))(m, Array(1.0f)).first.get());
  auto mapped = nn::vmap(call, {.in_axes = {none, 0}});
  EXPECT_EQ(checkify(mapped)(m, array({9.0f, 4.0f, 1.0f})).first.get(),
            "in roots/1: the input of a root is negative at [2]");
  const auto loop = [](const Net& n, const Array& xs) {
    return nn::scan([](const Net& each, const Array& x) { return each(x); },
                    {.in_axes = {none, 0}, .out_axes = {0}})(n, xs);
  };
  EXPECT_EQ(checkify(loop)(m, array({9.0f, 1.0f, 4.0f})).first.get(),
            "in roots/1: the input of a root is negative at [1]");
}

TEST_F(Checks, WithoutACheckifyAreErrors) {
  const Net m = net();
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([&] { (void)m(Array(1.0f)); }), HasSubstr("a root is negative"));
  EXPECT_THAT(message([&] { (void)m(Array(1.0f)); }), HasSubstr("roots/1"));
  EXPECT_THAT(message([&] { (void)nn::jit(call)(m, Array(1.0f)); }), HasSubstr("checkify"));
  EXPECT_THAT(message([] { check(array({1.0f}), "one"); }), HasSubstr("boolean, got f32[1]"));
}

}  // namespace
}  // namespace strata::nn
