// libFuzzer target: any bytes are parsed; what parses and verifies is printed, read again and printed the same, in both
// forms.
//
//   tools/fuzz.sh strata/op/text_fuzz.cc strata/ir/text/testdata/seeds -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  static const bool filled = !op::catalog().empty();
  (void)filled;
  ir::ParseOptions options{.limits = {.depth = 64, .literal_bytes = std::size_t{1} << 20}};
  auto module = ir::parse({reinterpret_cast<const char*>(data), size}, "fuzz", options);
  if (!module) return 0;
  if (!ir::verify(**module).ok()) return 0;
  std::string once = ir::print(**module);
  for (bool generic : {false, true}) {
    auto again = ir::parse(ir::print(**module, {.generic = generic}), "again", options);
    if (!again || ir::print(**again) != once) std::abort();
  }
  return 0;
}
