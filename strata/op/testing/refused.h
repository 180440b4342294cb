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
#define EXPECT_REFUSED(expression, text) \
  EXPECT_THAT(::strata::op::testing::error_of([&] { expression; }), ::testing::HasSubstr(text))

}  // namespace strata::op::testing
