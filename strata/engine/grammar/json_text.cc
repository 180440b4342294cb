#include "strata/engine/grammar/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "strata/base/error.h"
#include "strata/engine/grammar/regex.h"

namespace strata::engine::grammar {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::int64_t kAny = Grammar::kAny;

/// A number in decimals: digits before the point and behind it, without zeros that say nothing.
struct Decimal {
  bool negative = false;
  std::string whole = "0", rest = {};
  bool zero() const { return whole == "0" && rest.empty(); }
};

Decimal decimal(const std::string& text) {
  Decimal out;
  std::string s = text;
  if (s.starts_with('-')) out.negative = true, s.erase(0, 1);
  const std::size_t point = s.find('.');
  out.whole = s.substr(0, point);
  if (point != s.npos) out.rest = s.substr(point + 1);
  while (out.rest.ends_with('0')) out.rest.pop_back();
  if (out.zero()) out.negative = false;
  return out;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int sign = a.negative ? -1 : 1;
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -sign : sign;
  const int whole = a.whole.compare(b.whole);
  if (whole != 0) return whole < 0 ? -sign : sign;
  const int rest = a.rest.compare(b.rest);
  return rest == 0 ? 0 : rest < 0 ? -sign : sign;
}

std::string plus_one(std::string digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return digits;
    }
    digits[i] = '0';
  }
  return "1" + digits;
}

std::string minus_one(std::string digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '0') {
      --digits[i];
      break;
    }
    digits[i] = '9';
  }
  while (digits.size() > 1 && digits[0] == '0') digits.erase(0, 1);
  return digits;
}

bool less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

JsonText::JsonText(Grammar& grammar, JsonStyle style) : g_(grammar), style_(style), space_(0) {
  const Node line = g_.text("\n"), blanks = g_.repeat(g_.text(" "), 0, 20);
  const Node lines = g_.sequence({line, blanks}), blank = g_.text(" ");
  if (!style_.whitespace.empty()) {
    style_.any_whitespace = true;
    const CharacterSet spaces = {{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}};
    // Characters that are no space of JSON's cannot come, whatever the expression says.
    const auto write = [&](const CharacterSet& set) {
      return g_.characters(set.without(spaces.complement()));
    };
    const Grammar::Rule rule = g_.add_rule("space");
    g_.define(rule, regex(g_, style_.whitespace, {.write = write}));
    space_ = g_.rule(rule);
    return;
  }
  space_ = style_.any_whitespace ? g_.optional(g_.choice({blank, lines})) : g_.text("");
}

Grammar::Rule JsonText::rule_of(std::optional<Grammar::Rule>& rule, const char* name, bool& made) {
  made = !rule;
  if (made) rule = g_.add_rule(name);
  return *rule;
}

// ---- brackets -----------------------------------------------------------------------------------

JsonText::Node JsonText::open(char bracket) {
  const Node text = g_.text(std::string(1, bracket));
  return g_.sequence({text, space_});
}

JsonText::Node JsonText::close(char bracket) {
  const Node text = g_.text(std::string(1, bracket));
  return g_.sequence({space_, text});
}

JsonText::Node JsonText::comma() {
  if (!style_.any_whitespace) return g_.text(", ");
  const Node text = g_.text(",");
  return g_.sequence({space_, text, space_});
}

JsonText::Node JsonText::colon() {
  if (!style_.any_whitespace) return g_.text(": ");
  const Node text = g_.text(":");
  return g_.sequence({space_, text, space_});
}

// ---- values -------------------------------------------------------------------------------------

JsonText::Node JsonText::value() {
  bool made = false;
  const Grammar::Rule rule = rule_of(value_, "value", made);
  if (made) {
    const Node a = object(), b = array(), c = string(), d = number(), e = truth(), f = null();
    g_.define(rule, g_.choice({a, b, c, d, e, f}));
  }
  return g_.rule(rule);
}

JsonText::Node JsonText::object() {
  bool made = false;
  const Grammar::Rule rule = rule_of(object_, "object", made);
  if (made) {
    const Node key = string(), between = colon(), of_key = value();
    const Node member = g_.sequence({key, between, of_key});
    const Node next = comma();
    const Node more = g_.repeat(g_.sequence({next, member}), 0, kAny);
    const Node from = open('{'), to = close('}'), empty = g_.text("{}");
    g_.define(rule, g_.choice({empty, g_.sequence({from, member, more, to})}));
  }
  return g_.rule(rule);
}

