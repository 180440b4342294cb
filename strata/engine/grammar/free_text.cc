#include "strata/engine/grammar/free_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine::grammar {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 10;

/// A beginning of some of the strings.
struct Place {
  std::array<std::int32_t, 256> next;
  std::size_t back = 0;                  // the longest end of it that is a beginning, too
  std::vector<Grammar::Rule> ends = {};  // behind the strings that end here
};

/// The tree of the strings.
std::vector<Place> tree_of(const std::vector<FreeEnd>& ends) {
  std::vector<Place> places(1);
  places[0].next.fill(-1);
  std::size_t bytes = 0;
  for (const FreeEnd& end : ends) {
    if (end.text.empty()) throw Error("grammar", "free text cannot end with an empty string");
    bytes += end.text.size();
    if (bytes > kMostBytes)
      throw Error("grammar", "strings that end free text have more than {} bytes", kMostBytes);
    std::size_t at = 0;
    for (const char c : end.text) {
      const auto byte = static_cast<unsigned char>(c);
      if (places[at].next[byte] < 0) {
        places[at].next[byte] = static_cast<std::int32_t>(places.size());
        places.emplace_back().next.fill(-1);
      }
      at = static_cast<std::size_t>(places[at].next[byte]);
    }
    places[at].ends.push_back(end.next);
  }
  return places;
}

/// A rule for each place at which no string ends.
Grammar::Node write(Grammar& g, const std::vector<Place>& places, bool may_end) {
  std::vector<Grammar::Rule> rules(places.size(), -1);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].ends.empty()) rules[i] = g.add_rule("free text");
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (rules[i] < 0) continue;
    std::map<std::int32_t, ByteSet> sets;
    for (std::size_t byte = 0; byte < 256; ++byte) sets[places[i].next[byte]].set(byte);
    std::vector<Grammar::Node> ways;
    if (may_end) ways.push_back(g.text(""));
    for (const auto& [to, set] : sets) {
      const Place& next = places[static_cast<std::size_t>(to)];
      const std::vector<Grammar::Rule> behind =
          next.ends.empty() ? std::vector{rules[static_cast<std::size_t>(to)]} : next.ends;
      for (const Grammar::Rule rule : behind) {
        const Grammar::Node byte = g.byte(set), rest = g.rule(rule);
        ways.push_back(g.sequence({byte, rest}));
      }
    }
    g.define(rules[i], g.choice(std::move(ways)));
  }
  return g.rule(rules[0]);
}

}  // namespace

Grammar::Node free_until(Grammar& g, const std::vector<FreeEnd>& ends, bool may_end) {
  std::vector<Place> places = tree_of(ends);
  // Shorter beginnings first: where no string goes on, the longest end of what was read does.
  std::vector<std::size_t> order = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    Place& here = places[order[i]];
    const auto& back = places[here.back];
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::int32_t other = order[i] == 0 ? 0 : back.next[byte];
      std::int32_t& next = here.next[byte];
      if (next < 0) {
        next = other;
        continue;
      }
      Place& to = places[static_cast<std::size_t>(next)];
      to.back = static_cast<std::size_t>(other);
      const auto& more = places[to.back].ends;
      to.ends.insert(to.ends.end(), more.begin(), more.end());
      order.push_back(static_cast<std::size_t>(next));
    }
  }
  return write(g, places, may_end);
}

Grammar::Node free_unless_begun(Grammar& g, const std::vector<FreeEnd>& begins) {
  std::vector<Place> places = tree_of(begins);
  const auto anything = static_cast<std::int32_t>(places.size());
  places.emplace_back().next.fill(anything);
  for (Place& place : places)
    for (std::int32_t& next : place.next)
      if (next < 0) next = anything;
  return write(g, places, true);
}

}  // namespace strata::engine::grammar
