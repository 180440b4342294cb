#include "strata/engine/grammar/regex.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.h"

namespace strata::engine::grammar {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 10;
constexpr int kDeepest = 64;

[[noreturn]] void refuse(std::string_view what, std::size_t at) {
  throw Error("regex", "{} at byte {} is not supported", what, at);
}
[[noreturn]] void wrong(std::string_view what, std::size_t at) {
  throw Error("regex", "{} at byte {}", what, at);
}

const CharacterSet& digits() {
  static const CharacterSet out{{'0', '9'}};
  return out;
}
const CharacterSet& word() {
  static const CharacterSet out{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return out;
}
const CharacterSet& spaces() {
  static const CharacterSet out{{'\t', '\r'}, {' ', ' '}};
  return out;
}
/// All that any of the languages takes as a space.
const CharacterSet& wide_spaces() {
  static const CharacterSet out{
      {'\t', '\r'},     {0x1C, 0x1F},     {' ', ' '},       {0x85, 0x85},     {0xA0, 0xA0},
      {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
      {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  return out;
}
CharacterSet beyond_ascii(CharacterSet set) {
  set.add(CharacterSet{{0x80, 0xD7FF}, {0xE000, 0x10FFFF}});
  return set;
}
const CharacterSet& line_ends() {
  static const CharacterSet out{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
  return out;
}

/// An expression as it is read: where ^ and $ stand matters to the whole of it.
struct Tree {
  enum class Kind { characters, sequence, choice, repeat, begin, end };
  Kind kind = Kind::sequence;
  CharacterSet set = {};
  std::vector<Tree> children = {};
  std::int64_t least = 0, most = 0;
  std::size_t at = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  Tree whole() {
    Tree out = choice(0);
    if (at_ < text_.size()) wrong("a ) without a (", at_);
    return out;
  }

  std::size_t place() const { return at_; }

  /// Behind [.
  CharacterSet in_brackets() {
    const bool negated = take('^');
    CharacterSet out;
    bool first = true;
    for (;; first = false) {
      if (at_ >= text_.size()) wrong("a [ without a ]", at_);
      if (peek() == ']' && !first) break;
      if (peek() == ']') wrong("an empty class", at_);
      CharacterSet low;
      const bool is_one = member(low, negated);
      if (!is_one || peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        out.add(low);
        continue;
      }
      ++at_;
      CharacterSet high;
      const std::size_t from = at_;
      if (!member(high, negated)) wrong("a range that ends with a class", from);
      const char32_t a = low.ranges()[0].first, b = high.ranges()[0].first;
      if (a > b) wrong("a range that descends", from);
      out.add(a, b);
    }
    ++at_;
    return negated ? out.complement() : out;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Tree choice(int depth) {
    if (depth > kDeepest) wrong("groups nested deeper than 64", at_);
    Tree out{.kind = Tree::Kind::choice, .at = at_};
    do {
      out.children.push_back(sequence(depth));
    } while (take('|'));
    return out;
  }

  Tree sequence(int depth) {
    Tree out{.kind = Tree::Kind::sequence, .at = at_};
    while (at_ < text_.size() && peek() != '|' && peek() != ')') {
      Tree one = atom(depth);
      out.children.push_back(repeated(std::move(one)));
    }
    return out;
  }

  Tree repeated(Tree one) {
    for (;;) {
      const std::size_t from = at_;
      std::int64_t least = 0, most = Grammar::kAny;
      if (take('*')) {
      } else if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (peek() != '{' || !counts(least, most)) {
        return one;
      }
      if (one.kind == Tree::Kind::begin || one.kind == Tree::Kind::end)
        wrong("a repeated ^ or $", from);
      if (one.kind == Tree::Kind::repeat && one.at == from) wrong("nothing to repeat", from);
      take('?');
      if (peek() == '+') refuse("a possessive quantifier", at_);
      if (peek() == '*' || peek() == '?') wrong("nothing to repeat", at_);
      Tree out{.kind = Tree::Kind::repeat, .least = least, .most = most, .at = at_};
      out.children.push_back(std::move(one));
      one = std::move(out);
      if (peek() == '{') {
        std::int64_t a = 0, b = 0;
        const std::size_t again = at_;
        if (counts(a, b)) wrong("nothing to repeat", again);
      }
      return one;
    }
  }

  /// {n}, {n,} or {n,m}; false: a brace that is text.
  bool counts(std::int64_t& least, std::int64_t& most) {
    std::size_t at = at_ + 1;
    const auto number = [&](std::int64_t& out) {
      const std::size_t from = at;
      for (out = 0; at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; ++at)
        out = std::min<std::int64_t>(out * 10 + (text_[at] - '0'), 1'000'000'000);
      return at > from;
    };
    if (!number(least)) return false;
    most = least;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      if (!number(most)) most = Grammar::kAny;
    }
    if (at >= text_.size() || text_[at] != '}') return false;
    at_ = at + 1;
    return true;
  }

  Tree atom(int depth) {
    const std::size_t from = at_;
    if (take('^')) return {.kind = Tree::Kind::begin, .at = from};
    if (take('$')) return {.kind = Tree::Kind::end, .at = from};
    if (take('.')) return {.kind = Tree::Kind::characters, .set = line_ends().complement()};
    if (take('[')) return {.kind = Tree::Kind::characters, .set = in_brackets()};
    if (take('(')) return group(depth);
    if (peek() == '*' || peek() == '+' || peek() == '?') wrong("nothing to repeat", at_);
    CharacterSet set;
    if (peek() == '\\') {
      escape(set, false, false);
    } else {
      const char32_t c = next_character(text_, at_);
      if (c == 0) wrong("a NUL", from);
      set.add(c, c);
    }
    return {.kind = Tree::Kind::characters, .set = std::move(set)};
  }

  Tree group(int depth) {
    const std::size_t from = at_ - 1;
    if (take('?')) {
      if (take(':')) {
      } else if (text_.substr(at_).starts_with("P<") || text_.substr(at_).starts_with("<")) {
        at_ += peek() == 'P' ? 2 : 1;
        if (peek() == '=' || peek() == '!') refuse("a look-behind", from);
        const std::size_t end = text_.find('>', at_);
        if (end == text_.npos || end == at_) wrong("a group without a name", from);
        at_ = end + 1;
      } else if (peek() == '=' || peek() == '!') {
        refuse("a look-ahead", from);
      } else if (peek() == '>') {
        refuse("an atomic group", from);
      } else {
        refuse("a group that begins so", from);
      }
    }
    Tree out = choice(depth + 1);
    if (!take(')')) wrong("a ( without a )", from);
    out.at = from;
    return out;
  }

  /// A character or a class within brackets; whether it is one character.
  bool member(CharacterSet& out, bool negated) {
    if (peek() == '\\') return escape(out, true, negated);
    const char32_t c = next_character(text_, at_);
    out.add(c, c);
    return true;
  }

  char32_t hex(std::size_t digits, std::size_t from) {
    char32_t out = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const int d = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
      if (d < 0) wrong("an escape that is cut short", from);
      out = out * 16 + static_cast<char32_t>(d);
    }
    return out;
  }

  /// An escape: whether it is one character. A class that is negated twice is the wide one.
  bool escape(CharacterSet& out, bool in_brackets, bool negated) {
    const std::size_t from = at_++;
    if (at_ >= text_.size()) wrong("an escape that is cut short", from);
    const char c = text_[at_];
    const auto one = [&](char32_t x) {
      out.add(x, x);
      return true;
    };
    const auto set = [&](const CharacterSet& s) {
      out.add(s);
      return false;
    };
    if (static_cast<unsigned char>(c) >= 0x80) return one(next_character(text_, at_));
    ++at_;
    switch (c) {
      // Beyond ASCII the languages differ: such characters are in neither class nor complement.
      case 'd': return set(negated ? beyond_ascii(digits()) : digits());
      case 'D': return set(negated ? digits().complement() : beyond_ascii(digits()).complement());
      case 'w': return set(negated ? beyond_ascii(word()) : word());
      case 'W': return set(negated ? word().complement() : beyond_ascii(word()).complement());
      case 's': return set(negated ? wide_spaces() : spaces());
      case 'S': return set(negated ? spaces().complement() : wide_spaces().complement());
      case 't': return one('\t');
      case 'n': return one('\n');
      case 'v': return one('\v');
      case 'f': return one('\f');
      case 'r': return one('\r');
      case 'x': return one(hex(2, from));
      case 'u': {
        char32_t x = 0;
        if (take('{')) {
          std::size_t end = at_;
          while (end < text_.size() && text_[end] != '}') ++end;
          if (end == at_ || end - at_ > 6) wrong("an escape that is no character", from);
          x = hex(end - at_, from);
          if (!take('}')) wrong("an escape that is cut short", from);
        } else {
          x = hex(4, from);
          if (x >= 0xD800 && x < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
            at_ += 2;
            const char32_t low = hex(4, from);
            if (low < 0xDC00 || low > 0xDFFF) wrong("half a character", from);
            x = 0x10000 + ((x - 0xD800) << 10) + (low - 0xDC00);
          }
        }
        if (x > 0x10FFFF || (x >= 0xD800 && x < 0xE000))
          wrong("an escape that is no character", from);
        return one(x);
      }
      case 'b':
        if (in_brackets) return one('\b');
        refuse("\\b", from);
      case 'B': refuse("\\B", from);
      case 'A': refuse("\\A", from);
      case 'Z': refuse("\\Z", from);
      case 'z': refuse("\\z", from);
      case 'G': refuse("\\G", from);
      case 'k': refuse("a back reference", from);
      case 'p':
      case 'P': refuse("\\p", from);
      case '0':
        if (peek() >= '0' && peek() <= '9') refuse("an octal escape", from);
        wrong("a NUL", from);
      default: break;
    }
    if (c >= '1' && c <= '9') refuse("a back reference", from);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) wrong("an unknown escape", from);
    return one(static_cast<char32_t>(c));
  }

  std::string_view text_;
  std::size_t at_;
};

class Writer {
 public:
  Writer(Grammar& grammar, const RegexOptions& options) : g_(grammar), options_(options) {}

  Grammar::Node whole(const Tree& tree) {
    std::vector<Grammar::Node> parts;
    for (const Tree& alternative : tree.children) parts.push_back(ends(alternative));
    return g_.choice(std::move(parts));
  }

 private:
  Grammar::Node write(const CharacterSet& set) {
    const CharacterSet all = options_.any_case ? set.in_both_cases() : set;
    return options_.write ? options_.write(all) : g_.characters(all);
  }

  /// An alternative of the whole, with what may stand before and behind it.
  Grammar::Node ends(const Tree& tree) {
    std::size_t first = 0, last = tree.children.size();
    bool begins = options_.whole, ends = options_.whole;
    // A group that is all there is stands for its alternatives.
    if (last == 1 && tree.children[0].kind == Tree::Kind::choice) return whole(tree.children[0]);
    while (first < last && tree.children[first].kind == Tree::Kind::begin) begins = true, ++first;
    while (last > first && tree.children[last - 1].kind == Tree::Kind::end) ends = true, --last;
    std::vector<Grammar::Node> parts;
    if (!begins) parts.push_back(anything());
    for (std::size_t i = first; i < last; ++i) parts.push_back(inner(tree.children[i]));
    if (!ends) parts.push_back(anything());
    return g_.sequence(std::move(parts));
  }

  Grammar::Node anything() { return g_.repeat(write(CharacterSet::all()), 0, Grammar::kAny); }

  Grammar::Node inner(const Tree& tree) {
    switch (tree.kind) {
      case Tree::Kind::characters: return write(tree.set);
      case Tree::Kind::repeat: return g_.repeat(inner(tree.children[0]), tree.least, tree.most);
      case Tree::Kind::begin: refuse("a ^ that does not begin the expression", tree.at);
      case Tree::Kind::end: refuse("a $ that does not end the expression", tree.at);
      case Tree::Kind::sequence:
      case Tree::Kind::choice: break;
    }
    std::vector<Grammar::Node> parts;
    for (const Tree& child : tree.children) parts.push_back(inner(child));
    return tree.kind == Tree::Kind::sequence ? g_.sequence(std::move(parts))
                                             : g_.choice(std::move(parts));
  }

  Grammar& g_;
  const RegexOptions& options_;
};

}  // namespace

Grammar::Node regex(Grammar& grammar, std::string_view pattern, const RegexOptions& options) {
  if (pattern.size() > kLongest)
    throw Error("regex", "an expression of {} bytes is longer than {}", pattern.size(), kLongest);
  return Writer(grammar, options).whole(Reader(pattern).whole());
}

CharacterSet read_class(std::string_view pattern, std::size_t& at) {
  Reader reader(pattern, at);
  CharacterSet out = reader.in_brackets();
  at = reader.place();
  return out;
}

}  // namespace strata::engine::grammar
