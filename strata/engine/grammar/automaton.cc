#include "strata/engine/grammar/automaton.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "strata/base/error.h"

namespace strata::engine::grammar {
namespace {

using Node = Grammar::Node;
using Rule = Grammar::Rule;

constexpr std::int32_t kBottom = -1, kUnknown = -1;
/// Expressions within expressions, which are walked by recursion.
constexpr int kDeepestExpression = 512;

}  // namespace

/// Makes the states of rules from expressions, then takes out steps without bytes.
struct Automaton::Builder {
  struct Raw {
    std::vector<Move> moves = {};
    std::vector<Call> calls = {};
    std::vector<std::int32_t> empty = {};
  };

  explicit Builder(Grammar g) : grammar(std::move(g)) {}

  std::int32_t add() {
    if (raw.size() >= kMostParts)
      throw Error("grammar", "the grammar has more than {} states", kMostParts);
    raw.emplace_back();
    return static_cast<std::int32_t>(raw.size()) - 1;
  }
  Raw& at(std::int32_t i) { return raw[static_cast<std::size_t>(i)]; }

  std::int32_t set(const ByteSet& bytes) {
    std::string key;
    for (std::size_t i = 0; i < 256; ++i) key += bytes[i] ? '1' : '0';
    const auto [it, is_new] = numbers.try_emplace(key, static_cast<std::int32_t>(sets.size()));
    if (is_new) sets.push_back(bytes);
    return it->second;
  }

  /// The number of a rule's automaton.
  std::int32_t outline(Node node) {
    const auto [it, is_new] = outlined.try_emplace(node, static_cast<std::int32_t>(starts.size()));
    if (is_new) {
      starts.push_back(-1), ends.push_back(-1);
      names.push_back("a repetition");
      waiting.emplace_back(it->second, node);
    }
    return it->second;
  }

  /// Ways from `from` through the expression; the state behind it.
  std::int32_t expression(Node node, std::int32_t from, int depth) {
    if (depth > kDeepestExpression)
      throw Error("grammar", "expressions are nested deeper than {}", kDeepestExpression);
    const Grammar::Expression& e = grammar.at(node);
    switch (e.kind) {
      case Grammar::Kind::text:
        for (char c : e.text) {
          ByteSet one;
          one.set(static_cast<unsigned char>(c));
          const std::int32_t to = add();
          at(from).moves.push_back({set(one), to});
          from = to;
        }
        return from;
      case Grammar::Kind::byte: {
        const std::int32_t to = add();
        if (e.byte.any()) at(from).moves.push_back({set(e.byte), to});
        return to;
      }
      case Grammar::Kind::sequence:
        for (Node child : e.children) from = expression(child, from, depth + 1);
        return from;
      case Grammar::Kind::choice: {
        const std::int32_t to = add();
        for (Node child : e.children) {
          const std::int32_t begin = add();
          at(from).empty.push_back(begin);
          const std::int32_t end = expression(child, begin, depth + 1);
          at(end).empty.push_back(to);
        }
        return to;
      }
      case Grammar::Kind::repeat: return repetition(e, from, depth);
      case Grammar::Kind::rule: {
        const std::int32_t to = add();
        at(from).calls.push_back({e.rule, to});
        return to;
      }
    }
    return from;
  }

  std::int32_t repetition(const Grammar::Expression& e, std::int32_t from, int depth) {
    const Node child = e.children[0];
    const auto kind = grammar.at(child).kind;
    // What is repeated often becomes a rule, so that each time is one state.
    const bool small = kind == Grammar::Kind::byte || kind == Grammar::Kind::rule;
    const bool often = std::max(e.least, e.most) > 1;
    const auto once = [&](std::int32_t at_state) {
      if (small || !often) return expression(child, at_state, depth + 1);
      const std::int32_t to = add();
      at(at_state).calls.push_back({outline(child), to});
      return to;
    };
    for (std::int64_t i = 0; i < e.least; ++i) from = once(from);
    const std::int32_t to = add();
    if (e.most == Grammar::kAny) {
      const std::int32_t loop = add();
      at(from).empty.push_back(loop);
      const std::int32_t end = expression(child, loop, depth + 1);
      at(end).empty.push_back(loop);
      at(loop).empty.push_back(to);
      return to;
    }
    for (std::int64_t i = e.least; i < e.most; ++i) {
      at(from).empty.push_back(to);
      from = once(from);
    }
    at(from).empty.push_back(to);
    return to;
  }

