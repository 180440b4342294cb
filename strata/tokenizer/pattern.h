// Patterns that cut a text: strings and regular expressions of tokenizer.json.
//
//   auto p = Pattern::regex(R"(\p{N}{1,3})");
//   p->matches("ab1234")    // {0, 2, no}, {2, 5, yes}, {5, 6, yes}
//
// The expressions that published tokenizers use are recognised by their text and matched by loops
// that take time for the text's length (known_patterns.h). Others run in PCRE2 with Unicode classes
// and a bound on its steps; an expression that the bound stops throws Error when it is applied.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::tokenizer {

/// Bytes begin .. end - 1 of a text, matched or between matches.
struct Match {
  std::size_t begin, end;
  bool matched;
};

class Pattern {
 public:
  /// Fails with Code::invalid for an expression that is none or that is beyond 4 KiB.
  static Result<Pattern> regex(const std::string& expression);
  /// The string itself. An empty one matches nowhere.
  static Pattern literal(const std::string& text);
  /// As `regex`, never by a matcher of its own: what those must equal.
  static Result<Pattern> slow_regex(const std::string& expression);

  /// The whole of a well-formed text, cut into matches and what is between.
  std::vector<Match> matches(std::string_view text) const { return find_(text); }

 private:
  explicit Pattern(std::function<std::vector<Match>(std::string_view)> find)
      : find_(std::move(find)) {}
  std::function<std::vector<Match>(std::string_view)> find_;
};

}  // namespace strata::tokenizer
