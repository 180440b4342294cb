#include "strata/engine/grammar/grammar.h"

#include <algorithm>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine::grammar {
namespace {

constexpr char32_t kLast = 0x10FFFF;

/// Bytes of the characters first .. last, which have equally many, as ranges of bytes.
void byte_ranges(char32_t first, char32_t last, int bytes,
                 std::vector<std::pair<unsigned char, unsigned char>> before,
                 std::vector<std::vector<std::pair<unsigned char, unsigned char>>>& out) {
  const auto lead = [&](char32_t c) -> unsigned char {
    if (bytes == 1) return static_cast<unsigned char>(before.empty() ? c : 0x80 | c);
    if (!before.empty()) return static_cast<unsigned char>(0x80 | (c >> (6 * (bytes - 1))));
    constexpr unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    return static_cast<unsigned char>(marks[bytes] | (c >> (6 * (bytes - 1))));
  };
  if (bytes == 1) {
    before.emplace_back(lead(first), lead(last));
    out.push_back(std::move(before));
    return;
  }
  const int shift = 6 * (bytes - 1);
  const char32_t rest = (char32_t{1} << shift) - 1;
  char32_t from = first;
  // A first byte whose rest is not whole; those with whole rests; a last one that is not whole.
  while (from <= last) {
    const char32_t block = from >> shift;
    const auto end = std::min(last, static_cast<char32_t>((block << shift) | rest));
    if ((from & rest) == 0 && end == ((block << shift) | rest)) {
      char32_t blocks = block;
      while (((blocks + 1) << shift | rest) <= last) ++blocks;
      auto with = before;
      with.emplace_back(lead(from), lead(blocks << shift));
      for (int i = 1; i < bytes; ++i) with.emplace_back(0x80, 0xBF);
      out.push_back(std::move(with));
      from = (blocks << shift | rest) + 1;
      continue;
    }
    auto with = before;
    with.emplace_back(lead(from), lead(from));
    byte_ranges(from & rest, end & rest, bytes - 1, std::move(with), out);
    from = end + 1;
  }
}

}  // namespace

// ---- characters ---------------------------------------------------------------------------------

CharacterSet::CharacterSet(std::initializer_list<Range> ranges) {
  for (const Range& r : ranges) add(r.first, r.last);
}

CharacterSet CharacterSet::all() { return {{0, 0xD7FF}, {0xE000, kLast}}; }

void CharacterSet::add(char32_t first, char32_t last) {
  if (first > last) return;
  std::vector<Range> out;
  for (const Range& r : ranges_) {
    if (r.last + 1 < first || last + 1 < r.first) {
      out.push_back(r);
    } else {
      first = std::min(first, r.first);
      last = std::max(last, r.last);
    }
  }
  out.push_back({first, last});
  std::sort(out.begin(), out.end());
  ranges_ = std::move(out);
}

void CharacterSet::add(const CharacterSet& more) {
  for (const Range& r : more.ranges_) add(r.first, r.last);
}

CharacterSet CharacterSet::complement() const { return all().without(*this); }

CharacterSet CharacterSet::without(const CharacterSet& other) const {
  CharacterSet out;
  for (const Range& r : ranges_) {
    char32_t from = r.first;
    for (const Range& cut : other.ranges_) {
      if (cut.last < from) continue;
      if (cut.first > r.last) break;
      if (cut.first > from) out.ranges_.push_back({from, cut.first - 1});
      from = cut.last + 1;
    }
    if (from <= r.last) out.ranges_.push_back({from, r.last});
  }
  return out;
}

CharacterSet CharacterSet::in_both_cases() const {
  CharacterSet out = *this;
  for (char32_t c = 'a'; c <= 'z'; ++c) {
    const char32_t upper = c - 'a' + 'A';
    if (contains(c)) out.add(upper, upper);
    if (contains(upper)) out.add(c, c);
  }
  return out;
}

bool CharacterSet::contains(char32_t c) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [c](const Range& r) { return r.first <= c && c <= r.last; });
}

std::string utf8(char32_t c) {
  std::string out;
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  const int bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  constexpr unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (int i = bytes - 1; i >= 0; --i)
    out += static_cast<char>(i == bytes - 1 ? marks[bytes] | (c >> (6 * i))
                                            : 0x80 | ((c >> (6 * i)) & 0x3F));
  return out;
}

char32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || at + bytes > text.size()) throw Error("grammar", "byte {} is no UTF-8", at);
  char32_t c = bytes == 1 ? lead : lead & (0xFF >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) throw Error("grammar", "byte {} is no UTF-8", at + i);
    c = c << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < least[bytes] || c > kLast || (c >= 0xD800 && c < 0xE000))
    throw Error("grammar", "byte {} is no UTF-8", at);
  at += bytes;
  return c;
}

// ---- expressions --------------------------------------------------------------------------------

Grammar::Grammar() { add_rule("root"); }

Grammar::Node Grammar::add(Expression expression) {
  if (nodes_.size() >= kMostNodes)
    throw Error("grammar", "a grammar may have at most {} expressions", kMostNodes);
  nodes_.push_back(std::move(expression));
  return static_cast<Node>(nodes_.size()) - 1;
}

Grammar::Node Grammar::text(std::string_view bytes) {
  return add({.kind = Kind::text, .text = std::string(bytes)});
}

