// Grammars over bytes: what texts a model may write.
//
//   Grammar g;
//   const auto digit = g.characters({{'0', '9'}});
//   g.define(g.root(), g.sequence({g.text("n="), g.repeat(digit, 1, Grammar::kAny)}));
//   Automaton(g).accepts("n=17")                          // true
//
// A grammar is rules, each with an expression of texts, sets of characters, sequences, choices,
// repetitions and other rules. Readers make them: regex.h, ebnf.h, lark.h, json_schema.h.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::engine::grammar {

/// Code points, as ranges that ascend and do not touch.
class CharacterSet {
 public:
  struct Range {
    char32_t first, last;
    auto operator<=>(const Range&) const = default;
  };
  CharacterSet() = default;
  CharacterSet(std::initializer_list<Range> ranges);
  /// All but surrogates.
  static CharacterSet all();
  void add(char32_t first, char32_t last);
  void add(const CharacterSet& more);
  /// All characters that are not in it.
  CharacterSet complement() const;
  CharacterSet without(const CharacterSet& other) const;
  /// With both cases of the letters of ASCII that it has.
  CharacterSet in_both_cases() const;
  bool contains(char32_t c) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<Range>& ranges() const { return ranges_; }
  auto operator<=>(const CharacterSet&) const = default;

 private:
  std::vector<Range> ranges_;
};

using ByteSet = std::bitset<256>;

class Grammar {
 public:
  /// Numbers of an expression and of a rule.
  using Node = std::int32_t;
  using Rule = std::int32_t;
  static constexpr std::int64_t kAny = -1;
  /// How often something is repeated at most where there is a bound, and expressions at most.
  static constexpr std::int64_t kMostRepeats = 10000;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 17;

  enum class Kind { text, byte, sequence, choice, repeat, rule };
  struct Expression {
    Kind kind = Kind::text;
    std::string text = {};            // bytes, one after the other
    ByteSet byte = {};                // one of these bytes
    std::vector<Node> children = {};  // of sequence, choice, repeat
    std::int64_t least = 0, most = 0;
    Rule rule = 0;
  };

  Grammar();

  /// Bytes as they are.
  Node text(std::string_view bytes);
  /// The same, letters of ASCII in any case.
  Node text_in_any_case(std::string_view bytes);
  Node byte(const ByteSet& set);
  /// One of these characters, in UTF-8.
  Node characters(const CharacterSet& set);
  /// One behind the other; none: the empty text.
  Node sequence(std::vector<Node> parts);
  /// One of them; none: no text at all.
  Node choice(std::vector<Node> parts);
  /// Throws Error for more than kMostRepeats, and unless 0 <= least <= most or most is kAny.
  Node repeat(Node part, std::int64_t least, std::int64_t most);
  Node optional(Node part) { return repeat(part, 0, 1); }
  Node rule(Rule rule);

  /// The rule of whole texts.
  Rule root() const { return 0; }
  /// A rule that `define` gives an expression later.
  Rule add_rule(std::string name);
  void define(Rule rule, Node expression);
  bool defined(Rule rule) const { return bodies_[static_cast<std::size_t>(rule)] >= 0; }

  /// All rules of another grammar; what its root says.
  Node include(const Grammar& other);

  const Expression& at(Node node) const { return nodes_[static_cast<std::size_t>(node)]; }
  std::size_t rules() const { return names_.size(); }
  const std::string& name(Rule rule) const { return names_[static_cast<std::size_t>(rule)]; }
  /// Throws Error for a rule without an expression.
  Node body(Rule rule) const;
  /// A rule that begins with itself says the same as one that repeats: rewrites those.
  void remove_direct_left_recursion();

 private:
  Node add(Expression expression);
  Node wide(const CharacterSet& set);
  std::vector<Expression> nodes_;
  std::vector<std::string> names_;
  std::vector<Node> bodies_;
  std::map<CharacterSet, Rule> wide_;  // rules of characters beyond ASCII
};

/// A character in UTF-8.
std::string utf8(char32_t c);
/// The character at `at`, which moves behind it. Throws Error for what is no UTF-8.
char32_t next_character(std::string_view text, std::size_t& at);

}  // namespace strata::engine::grammar