  void build() {
    grammar.remove_direct_left_recursion();
    const auto rules = static_cast<Rule>(grammar.rules());
    starts.resize(static_cast<std::size_t>(rules), -1);
    ends.resize(starts.size(), -1);
    for (Rule r = 0; r < rules; ++r) names.push_back(grammar.name(r));
    for (Rule r = 0; r < rules; ++r) waiting.emplace_back(r, grammar.body(r));
    while (!waiting.empty()) {
      const auto [rule, node] = waiting.back();
      waiting.pop_back();
      const std::int32_t begin = add();
      const std::int32_t end = expression(node, begin, 0);
      starts[static_cast<std::size_t>(rule)] = begin;
      ends[static_cast<std::size_t>(rule)] = end;
      const std::int32_t final = add();  // nothing leads on from it
      at(end).empty.push_back(final);
      ends[static_cast<std::size_t>(rule)] = final;
    }
  }

  /// States from which the end of their rule can be reached, with bytes or without any; and the
  /// rules whose starts are among them.
  std::pair<std::vector<bool>, std::vector<bool>> reach_ends(bool with_bytes) {
    std::vector<std::vector<std::int32_t>> before(raw.size());
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> calls_of(starts.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const auto here = static_cast<std::int32_t>(i);
      if (with_bytes)
        for (const Move& m : raw[i].moves) before[static_cast<std::size_t>(m.to)].push_back(here);
      for (std::int32_t to : raw[i].empty) before[static_cast<std::size_t>(to)].push_back(here);
      for (const Call& c : raw[i].calls)
        calls_of[static_cast<std::size_t>(c.rule)].emplace_back(here, c.back);
    }
    // Which calls come back to a state.
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> returns(raw.size());
    for (std::size_t r = 0; r < starts.size(); ++r)
      for (const auto& [from, back] : calls_of[r])
        returns[static_cast<std::size_t>(back)].emplace_back(from, static_cast<std::int32_t>(r));
    std::map<std::int32_t, std::int32_t> rule_of_start;
    for (std::size_t r = 0; r < starts.size(); ++r)
      rule_of_start[starts[r]] = static_cast<std::int32_t>(r);
    std::vector<bool> good(raw.size()), rule_good(starts.size());
    std::vector<std::int32_t> work;
    const auto mark = [&](std::int32_t i) {
      if (good[static_cast<std::size_t>(i)]) return;
      good[static_cast<std::size_t>(i)] = true;
      work.push_back(i);
    };
    for (std::int32_t end : ends) mark(end);
    while (!work.empty()) {
      const std::int32_t i = work.back();
      work.pop_back();
      for (std::int32_t b : before[static_cast<std::size_t>(i)]) mark(b);
      for (const auto& [from, rule] : returns[static_cast<std::size_t>(i)])
        if (rule_good[static_cast<std::size_t>(rule)]) mark(from);
      const auto start = rule_of_start.find(i);
      if (start == rule_of_start.end()) continue;
      const auto rule = static_cast<std::size_t>(start->second);
      rule_good[rule] = true;
      for (const auto& [from, back] : calls_of[rule])
        if (good[static_cast<std::size_t>(back)]) mark(from);
    }
    return {good, rule_good};
  }