JsonText::Node JsonText::array() {
  bool made = false;
  const Grammar::Rule rule = rule_of(array_, "array", made);
  if (made) {
    const Node item = value(), next = comma();
    const Node more = g_.repeat(g_.sequence({next, item}), 0, kAny);
    const Node from = open('['), to = close(']'), empty = g_.text("[]");
    g_.define(rule, g_.choice({empty, g_.sequence({from, item, more, to})}));
  }
  return g_.rule(rule);
}

JsonText::Node JsonText::truth() {
  const Node yes = g_.text("true"), no = g_.text("false");
  return g_.choice({yes, no});
}

JsonText::Node JsonText::null() { return g_.text("null"); }

JsonText::Node JsonText::string(std::int64_t least, std::int64_t most) {
  bool made = false;
  const Grammar::Rule rule = rule_of(character_, "character", made);
  if (made) {
    // Escapes of characters, but for surrogates: each is one character.
    const Node plain =
        g_.characters(CharacterSet({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}).complement());
    const Node short_ones = g_.characters({{'"', '"'},
                                           {'\\', '\\'},
                                           {'/', '/'},
                                           {'b', 'b'},
                                           {'f', 'f'},
                                           {'n', 'n'},
                                           {'r', 'r'},
                                           {'t', 't'}});
    const CharacterSet hexes{{'0', '9'}, {'a', 'f'}, {'A', 'F'}};
    const Node hex = g_.characters(hexes);
    const Node not_d = g_.characters(hexes.without({{'d', 'd'}, {'D', 'D'}}));
    const Node d = g_.characters({{'d', 'd'}, {'D', 'D'}}), low = g_.characters({{'0', '7'}});
    const Node any = g_.sequence({not_d, hex, hex, hex}), bmp = g_.sequence({d, low, hex, hex});
    const Node u = g_.text("u");
    const Node long_one = g_.sequence({u, g_.choice({any, bmp})}), mark = g_.text("\\");
    const Node escape = g_.sequence({mark, g_.choice({short_ones, long_one})});
    g_.define(rule, g_.choice({plain, escape}));
  }
  const Node quote = g_.text("\""), one = g_.rule(rule);
  return g_.sequence({quote, g_.repeat(one, least, most), quote});
}

JsonText::Node JsonText::written(const CharacterSet& set) {
  const CharacterSet special{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  const CharacterSet plain = set.without(special);
  std::vector<Node> parts;
  if (!plain.empty()) parts.push_back(g_.characters(plain));
  CharacterSet letters;                // behind a backslash
  std::map<char, CharacterSet> hexes;  // last digits behind \u000 and \u001
  for (const auto& [first, last] : set.ranges())
    for (char32_t c = first; c <= std::min<char32_t>(last, '\\'); ++c) {
      if (!special.contains(c)) continue;
      constexpr std::string_view from = "\"\\\b\f\n\r\t", to = "\"\\bfnrt";
      const std::size_t known = from.find(static_cast<char>(c));
      if (known != from.npos) {
        const auto as = static_cast<char32_t>(to[known]);
        letters.add(as, as);
        continue;
      }
      const char32_t low = c & 15, as = low < 10 ? '0' + low : 'a' + low - 10;
      hexes[c < 16 ? '0' : '1'].add(as, as);
    }
  if (!letters.empty()) {
    const Node mark = g_.text("\\");
    parts.push_back(g_.sequence({mark, g_.characters(letters)}));
  }
  for (const auto& [high, lows] : hexes) {
    const Node mark = g_.text(std::string("\\u00") + high);
    parts.push_back(g_.sequence({mark, g_.characters(lows)}));
  }
  return g_.choice(std::move(parts));
}

JsonText::Node JsonText::matching(const std::string& pattern, bool whole) {
  // Sets that a pattern has often are written once.
  std::map<CharacterSet, Node> known;
  const Node inner = regex(g_, pattern, {.whole = whole, .write = [&](const CharacterSet& set) {
                                           const auto [it, is_new] = known.try_emplace(set, 0);
                                           if (is_new) it->second = written(set);
                                           return it->second;
                                         }});
  const Node quote = g_.text("\"");
  return g_.sequence({quote, inner, quote});
}

JsonText::Node JsonText::other_than(const std::vector<std::string>& strings) {
  struct Place {
    std::map<char32_t, std::size_t> next = {};
    bool ends = false;
  };
  std::vector<Place> places(1);
  for (const std::string& s : strings) {
    std::size_t at = 0, place = 0;
    while (at < s.size()) {
      const char32_t c = next_character(s, at);
      const auto [it, is_new] = places[place].next.try_emplace(c, places.size());
      const std::size_t to = it->second;
      if (is_new) places.emplace_back();
      place = to;
    }
    places[place].ends = true;
  }
  const Node any = written(CharacterSet::all()), quote = g_.text("\"");
  const Node rest = g_.repeat(any, 0, kAny);
  std::vector<Grammar::Rule> rules;
  for (std::size_t i = 0; i < places.size(); ++i) rules.push_back(g_.add_rule("another name"));
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::vector<Node> ways;
    CharacterSet known;
    for (const auto& [c, to] : places[i].next) {
      known.add(c, c);
      const Node one = written({{c, c}}), on = g_.rule(rules[to]);
      ways.push_back(g_.sequence({one, on}));
    }
    const Node other = written(known.complement());
    ways.push_back(g_.sequence({other, rest}));
    if (!places[i].ends) ways.push_back(g_.text(""));
    g_.define(rules[i], g_.choice(std::move(ways)));
  }
  const Node inner = g_.rule(rules[0]);
  return g_.sequence({quote, inner, quote});
}

