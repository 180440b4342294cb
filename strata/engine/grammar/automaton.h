// A grammar as an automaton over bytes, whose states are made when texts reach them.
//
//   Automaton a(grammar);
//   auto state = a.start();
//   for (unsigned char byte : text) state = a.next(state, byte);
//   state != Automaton::kDead                             // some whole text begins so
//   a.may_end(state)                                      // the text is whole
//
// Each rule is a nondeterministic automaton; calls of rules are kept on stacks. A state is the set
// of stacks that a text may have left, so it says all about how the text may go on; equal sets are
// one state, and where a byte leads is remembered. So what a grammar's texts have in common costs a
// look into a table.
//
// Source: Thompson's construction (1968); lazy subsets as in RE2 (Cox, 2010), with stacks.
// Deviation: a rule that begins with itself by way of others is refused.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/engine/grammar/grammar.h"

namespace strata::engine::grammar {

/// Not for several threads at once.
class Automaton {
 public:
  using State = std::int32_t;
  static constexpr State kDead = 0;
  /// How deep calls of rules are nested at most; deeper texts are not in the language.
  static constexpr std::int32_t kDeepest = 256;
  /// States of rules, stacks in a state, states that are kept.
  static constexpr std::size_t kMostParts = std::size_t{1} << 18, kMostStacks = 4096,
                               kMostStates = std::size_t{1} << 15;

  /// Throws Error for a grammar that is too large, that names rules which are not there, whose
  /// rules begin with themselves, or that no text fits.
  explicit Automaton(Grammar grammar);

  State start();
  /// kDead: no whole text goes on so. Throws Error where one state is too much for kMostStacks.
  State next(State state, unsigned char byte);
  bool may_end(State state) const { return states_[static_cast<std::size_t>(state)].may_end; }
  /// Whether no byte may follow.
  bool must_end(State state) const {
    return states_[static_cast<std::size_t>(state)].stacks.empty();
  }
  bool accepts(std::string_view text);

  /// Whether so many states are kept that they should be forgotten before the next text.
  bool full() const { return states_.size() >= kMostStates; }
  /// Forgets all states: those that are held are no longer any.
  void forget();
  std::size_t states() const { return states_.size(); }

 private:
  struct Move {
    std::int32_t set, to;
  };
  struct Call {
    std::int32_t rule, back;
  };
  /// A state of a rule, with all that it reaches without a byte.
  struct Part {
    std::vector<Move> moves;
    std::vector<Call> calls;
    bool final = false;
  };
  struct Stack {
    std::int32_t part, below, depth;
  };
  struct Known {
    std::vector<std::int32_t> stacks, next;
    bool may_end = false;
  };
  struct Builder;

  std::int32_t stack(std::int32_t part, std::int32_t below);
  void reach(std::int32_t part, std::int32_t below, std::vector<std::int32_t>& stacks, bool& ends);
  State state(std::vector<std::int32_t> stacks, bool may_end);

  std::vector<Part> parts_;
  std::vector<std::int32_t> starts_;  // of rules
  std::vector<ByteSet> sets_;
  std::array<unsigned char, 256> classes_{};  // bytes that no set tells apart
  std::vector<std::vector<bool>> in_set_;     // [class][set]
  std::vector<Stack> stacks_;
  std::unordered_map<std::uint64_t, std::int32_t> stack_numbers_;
  std::vector<Known> states_;
  std::map<std::pair<std::vector<std::int32_t>, bool>, State> state_numbers_;
  State start_ = -1;
};

}  // namespace strata::engine::grammar
