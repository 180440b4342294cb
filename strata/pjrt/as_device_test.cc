// Our plugin, and an odd one, as devices of programs: what users do wrong, and what must not hurt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "strata/api/numpy.h"
#include "strata/api/sharding/devices.h"
#include "strata/api/transform/jit.h"

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Our own plugin's device; tests run in the build folder.
Device ours() {
  static const Device device = devices("plugin:lib/libstrata_pjrt.so").at(0);
  return device;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(AsDevice, RunsWhatItsArraysMeet) {
  const auto f = jit([](const Array& a, const Array& b) { return sin(a) * b; });
  const Array a = linspace(0, 1, 1000), b = ones({1000});
  const Array there = f(device_put(a, ours()), b);
  EXPECT_THAT(there.devices(), ElementsAre(ours()));
  EXPECT_EQ(there.to_vector<float>(), f(a, b).to_vector<float>());
  const Array back = device_put(there, cpu_devices()[0]);
  EXPECT_THAT(back.devices(), ElementsAre(cpu_devices()[0]));
  EXPECT_EQ(back.to_vector<float>(), there.to_vector<float>());
}

TEST(AsDevice, BesideACpuIsRefusedWithBothNamed) {
  const Array x = device_put(ones({2, 3}), ours()), y = device_put(ones({3}), cpu_devices()[0]);
  const auto f = jit([](const Array& a, const Array& b) { return a + b; }, {.name = "step"});
  const auto both =
      AllOf(HasSubstr("f32[2,3] on " + ours().to_string()), HasSubstr("f32[3] on CpuDevice(id=0)"));
  EXPECT_THAT(error_of([&] { (void)f(x, y); }), AllOf(HasSubstr("step"), both));
  EXPECT_THAT(error_of([&] { (void)(x * y); }), both);
}

TEST(AsDevice, DonatedTwiceIsReadTwice) {
  const auto f = jit([](const Array& a, const Array& b) { return std::pair(a + b, a * b * 3.f); },
                     {.donate_argnums = {0, 1}});
  Array x = device_put(ones({1 << 16}), ours());
  const auto [sum, product] = f(x, x);
  EXPECT_EQ(x.to_vector<float>()[7], 1);  // this handle is left
  EXPECT_EQ(sum.to_vector<float>()[7], 2);
  EXPECT_EQ(product.to_vector<float>()[7], 3);
  Array again = x;
  const auto [last, other] = f(std::move(x), std::move(again));
  EXPECT_EQ(last.to_vector<float>()[7], 2);
  EXPECT_EQ(other.to_vector<float>()[7], 3);
}

TEST(AsDevice, DonatedAndCalledAgainGoesOn) {
  const auto f = jit([](const Array& a) { return a + 1.f; }, {.donate_argnums = 0});
  Array x = device_put(zeros({1 << 10}), ours());
  for (int i = 0; i < 100; ++i) x = f(std::move(x));
  EXPECT_EQ(x.to_vector<float>()[1023], 100);
}

TEST(AsDevice, DeletedArraysAreRefused) {
  const Array x = device_put(ones({3}), ours()), other = x, sum = x + 1.f;
  x.delete_();
  EXPECT_TRUE(other.is_deleted());
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)other.to_vector<float>(); }, [&] { (void)(other + 1.f); },
           [&] { (void)jit([](const Array& a) { return a * 2.f; })(other); },
           [&] { (void)device_put(other, cpu_devices()[0]); }, [&] { other.delete_(); }})
    EXPECT_THAT(error_of(use), HasSubstr("f32[3] was used after it was deleted"));
  EXPECT_THAT(sum.to_vector<float>(), ElementsAre(2, 2, 2));
}

TEST(AsDevice, WithoutMemoryNamesTheLargestArrays) {
  ::setenv("STRATA_ODD_PLUGIN", "run", 1);
  const Device odd = devices("plugin:lib/libstrata_odd_plugin.so").at(0);
  ::unsetenv("STRATA_ODD_PLUGIN");
  const Array large = device_put(ones({512, 512}), odd), x = device_put(ones({1024}), odd);
  const auto waves = jit([](const Array& a) { return sin(a); }, {.name = "waves"});
  EXPECT_THAT(error_of([&] { (void)waves(x).block_until_ready(); }),
              AllOf(HasSubstr("waves"), HasSubstr("out of memory on the device"),
                    HasSubstr("largest arrays there: 1 x tensor<512x512xf32> (1048576 bytes), "
                              "1 x tensor<1024xf32> (4096 bytes)")));
}

}  // namespace
}  // namespace strata
