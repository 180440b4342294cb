// Reads the short texts of this room: words, numbers, names in quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.h"

namespace strata::mesh {

/// A place in a text. The first failure stays; after it nothing is consumed.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Whether the text goes on with `word` behind spaces, which are passed then.
  bool consume(std::string_view word);
  /// Passes `word`, or fails.
  bool expect(std::string_view word);
  /// Whether `word` comes next; passes nothing.
  bool next_is(std::string_view word);
  /// A name in quotes, with `\"` and `\\` inside, or a failure.
  std::string quoted();
  /// A number without sign that fits std::int64_t, or a failure.
  std::int64_t number();
  /// A word of letters, digits, `_`, `-`, `.` and `$`, or a failure.
  std::string word();
  /// Whether only spaces are left.
  bool at_end();

  void fail(const std::string& message);
  /// Whether nothing failed.
  bool ok() const { return !failure_; }
  /// The first failure with its place; ok where there is none.
  Status status() const;

 private:
  void skip();
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> failure_;
};

/// The text in double quotes, `"` and `\` escaped.
std::string quote(std::string_view name);

}  // namespace strata::mesh