Grammar::Node Grammar::text_in_any_case(std::string_view bytes) {
  std::vector<Node> parts;
  for (char c : bytes) {
    ByteSet set;
    set.set(static_cast<unsigned char>(c));
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      set.set(static_cast<unsigned char>(c) ^ 32);
    parts.push_back(byte(set));
  }
  return sequence(std::move(parts));
}

Grammar::Node Grammar::byte(const ByteSet& set) { return add({.kind = Kind::byte, .byte = set}); }

Grammar::Node Grammar::characters(const CharacterSet& set) {
  ByteSet ascii;
  CharacterSet rest;
  for (const auto& [first, last] : set.ranges()) {
    for (char32_t c = first; c <= last && c < 0x80; ++c) ascii.set(c);
    if (last >= 0x80) rest.add(std::max<char32_t>(first, 0x80), last);
  }
  rest = rest.without({{0xD800, 0xDFFF}});
  if (rest.empty()) return byte(ascii);
  if (ascii.none()) return wide(rest);
  const Node one = byte(ascii), other = wide(rest);
  return choice({one, other});
}

/// Characters beyond ASCII are a rule, so that each use of them is small.
Grammar::Node Grammar::wide(const CharacterSet& set) {
  const auto known = wide_.find(set);
  if (known != wide_.end()) return rule(known->second);
  std::vector<std::vector<std::pair<unsigned char, unsigned char>>> all;
  for (const auto& [first, last] : set.ranges()) {
    constexpr char32_t ends[] = {0, 0x7F, 0x7FF, 0xFFFF, kLast};
    for (int bytes = 2; bytes <= 4; ++bytes) {
      const auto from = std::max(first, static_cast<char32_t>(ends[bytes - 1] + 1));
      const auto to = std::min(last, ends[bytes]);
      if (from <= to) byte_ranges(from, to, bytes, {}, all);
    }
  }
  std::vector<Node> parts;
  for (const auto& ranges : all) {
    std::vector<Node> bytes;
    for (const auto& [first, last] : ranges) {
      ByteSet one;
      for (int b = first; b <= last; ++b) one.set(static_cast<std::size_t>(b));
      bytes.push_back(byte(one));
    }
    parts.push_back(sequence(std::move(bytes)));
  }
  const Rule made = add_rule("characters");
  define(made, choice(std::move(parts)));
  wide_[set] = made;
  return rule(made);
}

Grammar::Node Grammar::sequence(std::vector<Node> parts) {
  if (parts.size() == 1) return parts[0];
  return add({.kind = Kind::sequence, .children = std::move(parts)});
}

Grammar::Node Grammar::choice(std::vector<Node> parts) {
  if (parts.size() == 1) return parts[0];
  return add({.kind = Kind::choice, .children = std::move(parts)});
}

Grammar::Node Grammar::repeat(Node part, std::int64_t least, std::int64_t most) {
  if (least < 0 || (most != kAny && most < least))
    throw Error("grammar", "something cannot be repeated {} to {} times", least, most);
  if (least > kMostRepeats || most > kMostRepeats)
    throw Error("grammar", "something may be repeated at most {} times, got {}", kMostRepeats,
                std::max(least, most));
  return add({.kind = Kind::repeat, .children = {part}, .least = least, .most = most});
}

Grammar::Node Grammar::rule(Rule r) { return add({.kind = Kind::rule, .rule = r}); }

Grammar::Rule Grammar::add_rule(std::string name) {
  if (names_.size() >= kMostNodes)
    throw Error("grammar", "a grammar may have at most {} rules", kMostNodes);
  names_.push_back(std::move(name));
  bodies_.push_back(-1);
  return static_cast<Rule>(names_.size()) - 1;
}

void Grammar::define(Rule r, Node expression) { bodies_[static_cast<std::size_t>(r)] = expression; }

Grammar::Node Grammar::body(Rule r) const {
  const Node out = bodies_[static_cast<std::size_t>(r)];
  if (out < 0) throw Error("grammar", "rule {} is used but not defined", name(r));
  return out;
}

Grammar::Node Grammar::include(const Grammar& other) {
  const auto nodes = static_cast<Node>(nodes_.size());
  const auto first = static_cast<Rule>(rules());
  for (Expression e : other.nodes_) {
    for (Node& child : e.children) child += nodes;
    e.rule += first;
    add(std::move(e));
  }
  for (Rule r = 0; r < static_cast<Rule>(other.rules()); ++r)
    define(add_rule(other.name(r)), other.body(r) + nodes);
  return rule(first);
}

void Grammar::remove_direct_left_recursion() {
  for (Rule r = 0; r < static_cast<Rule>(rules()); ++r) {
    const Node whole = body(r);
    const std::vector<Node> alternatives =
        at(whole).kind == Kind::choice ? at(whole).children : std::vector<Node>{whole};
    std::vector<Node> firsts, tails;
    for (Node a : alternatives) {
      const Expression& e = at(a);
      const bool itself = e.kind == Kind::rule && e.rule == r;
      if (itself) continue;  // A = A says nothing
      const bool begins = e.kind == Kind::sequence && !e.children.empty() &&
                          at(e.children[0]).kind == Kind::rule && at(e.children[0]).rule == r;
      if (begins)
        tails.push_back(sequence({e.children.begin() + 1, e.children.end()}));
      else
        firsts.push_back(a);
    }
    if (tails.empty() && firsts.size() == alternatives.size()) continue;
    const Node first = choice(std::move(firsts)), tail = choice(std::move(tails));
    define(r, sequence({first, repeat(tail, 0, kAny)}));
  }
}

}  // namespace strata::engine::grammar