JsonText::Node JsonText::exactly(const Json& value) {
  if (value.is_array() || value.is_object()) {
    const bool list = value.is_array();
    if (value.empty()) return g_.text(list ? "[]" : "{}");
    std::vector<Node> parts = {open(list ? '[' : '{')};
    for (const auto& [key, item] : value.items()) {
      if (parts.size() > 1) parts.push_back(comma());
      if (!list) {
        parts.push_back(g_.text(Json(key).dump()));
        parts.push_back(colon());
      }
      parts.push_back(exactly(item));
    }
    parts.push_back(close(list ? ']' : '}'));
    return g_.sequence(std::move(parts));
  }
  return g_.text(value.dump());
}

// ---- numbers ------------------------------------------------------------------------------------

JsonText::Node JsonText::digit(char first, char last) {
  return g_.characters({{static_cast<char32_t>(first), static_cast<char32_t>(last)}});
}

JsonText::Node JsonText::digits(std::int64_t least, std::int64_t most) {
  return g_.repeat(digit('0', '9'), least, most);
}

JsonText::Node JsonText::integer() {
  bool made = false;
  const Grammar::Rule rule = rule_of(integer_, "integer", made);
  if (made) {
    const Node zero = g_.text("0"), first = digit('1', '9'), more = digits(0, 18);
    const Node some = g_.sequence({first, more}), sign = g_.optional(g_.text("-"));
    g_.define(rule, g_.sequence({sign, g_.choice({zero, some})}));
  }
  return g_.rule(rule);
}

JsonText::Node JsonText::number() {
  bool made = false;
  const Grammar::Rule rule = rule_of(number_, "number", made);
  if (made) {
    const Node whole = integer(), point = g_.text("."), behind = digits(1, 18);
    const Node rest = g_.optional(g_.sequence({point, behind}));
    const Node mark = g_.characters({{'e', 'e'}, {'E', 'E'}});
    const Node sign = g_.optional(g_.characters({{'+', '+'}, {'-', '-'}})), power = digits(1, 2);
    const Node exponent = g_.optional(g_.sequence({mark, sign, power}));
    g_.define(rule, g_.sequence({whole, rest, exponent}));
  }
  return g_.rule(rule);
}

/// Digits of the same length, at least or at most these.
JsonText::Node JsonText::at_least(const std::string& s) {
  if (s.empty()) return g_.text("");
  const auto rest = static_cast<std::int64_t>(s.size()) - 1;
  const Node same = g_.text(s.substr(0, 1)), on = at_least(s.substr(1));
  std::vector<Node> ways = {g_.sequence({same, on})};
  if (s[0] < '9') {
    const Node more = digit(static_cast<char>(s[0] + 1), '9'), any = digits(rest, rest);
    ways.push_back(g_.sequence({more, any}));
  }
  return g_.choice(std::move(ways));
}

JsonText::Node JsonText::at_most(const std::string& s) {
  if (s.empty()) return g_.text("");
  const auto rest = static_cast<std::int64_t>(s.size()) - 1;
  const Node same = g_.text(s.substr(0, 1)), on = at_most(s.substr(1));
  std::vector<Node> ways = {g_.sequence({same, on})};
  if (s[0] > '0') {
    const Node fewer = digit('0', static_cast<char>(s[0] - 1)), any = digits(rest, rest);
    ways.push_back(g_.sequence({fewer, any}));
  }
  return g_.choice(std::move(ways));
}

