// Fuzz target (libFuzzer): the parser takes any bytes, and what it accepts prints to a fixpoint.
#include <cstdlib>
#include <string_view>

#include "strata/loop/loop.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace strata::loop;
  auto kernel = parse({reinterpret_cast<const char*>(data), size});
  if (!kernel) return 0;
  std::string text = print(**kernel);
  auto again = parse(text);
  if (!again || print(**again) != text) std::abort();
  return 0;
}
