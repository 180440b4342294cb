// For tests of constraints: programs that break one, and the message it earns.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/def.h"

namespace strata::op::testing {

/// Operations on arguments of a scratch block.
class Constraint : public ::testing::Test {
 protected:
  Value* array(DType dtype, Shape shape) {
    return block_.add_argument(Type(dtype, std::move(shape)));
  }
  Value* f32(Shape shape) { return array(DType::f32, std::move(shape)); }
  Value* i32(Shape shape) { return array(DType::i32, std::move(shape)); }
  Op& create(const char* name, Values operands, Attrs attrs = {}) {
    return b.create(def(name).info, std::move(operands), std::move(attrs));
  }
  Op& create(const char* name, Values operands, Attrs attrs, std::vector<Type> results) {
    Op& op =
        b.create(def(name).info, std::move(operands), std::move(attrs), {}, std::move(results));
    op.info().verify(op);
    return op;
  }

  Block block_;
  Builder b{block_};
};

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
/// Matches a message that has the text, and behind it the number of the constraint, which stands
/// in front of it here: "add: (C1) operands" in "add: operands must have equal types, ... (C1)".
inline ::testing::Matcher<std::string> says(std::string text) {
  const std::size_t from = text.find('('), to = text.find(')');
  if (from == text.npos || to == text.npos || to - from > 4) return ::testing::HasSubstr(text);
  const std::string number = text.substr(from, to + 1 - from);
  text.erase(from, to + 2 - from);
  return ::testing::Truly([=](const std::string& message) {
    const std::size_t at = message.find(text);
    return at != message.npos && message.find(number, at + text.size()) != message.npos;
  });
}
#define EXPECT_REFUSED(expression, text)                            \
  EXPECT_THAT(::strata::op::testing::error_of([&] { expression; }), \
              ::strata::op::testing::says(text))

}  // namespace strata::op::testing
