// The world's failures: files, sockets, devices, hostile bytes.
//
//   [[nodiscard]] Result<std::string> read_file(const std::string& path);
//   auto text = read_file(path);
//   if (!text) return text.status();
//   use(*text);
//
// Programs that have nothing to say about a failure take the value all the same: `read_file(path)
// .value()` throws Error with the message.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata {

/// What kind of failure it was; commands map these to exit statuses.
enum class Code {
  ok,
  not_found,
  exists,
  denied,
  no_space,
  corrupt,
  invalid,
  unsupported,
  cancelled,
  io
};

/// Success, or a code and a sentence. Messages name the file and carry the numbers.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  template <class Arg, class... Args>
  Status(Code code, fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args)
      : Status(code, fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)) {}

  /// Whether it is a success.
  bool ok() const { return code_ == Code::ok; }
  explicit operator bool() const { return ok(); }
  /// The kind of failure; Code::ok for none.
  Code code() const { return code_; }
  /// The sentence that says what failed; empty for a success.
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

/// A value or the status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit by intent
  Result(Status status) : status_(std::move(status)) {  // NOLINT
    STRATA_CHECK(!status_.ok(), "a Result made from a status needs a failed one");
  }
  /// Whether there is a value.
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Why there is none; a success where there is one.
  const Status& status() const { return status_; }
  /// The value. Throws Error with the status's message where there is none.
  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T value() && { return require(), *std::move(value_); }
  /// The same.
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  void require() const {
    if (ok()) return;
    Error error("", status_.message());
    if (status_.code() == Code::unsupported) error.unsupported();
    throw error;
  }
  std::optional<T> value_;
  Status status_;
};

}  // namespace strata