/// Digits of the same length as both.
JsonText::Node JsonText::between(const std::string& a, const std::string& b) {
  if (a.empty()) return g_.text("");
  const auto rest = static_cast<std::int64_t>(a.size()) - 1;
  if (a[0] == b[0]) {
    const Node same = g_.text(a.substr(0, 1)), on = between(a.substr(1), b.substr(1));
    return g_.sequence({same, on});
  }
  const Node low = g_.text(a.substr(0, 1)), over = at_least(a.substr(1));
  const Node high = g_.text(b.substr(0, 1)), under = at_most(b.substr(1));
  const Node from = g_.sequence({low, over}), to = g_.sequence({high, under});
  std::vector<Node> ways = {from, to};
  if (b[0] - a[0] > 1) {
    const Node inner = digit(static_cast<char>(a[0] + 1), static_cast<char>(b[0] - 1));
    const Node any = digits(rest, rest);
    ways.push_back(g_.sequence({inner, any}));
  }
  return g_.choice(std::move(ways));
}

/// Whole numbers without a sign from a to b.
JsonText::Node JsonText::naturals(const std::string& a, const std::string& b) {
  std::vector<Node> ways;
  for (std::size_t size = a.size(); size <= b.size() && !less(b, a); ++size) {
    const std::string least = size == a.size() ? a : "1" + std::string(size - 1, '0');
    const std::string most = size == b.size() ? b : std::string(size, '9');
    ways.push_back(between(least, most));
  }
  return g_.choice(std::move(ways));
}

JsonText::Node JsonText::integer_in(std::optional<std::int64_t> least,
                                    std::optional<std::int64_t> most) {
  if (!least && !most) return integer();
  const std::string all(19, '9');
  const auto size = [](std::int64_t x) {
    return std::to_string(x < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(x)
                                : static_cast<std::uint64_t>(x));
  };
  std::vector<Node> ways;
  if (!most || *most >= 0)
    ways.push_back(naturals(least && *least > 0 ? size(*least) : "0", most ? size(*most) : all));
  if (!least || *least < 0) {
    const Node sign = g_.text("-");
    const Node under = naturals(most && *most < 0 ? size(*most) : "1", least ? size(*least) : all);
    ways.push_back(g_.sequence({sign, under}));
  }
  return g_.choice(std::move(ways));
}

JsonText::Node JsonText::multiple(std::int64_t step) {
  if (step < 1 || step > 256) throw Error("grammar", "multiples of {} are not supported", step);
  if (step == 1) return integer();
  std::vector<Grammar::Rule> rules;
  for (std::int64_t r = 0; r < step; ++r) rules.push_back(g_.add_rule("remainder"));
  const auto ways_from = [&](std::int64_t remainder, int first) {
    std::vector<Node> ways;
    for (int d = first; d < 10; ++d) {
      const Node one = g_.text(std::string(1, static_cast<char>('0' + d)));
      const Node on = g_.rule(rules[static_cast<std::size_t>((remainder * 10 + d) % step)]);
      ways.push_back(g_.sequence({one, on}));
    }
    return ways;
  };
  for (std::int64_t r = 0; r < step; ++r) {
    std::vector<Node> ways = ways_from(r, 0);
    if (r == 0) ways.push_back(g_.text(""));
    g_.define(rules[static_cast<std::size_t>(r)], g_.choice(std::move(ways)));
  }
  const Node sign = g_.optional(g_.text("-")), some = g_.choice(ways_from(0, 1));
  const Node zero = g_.text("0");
  return g_.choice({zero, g_.sequence({sign, some})});
}

/// Up to so many digits of a fraction that is between the bounds; a bound that is gone is kept by
/// whatever follows. `above` and `below`: it must not equal the bound.
JsonText::Node JsonText::fraction_digits(std::optional<std::string> least, bool above,
                                         std::optional<std::string> most, bool below,
                                         std::int64_t room, bool may_end) {
  const auto is_zero = [](const std::string& s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c == '0'; });
  };
  std::vector<Node> ways;
  const bool fits = (!least || (is_zero(*least) && !above)) && (!most || !is_zero(*most) || !below);
  if (may_end && fits) ways.push_back(g_.text(""));
  if (room > 0) {
    const char low = !least ? '0' : least->empty() ? '0' : (*least)[0];
    const char high = !most ? '9' : most->empty() ? '0' : (*most)[0];
    const char free_from = least ? static_cast<char>(low + 1) : '0';
    const char free_to = most ? static_cast<char>(high - 1) : '9';
    if (free_from <= free_to) {
      const Node one = digit(free_from, free_to), any = digits(0, room - 1);
      ways.push_back(g_.sequence({one, any}));
    }
    const auto rest = [](const std::string& s) { return s.empty() ? s : s.substr(1); };
    const auto tight = [&](char d, bool on_low, bool on_high) {
      const Node one = g_.text(std::string(1, d));
      const Node on = fraction_digits(on_low ? std::optional(rest(*least)) : std::nullopt, above,
                                      on_high ? std::optional(rest(*most)) : std::nullopt, below,
                                      room - 1, true);
      ways.push_back(g_.sequence({one, on}));
    };
    if (least && low <= high) tight(low, true, most && low == high);
    if (most && high >= low && !(least && low == high)) tight(high, false, true);
  }
  return g_.choice(std::move(ways));
}

