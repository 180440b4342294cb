// Fuzz target (libFuzzer): the reader of schedules takes any bytes, and what it accepts prints to
// the same pieces.
#include <cstdlib>
#include <string_view>

#include "strata/base/error.h"
#include "strata/optim/schedule/schedule_text.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace strata::optim;
  std::vector<SchedulePiece> pieces;
  try {
    pieces = parse_schedule({reinterpret_cast<const char*>(data), size});
  } catch (const strata::Error&) {
    return 0;
  }
  if (parse_schedule(to_string(pieces)) != pieces) std::abort();
  return 0;
}