  /// Throws where a rule begins with itself, by way of whatever may be empty.
  void refuse_left_recursion(const std::vector<Part>& parts) {
    const std::size_t rules = starts.size();
    const std::vector<bool> nullable = reach_ends(false).second;
    std::vector<std::vector<std::int32_t>> first(rules);  // rules that a rule may begin with
    for (std::size_t r = 0; r < rules; ++r) {
      std::vector<std::int32_t> work = {starts[r]};
      std::set<std::int32_t> seen = {starts[r]}, found;
      while (!work.empty()) {
        const Part& p = parts[static_cast<std::size_t>(work.back())];
        work.pop_back();
        for (const Call& c : p.calls) {
          found.insert(c.rule);
          if (nullable[static_cast<std::size_t>(c.rule)] && seen.insert(c.back).second)
            work.push_back(c.back);
        }
      }
      first[r].assign(found.begin(), found.end());
    }
    // A walk in depth: a rule that is met while it is being walked begins with itself.
    enum class Walked : char { no, now, done };
    std::vector<Walked> walked(rules, Walked::no);
    for (std::size_t from = 0; from < rules; ++from) {
      if (walked[from] != Walked::no) continue;
      std::vector<std::pair<std::size_t, std::size_t>> path = {{from, 0}};
      walked[from] = Walked::now;
      while (!path.empty()) {
        auto& [r, i] = path.back();
        if (i == first[r].size()) {
          walked[r] = Walked::done;
          path.pop_back();
          continue;
        }
        const auto next = static_cast<std::size_t>(first[r][i++]);
        if (walked[next] == Walked::now)
          throw Error("grammar", "rule {} begins with itself (left recursion)", names[next]);
        if (walked[next] == Walked::no) {
          walked[next] = Walked::now;
          path.emplace_back(next, 0);
        }
      }
    }
  }

  std::vector<Part> parts() {
    const std::vector<bool> good = reach_ends(true).first;
    std::vector<bool> is_end(raw.size());
    for (std::int32_t end : ends) is_end[static_cast<std::size_t>(end)] = true;
    std::vector<Part> out(raw.size());
    std::size_t total = 0;
    std::vector<std::int32_t> stamp(raw.size(), -1), work;
    // Only states that bytes, calls and rules lead to are asked for.
    std::vector<bool> wanted(raw.size());
    for (std::int32_t s : starts) wanted[static_cast<std::size_t>(s)] = true;
    for (const Raw& r : raw) {
      for (const Move& m : r.moves) wanted[static_cast<std::size_t>(m.to)] = true;
      for (const Call& c : r.calls) wanted[static_cast<std::size_t>(c.back)] = true;
    }
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (!wanted[i] || !good[i]) continue;
      const auto here = static_cast<std::int32_t>(i);
      Part& part = out[i];
      work = {here};
      stamp[i] = here;
      while (!work.empty()) {
        const auto at_state = static_cast<std::size_t>(work.back());
        work.pop_back();
        part.final = part.final || is_end[at_state];
        for (const Move& m : raw[at_state].moves)
          if (good[static_cast<std::size_t>(m.to)]) part.moves.push_back(m);
        for (const Call& c : raw[at_state].calls)
          if (good[static_cast<std::size_t>(c.back)] &&
              good[static_cast<std::size_t>(starts[static_cast<std::size_t>(c.rule)])])
            part.calls.push_back(c);
        for (std::int32_t to : raw[at_state].empty)
          if (good[static_cast<std::size_t>(to)] && stamp[static_cast<std::size_t>(to)] != here) {
            stamp[static_cast<std::size_t>(to)] = here;
            work.push_back(to);
          }
      }
      total += part.moves.size() + part.calls.size();
      if (total > 4 * kMostParts)
        throw Error("grammar", "the grammar has more than {} steps", 4 * kMostParts);
    }
    return out;
  }

  Grammar grammar;
  std::vector<Raw> raw;
  std::vector<ByteSet> sets;
  std::map<std::string, std::int32_t> numbers;
  std::vector<std::int32_t> starts, ends;
  std::vector<std::string> names;
  std::map<Node, std::int32_t> outlined;
  std::vector<std::pair<std::int32_t, Node>> waiting;
};

Automaton::Automaton(Grammar grammar) {
  Builder b(std::move(grammar));
  b.build();
  parts_ = b.parts();
  b.refuse_left_recursion(parts_);
  starts_ = b.starts;
  sets_ = b.sets;
  // Bytes that are in the same sets are one class.
  std::map<std::vector<bool>, unsigned char> known;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::vector<bool> in;
    for (const ByteSet& s : sets_) in.push_back(s[byte]);
    const auto [it, is_new] = known.try_emplace(in, static_cast<unsigned char>(in_set_.size()));
    if (is_new) in_set_.push_back(in);
    classes_[byte] = it->second;
  }
  forget();
  if (start() == kDead) throw Error("grammar", "no text fits the grammar");
}

void Automaton::forget() {
  stacks_.clear();
  stack_numbers_.clear();
  state_numbers_.clear();
  states_ = {Known{}};
  start_ = -1;
}

