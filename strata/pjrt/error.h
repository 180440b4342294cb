// Failures as PJRT says them: a code of absl's and a sentence.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string>

#include "strata/base/result.h"
#include "strata/runtime/plugin/abi.h"

struct PJRT_Error : PJRT_Object {
  PJRT_Error_Code code;
  std::string message;
};

namespace strata::pjrt {

/// What went wrong, or nothing.
using Problem = std::optional<PJRT_Error>;

/// What functions of the table throw.
class Failure : public std::exception {
 public:
  explicit Failure(PJRT_Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.message.c_str(); }
  const PJRT_Error& error() const { return error_; }

 private:
  PJRT_Error error_;
};

template <class... Args>
[[noreturn]] void fail(PJRT_Error_Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure({{}, code, fmt::format(format, std::forward<Args>(args)...)});
}

PJRT_Error_Code code_of(Code code);
/// The same as a Failure.
[[noreturn]] void fail(const Status& status);

/// What is being caught: a Failure, strata::Error, InternalError, std::bad_alloc or any other
/// exception.
PJRT_Error caught();

}  // namespace strata::pjrt
