#include "strata/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace strata {
namespace {

std::string thrown(auto f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.what()) + (e.is_unsupported() ? " (unsupported)" : "");
  }
  return "nothing";
}

TEST(Result, TheValueOfAFailureSaysWhatFailed) {
  Result<int> failed(Status(Code::not_found, "cannot open 'x': no such file"));
  EXPECT_EQ(thrown([&] { (void)failed.value(); }), "cannot open 'x': no such file");
  EXPECT_EQ(thrown([&] { (void)*std::as_const(failed); }), "cannot open 'x': no such file");
  Result<std::string> other(Status(Code::unsupported, "no such format"));
  EXPECT_EQ(thrown([&] { (void)other->size(); }), "no such format (unsupported)");
  EXPECT_EQ(thrown([&] { (void)Result<int>(Status(Code::io, "end of file")).value(); }),
            "end of file");
}

TEST(Result, TheValueOfAResultMayBeMovedOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  EXPECT_EQ(*result.value(), 3);
  const std::unique_ptr<int> out = std::move(result).value();
  EXPECT_EQ(*out, 3);
}

}  // namespace
}  // namespace strata