std::int32_t Automaton::stack(std::int32_t part, std::int32_t below) {
  const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(part)) << 32 |
                            static_cast<std::uint32_t>(below);
  const auto [it, is_new] =
      stack_numbers_.try_emplace(key, static_cast<std::int32_t>(stacks_.size()));
  if (is_new)
    stacks_.push_back(
        {part, below, below == kBottom ? 1 : stacks_[static_cast<std::size_t>(below)].depth + 1});
  return it->second;
}

/// Adds all stacks that wait for a byte and are reached from this one without any.
void Automaton::reach(std::int32_t part, std::int32_t below, std::vector<std::int32_t>& found,
                      bool& ends) {
  std::vector<std::pair<std::int32_t, std::int32_t>> work = {{part, below}};
  std::set<std::pair<std::int32_t, std::int32_t>> seen(work.begin(), work.end());
  const auto visit = [&](std::int32_t p, std::int32_t b) {
    if (seen.emplace(p, b).second) work.emplace_back(p, b);
    if (seen.size() > 8 * kMostStacks)
      throw Error("grammar", "the grammar may be read in more than {} ways here", 8 * kMostStacks);
  };
  while (!work.empty()) {
    const auto [p, b] = work.back();
    work.pop_back();
    const Part& here = parts_[static_cast<std::size_t>(p)];
    if (!here.moves.empty()) found.push_back(stack(p, b));
    if (here.final) {
      if (b == kBottom) {
        ends = true;
      } else {
        const Stack s = stacks_[static_cast<std::size_t>(b)];
        visit(s.part, s.below);
      }
    }
    for (const Call& c : here.calls) {
      const Part& back = parts_[static_cast<std::size_t>(c.back)];
      // Where nothing but the end follows the call, what follows the caller follows.
      const bool last = back.final && back.moves.empty() && back.calls.empty();
      const std::int32_t on = last ? b : stack(c.back, b);
      if (on != kBottom && stacks_[static_cast<std::size_t>(on)].depth > kDeepest) continue;
      visit(starts_[static_cast<std::size_t>(c.rule)], on);
    }
  }
}

Automaton::State Automaton::state(std::vector<std::int32_t> found, bool ends) {
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty() && !ends) return kDead;
  if (found.size() > kMostStacks)
    throw Error("grammar", "the grammar may be read in more than {} ways here", kMostStacks);
  if (states_.size() > 8 * kMostStates)
    throw Error("grammar", "the grammar has more than {} states here", 8 * kMostStates);
  const auto [it, is_new] =
      state_numbers_.try_emplace({found, ends}, static_cast<State>(states_.size()));
  if (is_new) states_.push_back({std::move(found), {}, ends});
  return it->second;
}

Automaton::State Automaton::start() {
  if (start_ >= 0) return start_;
  std::vector<std::int32_t> found;
  bool ends = false;
  reach(starts_[0], kBottom, found, ends);
  return start_ = state(std::move(found), ends);
}

Automaton::State Automaton::next(State from, unsigned char byte) {
  if (from == kDead) return kDead;
  const unsigned char c = classes_[byte];
  {
    Known& known = states_[static_cast<std::size_t>(from)];
    if (known.next.empty()) known.next.assign(in_set_.size(), kUnknown);
    if (known.next[c] != kUnknown) return known.next[c];
  }
  std::vector<std::int32_t> found;
  bool ends = false;
  const std::vector<bool>& in = in_set_[c];
  const std::vector<std::int32_t> stacks = states_[static_cast<std::size_t>(from)].stacks;
  for (std::int32_t s : stacks) {
    const Stack top = stacks_[static_cast<std::size_t>(s)];
    for (const Move& m : parts_[static_cast<std::size_t>(top.part)].moves)
      if (in[static_cast<std::size_t>(m.set)]) reach(m.to, top.below, found, ends);
    if (found.size() > 8 * kMostStacks)
      throw Error("grammar", "the grammar may be read in more than {} ways here", 8 * kMostStacks);
  }
  const State to = state(std::move(found), ends);
  states_[static_cast<std::size_t>(from)].next[c] = to;
  return to;
}

bool Automaton::accepts(std::string_view text) {
  if (full()) forget();
  State s = start();
  for (char c : text) s = next(s, static_cast<unsigned char>(c));
  return s != kDead && may_end(s);
}

}  // namespace strata::engine::grammar