/// What may stand behind the whole part: nothing, or a point and digits.
JsonText::Node JsonText::fraction(const std::optional<Bound>& least,
                                  const std::optional<Bound>& most, std::int64_t room) {
  const auto text = [](const std::optional<Bound>& b) {
    return b ? std::optional(b->number) : std::nullopt;
  };
  const bool above = least && least->exclusive, below = most && most->exclusive;
  std::vector<Node> ways;
  // Nothing is as good as a fraction of 0.
  const bool low = !least || (least->number.empty() && !above);
  if (low && (!most || !most->number.empty() || !below)) ways.push_back(g_.text(""));
  const Node point = g_.text(".");
  const Node behind = fraction_digits(text(least), above, text(most), below, room, false);
  ways.push_back(g_.sequence({point, behind}));
  return g_.choice(std::move(ways));
}

/// Numbers without a sign between bounds that are not negative; `zero`: 0 may be one.
JsonText::Node JsonText::positive(const Bound& least, const std::optional<Bound>& most, bool zero) {
  Decimal low = decimal(least.number);
  const Bound from{low.rest, least.exclusive || (low.zero() && !zero)};
  std::optional<Decimal> high;
  if (most) high = decimal(most->number);
  // So few digits that no reader rounds a number onto a bound.
  const std::size_t longest = std::max(low.whole.size(), high ? high->whole.size() : 0);
  const std::size_t behind = std::max(low.rest.size(), high ? high->rest.size() : 0);
  const auto room =
      static_cast<std::int64_t>(std::max(behind, longest < 15 ? 15 - longest : std::size_t{0}));
  const auto to = [&] { return Bound{high->rest, most->exclusive}; };
  if (high && high->whole == low.whole) {
    const Node whole = g_.text(low.whole);
    return g_.sequence({whole, fraction(from, to(), room)});
  }
  std::vector<Node> ways;
  const Node whole = g_.text(low.whole);
  ways.push_back(g_.sequence({whole, fraction(from, {}, room)}));
  const std::string inner_from = plus_one(low.whole);
  const std::string inner_to = high ? minus_one(high->whole) : std::string(15, '9');
  if (!less(inner_to, inner_from)) {
    const Node inner = naturals(inner_from, inner_to);
    ways.push_back(g_.sequence({inner, fraction({}, {}, room)}));
  }
  if (high) {
    const Node last = g_.text(high->whole);
    ways.push_back(g_.sequence({last, fraction({}, to(), room)}));
  }
  return g_.choice(std::move(ways));
}

JsonText::Node JsonText::number_in(const std::optional<Bound>& least,
                                   const std::optional<Bound>& most) {
  if (!least && !most) return number();
  std::vector<Node> ways;
  const Decimal zero;
  const std::optional<Decimal> low = least ? std::optional(decimal(least->number)) : std::nullopt;
  const std::optional<Decimal> high = most ? std::optional(decimal(most->number)) : std::nullopt;
  if (low && high) {
    const int order = compare(*low, *high);
    if (order > 0 || (order == 0 && (least->exclusive || most->exclusive))) return g_.choice({});
  }
  const auto without_sign = [](const Bound& b) {
    return Bound{b.number.starts_with('-') ? b.number.substr(1) : b.number, b.exclusive};
  };
  const int high_sign = high ? compare(*high, zero) : 1, low_sign = low ? compare(*low, zero) : -1;
  if (high_sign > 0 || (high_sign == 0 && !most->exclusive))
    ways.push_back(positive(low_sign >= 0 && least ? *least : Bound{"0"}, most, true));
  if (low_sign < 0) {
    const Node sign = g_.text("-");
    const Bound from = high_sign < 0 ? without_sign(*most) : Bound{"0"};
    const std::optional<Bound> to = least ? std::optional(without_sign(*least)) : std::nullopt;
    ways.push_back(g_.sequence({sign, positive(from, to, false)}));
  }
  return g_.choice(std::move(ways));
}

}  // namespace strata::engine::grammar
