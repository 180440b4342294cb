// What tests of explicit mode stand on: eight devices in a mesh of 4 x 2, and arrays on it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "strata/api/sharding/explicit.h"
#include "strata/api/testing.h"

namespace strata::testing {

class ExplicitMesh : public ::testing::Test {
 protected:
  void SetUp() override {
    cpu_devices(8);
    mesh = make_mesh({{"x", 4, AxisType::Explicit}, {"y", 2, AxisType::Explicit}});
  }
  static Array some(const Sizes& shape) {
    std::int64_t n = 1;
    for (std::int64_t s : shape.get()) n *= s;
    return (arange(n) % 5 - 1).astype(float32).reshape(shape);
  }
  Array at(const Sizes& shape, const PartitionSpec& spec) const {
    return device_put(some(shape), NamedSharding(mesh, spec));
  }
  static std::string spec(const Array& x) { return spec_of_type(x).to_string(); }
  Mesh mesh;
};

}  // namespace strata::testing
