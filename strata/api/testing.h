// For the tests of this room.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "strata/core.h"

namespace strata::testing {

/// "f32[2,3]"
inline std::string type_of(const Array& x) { return internal::describe(x.type()); }

/// Type and elements (within an absolute and relative tolerance).
inline void expect_array(const Array& x, const std::string& type, const std::vector<double>& values,
                         double tolerance = 1e-6,
                         std::source_location where = std::source_location::current()) {
  ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expect_array");
  EXPECT_EQ(type_of(x), type);
  const std::vector<double> got = x.to_vector<double>();
  ASSERT_EQ(got.size(), values.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(values[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else if (std::isinf(values[i]))
      EXPECT_EQ(got[i], values[i]) << "element " << i;
    else
      EXPECT_NEAR(got[i], values[i], tolerance * std::max(1.0, std::abs(values[i])))
          << "element " << i;
  }
}

/// What the running test shows: upstream's names, separated by blanks. The runner collects those
/// whose tests passed (`strata-ops --api`).
inline void shows_names(const std::string& names) { ::testing::Test::RecordProperty("api", names); }

/// The message of the Error that f throws.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace strata::testing
