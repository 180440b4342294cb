// libFuzzer target: any text is read as EBNF and as Lark's grammar. Nothing but Error may come of
// it; where a grammar does, some text goes on from every state that one reaches.
//
//   tools/fuzz.sh strata/engine/grammar/ebnf_fuzz.cc strata/engine/grammar/testdata/ebnf
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/lark.h"

namespace {

void walk(strata::engine::grammar::Grammar grammar, std::string_view choices) {
  using strata::engine::grammar::Automaton;
  Automaton a(std::move(grammar));
  Automaton::State s = a.start();
  for (char c : choices.substr(0, 64)) {
    bool lives = a.may_end(s);
    Automaton::State to = Automaton::kDead;
    for (int i = 0; i < 256 && to == Automaton::kDead; ++i)
      to = a.next(s, static_cast<unsigned char>(c + i));
    lives = lives || to != Automaton::kDead;
    if (!lives) std::abort();
    if (to == Automaton::kDead) return;
    s = to;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::engine::grammar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 2000) return 0;
  for (const bool lark : {false, true}) {
    try {
      walk(lark ? read_lark(text) : read_ebnf(text), text);
    } catch (const strata::Error&) {
    }
  }
  return 0;
}
