// The user's mistakes.
//
//   throw Error("dot_general", "contracting dimensions must have equal size, got {} and {}", 3,
//   4).at(where);
//
// `what()` reads "dot_general: contracting dimensions must ... [at program.cc:12]". Messages begin
// in lower case, carry the actual shapes and dtypes, and end without a full stop.
#pragma once

#include <fmt/core.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace strata {

/// A mistake of the program or person that called us; says which operation and what was given.
class Error : public std::exception {
 public:
  Error(std::string operation, std::string message);
  template <class Arg, class... Args>
  Error(std::string operation, fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args)
      : Error(std::move(operation), fmt::string_view(format),
              fmt::format_args(fmt::make_format_args(arg, args...))) {}
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(Error);
  ~Error() override;

  /// Adds where the mistake was made ("file:line"); the innermost place wins, so a second call
  /// changes nothing.
  Error& at(const std::string& where);

  /// Says that the request is sound but beyond what Strata does yet: the commands' exit status 3
  /// rather than 2.
  Error& unsupported() {
    unsupported_ = true;
    return *this;
  }
  /// Whether the request is sound but beyond what Strata does yet.
  bool is_unsupported() const { return unsupported_; }

  /// The whole message: "operation: what was given [at file:line]".
  const char* what() const noexcept override { return what_.c_str(); }
  /// The operation that refused, as users write it.
  const std::string& operation() const { return operation_; }
  /// What is wrong, without operation and place.
  const std::string& message() const { return message_; }
  /// "file:line" of the user's program; empty where nobody knows.
  const std::string& where() const { return where_; }

 private:
  Error(std::string operation, fmt::string_view format, fmt::format_args args);
  void compose();
  std::string operation_, message_, where_, within_, what_;
  bool unsupported_ = false;
};

/// What of a program's structure is being run on this thread ("layers/0/mlp"), empty where nothing
/// is known. Errors ask it when they are made, and say it behind the place: "[at program.cc:12, in
/// layers/0/mlp]". Set once, by the room that knows modules.
void set_error_context(std::string (*context)());

}  // namespace strata
