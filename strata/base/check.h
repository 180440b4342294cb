// Our own mistakes: a check that stops with a sentence.
//
//   STRATA_CHECK(rank == 2, "a product tile expects two free dimensions, got {}", rank);
//
// A failed check is a bug in Strata, never the user's or the world's fault (those are base/error.h
// and base/result.h). It throws `InternalError`; the commands turn that into exit status 70 and
// print whatever graph the catcher has at hand. It throws rather than aborts so that an embedding
// program is not taken down.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace strata {

/// A broken assumption inside Strata. The message names the file, the line and what was assumed.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& text) : InternalError(text, text) {}
  /// `reason` is what was assumed in words, without the place.
  InternalError(const std::string& text, std::string reason)
      : std::logic_error(text), reason_(std::move(reason)) {}
  InternalError(const InternalError&);
  ~InternalError() override;
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

namespace internal {
[[noreturn]] void fail_check(const char* file, int line, const char* condition,
                             fmt::string_view format, fmt::format_args args);
template <class... Args>
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               fmt::format_string<Args...> format, Args&&... args) {
  fail_check(file, line, condition, format, fmt::make_format_args(args...));
}
}  // namespace internal

#define STRATA_CHECK(condition, ...)                                                    \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      ::strata::internal::check_failed(__FILE__, __LINE__, #condition, "" __VA_ARGS__); \
  } while (false)

#define STRATA_UNREACHABLE(...) \
  ::strata::internal::check_failed(__FILE__, __LINE__, "unreachable", "" __VA_ARGS__)

}  // namespace strata
