// The pieces that texts of JSON are made of, as grammars.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

struct JsonStyle {
  /// Whether lines and spaces may stand between the parts of arrays and objects: a space, or a line
  /// end and up to 20 spaces; else ", " and ": " stand there, and nothing else.
  bool any_whitespace = true;
  /// A regular expression of what may stand there in place of that, of JSON's spaces alone; empty:
  /// none is given.
  std::string whitespace = {};
};

/// An end of a range of numbers.
struct Bound {
  /// In decimals without an exponent.
  std::string number;
  bool exclusive = false;
};

/// Numbers have at most 19 digits before the point and 18 behind it, and exponents two, so that
/// every reader takes them.
class JsonText {
 public:
  using Node = Grammar::Node;
  /// The grammar must outlive it.
  JsonText(Grammar& grammar, JsonStyle style);

  /// Any value, object or array.
  Node value();
  Node object();
  Node array();
  Node integer();
  Node number();
  Node truth();
  Node null();
  /// A string of `least` to `most` characters; kAny: any number.
  Node string(std::int64_t least = 0, std::int64_t most = Grammar::kAny);
  /// One of these characters as a string has it: as itself where that is possible.
  Node written(const CharacterSet& set);
  /// A string that matches: the expression is read as `regex` reads it.
  Node matching(const std::string& pattern, bool whole);
  /// A string that is none of these, each character written as itself where that is possible.
  Node other_than(const std::vector<std::string>& strings);
  /// A value as it is.
  Node exactly(const nlohmann::ordered_json& value);
  Node integer_in(std::optional<std::int64_t> least, std::optional<std::int64_t> most);
  /// Multiples of `step`, 1 to 256.
  Node multiple(std::int64_t step);
  Node number_in(const std::optional<Bound>& least, const std::optional<Bound>& most);

  /// Parts of objects and arrays with the space that the style has.
  Node open(char bracket);
  Node close(char bracket);
  Node comma();
  Node colon();

 private:
  Node digits(std::int64_t least, std::int64_t most);
  Node digit(char first, char last);
  Node at_least(const std::string& digits);
  Node at_most(const std::string& digits);
  Node between(const std::string& least, const std::string& most);
  Node naturals(const std::string& least, const std::string& most);
  Node fraction(const std::optional<Bound>& least, const std::optional<Bound>& most,
                std::int64_t digits);
  Node fraction_digits(std::optional<std::string> least, bool above,
                       std::optional<std::string> most, bool below, std::int64_t digits,
                       bool may_end);
  Node positive(const Bound& least, const std::optional<Bound>& most, bool zero);
  Grammar::Rule rule_of(std::optional<Grammar::Rule>& rule, const char* name, bool& made);
  void remainders(std::int64_t step);

  Grammar& g_;
  JsonStyle style_;
  Node space_;
  std::optional<Grammar::Rule> value_, object_, array_, character_, number_, integer_;
};

}  // namespace strata::engine::grammar
