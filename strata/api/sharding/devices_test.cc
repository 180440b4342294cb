#include "strata/api/sharding/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/testing.h"
#include "strata/api/transform/callback.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/runtime/device.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Eight in this whole program: their number is chosen once.
const std::vector<Device>& eight() {
  static const std::vector<Device> devices = cpu_devices(8);
  return devices;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Devices, AreCpusWithNumbers) {
  ASSERT_EQ(eight().size(), 8u);
  EXPECT_EQ(eight()[3].to_string(), "CpuDevice(id=3)");
  EXPECT_EQ(eight()[3].platform(), "cpu");
  EXPECT_EQ(devices("cpu"), eight());
  EXPECT_EQ(devices(), eight());
  EXPECT_THAT(error_of([] { (void)cpu_devices(3); }), HasSubstr("has 8 already"));
  EXPECT_THAT(error_of([] { (void)devices("gpu"); }), HasSubstr("no such device"));
}

TEST(Devices, HaveMemoriesOfSeveralKinds) {
  const Device device = eight()[2];
  EXPECT_THAT(device.memory_kinds(), ElementsAre("device", "pinned_host", "unpinned_host"));
  const Array x = device_put(arange(6), DeviceMemory(device, "pinned_host"));
  EXPECT_EQ(memory_kind(x), "pinned_host");
  EXPECT_THAT(x.devices(), ElementsAre(device));
  // Programs take it from there; what they make is in the default memory.
  const Array y = x + 1;
  EXPECT_EQ(memory_kind(y), "device");
  EXPECT_THAT(y.devices(), ElementsAre(device));
  EXPECT_THAT(y.to_vector<int>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(memory_kind(device_put(x, DeviceMemory(device, "device"))), "device");
  EXPECT_EQ(memory_kind(device_put(x, device)), "device");
  EXPECT_EQ(memory_kind(arange(6)), "device");
  // To another device's, and back.
  const Array there = device_put(x, DeviceMemory(eight()[1], "unpinned_host"));
  EXPECT_THAT(there.devices(), ElementsAre(eight()[1]));
  EXPECT_THAT(there.to_vector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(
      error_of([&] { DeviceMemory(device, "vmem"); }),
      HasSubstr("CpuDevice(id=2) has no memory of kind 'vmem'; it has device, pinned_host"));
}

TEST(Devices, ArraysLieWhereTheyArePut) {
  const Array x = device_put(arange(6), eight()[2]);
  EXPECT_THAT(x.devices(), ElementsAre(eight()[2]));
  EXPECT_THAT(x.to_vector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
  const Array y = device_put(x, eight()[1]);
  EXPECT_THAT(y.devices(), ElementsAre(eight()[1]));
  EXPECT_THAT(y.to_vector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
  // What nobody put anywhere is on the first and is bound to none.
  const Array free = arange(6);
  EXPECT_THAT(free.devices(), ElementsAre(eight()[0]));
  EXPECT_THAT((y + free).to_vector<int>(), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(device_get(y).state()->buffer.there(), nullptr);
}

TEST(Devices, ProgramsRunWhereTheirArgumentsAre) {
  const auto f = jit([](const Array& a, const Array& b) { return sin(a) * b + 1.f; });
  const Array a = linspace(0, 1, 1000), b = ones({1000});
  const std::vector<float> expected = f(a, b).to_vector<float>();
  for (const Device& d : eight()) {
    const Array there = f(device_put(a, d), b);
    EXPECT_THAT(there.devices(), ElementsAre(d));
    EXPECT_EQ(there.to_vector<float>(), expected) << d.to_string();
    const Array eager = sin(device_put(a, d)) * b + 1.f;
    EXPECT_THAT(eager.devices(), ElementsAre(d));
    EXPECT_EQ(eager.to_vector<float>(), expected);
    const Array again = reshape(there, {10, 100});
    EXPECT_THAT(again.devices(), ElementsAre(d));
  }
  EXPECT_EQ(f(a, b).state()->buffer.committed(), nullptr);
}

TEST(Devices, GradientsStayThere) {
  const auto loss = [](const Array& w) { return (w * w).sum(); };
  const Array w = device_put(arange(5).astype(DType::f32), eight()[3]);
  const Array g = grad(loss)(w);
  EXPECT_THAT(g.devices(), ElementsAre(eight()[3]));
  EXPECT_THAT(g.to_vector<float>(), ElementsAre(0, 2, 4, 6, 8));
}

TEST(Devices, ArraysOfTwoAreRefusedWithBothNamed) {
  const Array x = device_put(ones({2, 3}), eight()[0]), y = device_put(ones({3}), eight()[1]);
  const auto f = jit([](const Array& a, const Array& b) { return a + b; }, {.name = "step"});
  const auto both = ::testing::AllOf(HasSubstr("f32[2,3] on CpuDevice(id=0)"),
                                     HasSubstr("f32[3] on CpuDevice(id=1)"));
  EXPECT_THAT(error_of([&] { (void)f(x, y); }), ::testing::AllOf(HasSubstr("step"), both));
  EXPECT_THAT(error_of([&] { (void)(x + y); }), both);
  EXPECT_THAT(error_of([&] { (void)concatenate({x, ones({1, 3}), reshape(y, {1, 3})}); }),
              HasSubstr("different devices"));
  // The failure is not kept: the same function goes on elsewhere.
  EXPECT_THAT(f(x, device_put(y, eight()[0])).devices(), ElementsAre(eight()[0]));
}

TEST(Devices, TheDefaultOneTakesWhatIsBoundToNone) {
  Array x;
  {
    DefaultDevice here(eight()[2]);
    x = ones({3}) + 1.f;
    EXPECT_THAT(x.devices(), ElementsAre(eight()[2]));
    // Arguments that are bound go before it.
    EXPECT_THAT((device_put(ones({3}), eight()[1]) + 1.f).devices(), ElementsAre(eight()[1]));
  }
  EXPECT_EQ(x.state()->buffer.committed(), nullptr);
  EXPECT_THAT((x + device_put(ones({3}), eight()[1])).to_vector<float>(), ElementsAre(3, 3, 3));
  EXPECT_EQ((ones({3}) + 1.f).state()->buffer.there(), nullptr);
}

TEST(Devices, CallsOfOneRunInOrderAndOfSeveralTogether) {
  // A long chain on each, all asked for before any is looked at.
  const auto f = jit([](const Array& a) { return a * 1.5f + 1.f; });
  std::vector<Array> at;
  for (const Device& d : eight()) at.push_back(device_put(zeros({4096}), d));
  for (int i = 0; i < 50; ++i)
    for (Array& x : at) x = f(x);
  Array expected = zeros({4096});
  for (int i = 0; i < 50; ++i) expected = f(expected);
  for (const Array& x : at) EXPECT_EQ(x.to_vector<float>(), expected.to_vector<float>());
}

TEST(Devices, DonatedMemoryBecomesTheResults) {
  const auto f = jit([](const Array& a) { return a + 1.f; }, {.donate_argnums = 0});
  Array x = device_put(ones({1 << 16}), eight()[1]);
  (void)x.block_until_ready();
  const std::byte* before = x.buffer().data();
  x = f(std::move(x));
  EXPECT_EQ(x.buffer().data(), before);
  const Array kept = x;
  const Array y = f(x);  // two handles: nothing is taken
  EXPECT_NE(y.buffer().data(), kept.buffer().data());
  EXPECT_EQ(kept.to_vector<float>()[0], 2);
  EXPECT_EQ(y.to_vector<float>()[0], 3);
}

TEST(Devices, AnArrayThatIsDonatedTwiceIsReadTwice) {
  const auto f = jit([](const Array& a, const Array& b) { return std::pair(a + b, a * b * 3.f); },
                     {.donate_argnums = {0, 1}});
  for (Array x : {ones({1 << 16}), device_put(ones({1 << 16}), eight()[1])}) {
    const auto [sum, product] = f(x, x);
    EXPECT_EQ(x.to_vector<float>()[7], 1);  // this handle is left
    EXPECT_EQ(sum.to_vector<float>()[7], 2);
    EXPECT_EQ(product.to_vector<float>()[7], 3);
    Array again = x;
    const auto [last, other] = f(std::move(x), std::move(again));
    EXPECT_EQ(last.to_vector<float>()[7], 2);
    EXPECT_EQ(other.to_vector<float>()[7], 3);
  }
}

TEST(Devices, DonatedArraysComeFromElsewhere) {
  const auto f = jit([](const Array& a) { return a + 1.f; }, {.donate_argnums = 0});
  Array x;
  {
    DefaultDevice here(eight()[2]);
    x = ones({4}) + 1.f;
  }
  EXPECT_THAT(f(std::move(x)).to_vector<float>(), ElementsAre(3, 3, 3, 3));
  const Array free = ones({4});
  DefaultDevice here(eight()[1]);
  const Array y = f(Array(free));
  EXPECT_THAT(y.devices(), ElementsAre(eight()[1]));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(free.to_vector<float>(), ElementsAre(1, 1, 1, 1));
}

TEST(Devices, WhatFailsIsToldWhereItIsUsed) {
  const auto f = jit(
      [](const Array& a) {
        return pure_callback([](const Array&) -> Array { throw Error("count", "no more numbers"); },
                             a, a);
      },
      {.name = "counting"});
  const Array x = device_put(ones({2}), eight()[1]);
  const Array bad = f(x);  // returns
  const Array after = bad + 1.f;
  for (const Array& y : {bad, after})
    EXPECT_THAT(error_of([&] { (void)y.to_vector<float>(); }),
                ::testing::AllOf(HasSubstr("no more numbers"), HasSubstr("counting"),
                                 HasSubstr("CpuDevice(id=1)")));
  EXPECT_THAT(error_of([&] { (void)bad.block_until_ready(); }), HasSubstr("no more numbers"));
  EXPECT_THAT((x + 1.f).to_vector<float>(), ElementsAre(2, 2));  // the device goes on
}

TEST(Devices, WithoutMemoryNameTheLargestArrays) {
  const Array x = device_put(ones({7, 1 << 20}), eight()[1]);
  constexpr std::int64_t kMany = std::int64_t{1} << 30;
  EXPECT_THAT(error_of([&] { (void)broadcast_to(x, {kMany, 7, 1 << 20}); }),
              ::testing::AllOf(HasSubstr("there is no memory for the result"),
                               HasSubstr("; the largest arrays in memory: "),
                               HasSubstr("29360128 bytes (28 MiB)")));
  EXPECT_EQ((x + 1.f).to_vector<float>()[0], 2);  // the device goes on
}

TEST(Devices, DeletedArraysAreRefused) {
  for (Array x : {ones({3}), device_put(ones({3}), eight()[1])}) {
    const Array other = x, sum = x + 1.f;
    EXPECT_FALSE(x.is_deleted());
    x.delete_();
    EXPECT_TRUE(other.is_deleted());
    EXPECT_FALSE(other.is_traced());
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { (void)other.to_vector<float>(); }, [&] { (void)(other + 1.f); },
             [&] { (void)jit([](const Array& a) { return a * 2.f; })(other); },
             [&] { (void)jit([&](const Array& a) { return a + other; })(sum); },
             [&] { (void)device_put(other, eight()[0]); }, [&] { other.delete_(); }})
      EXPECT_THAT(error_of(use), HasSubstr("f32[3] was used after it was deleted"));
    EXPECT_THAT(sum.to_vector<float>(), ElementsAre(2, 2, 2));
  }
}

TEST(Devices, TreesArePutWhole) {
  std::vector<Array> params = {ones({2}), zeros({3})};
  params = device_put(params, eight()[3]);
  for (const Array& p : params) EXPECT_THAT(p.devices(), ElementsAre(eight()[3]));
}

TEST(Devices, ATraceKeepsItsArrays) {
  const auto f = jit([](const Array& a) { return device_put(a, eight()[2]) + 1.f; });
  EXPECT_THAT(f(ones({2})).to_vector<float>(), ElementsAre(2, 2));
}

}  // namespace
}  // namespace strata
