// libFuzzer target: the first line is a regular expression, the rest a text. Nothing but Error may
// come of it, and the whole matches as a part of itself.
//
//   tools/fuzz.sh strata/engine/grammar/regex_fuzz.cc strata/engine/grammar/testdata/regex
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/regex.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::engine::grammar;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t line = all.find('\n');
  const std::string_view pattern = all.substr(0, line);
  const std::string_view text = line == all.npos ? "" : all.substr(line + 1);
  if (pattern.size() > 200 || text.size() > 200) return 0;
  try {
    Grammar whole, part;
    whole.define(whole.root(), regex(whole, pattern));
    part.define(part.root(), regex(part, pattern, {.whole = false}));
    Automaton a(whole);
    Automaton b(part);
    if (a.accepts(text) && !b.accepts(text)) std::abort();
  } catch (const strata::Error&) {
  }
  return 0;
}
