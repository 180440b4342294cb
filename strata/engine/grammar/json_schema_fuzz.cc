// libFuzzer target: any text is read as a JSON Schema. Nothing but Error may come of it; a text
// that its grammar takes is JSON.
//
//   tools/fuzz.sh strata/engine/grammar/json_schema_fuzz.cc strata/engine/grammar/testdata/schema
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "strata/base/error.h"
#include "strata/engine/grammar/automaton.h"
#include "strata/engine/grammar/json_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::engine::grammar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 2000) return 0;
  try {
    Automaton a(parse_json_schema(text));
    Automaton::State s = a.start();
    std::string made;
    for (char c : text.substr(0, 200)) {
      if (a.may_end(s) && !nlohmann::json::accept(made)) std::abort();
      Automaton::State to = Automaton::kDead;
      unsigned char byte = 0;
      for (int i = 0; i < 256 && to == Automaton::kDead; ++i)
        to = a.next(s, byte = static_cast<unsigned char>(c + i));
      if (to == Automaton::kDead && !a.may_end(s)) std::abort();
      if (to == Automaton::kDead) return 0;
      made += static_cast<char>(byte);
      s = to;
    }
  } catch (const strata::Error&) {
  }
  return 0;
}
