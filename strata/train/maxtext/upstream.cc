#include "strata/train/maxtext/upstream.h"

#include <string_view>

// clang-format off
asm(".section .rodata\n"
    ".global strata_maxtext_begin\nstrata_maxtext_begin:\n"
    ".incbin \"" STRATA_MAXTEXT "\"\n"
    ".global strata_maxtext_end\nstrata_maxtext_end:\n"
    ".previous\n");
// clang-format on
extern "C" const char strata_maxtext_begin[] __attribute__((visibility("hidden")));
extern "C" const char strata_maxtext_end[] __attribute__((visibility("hidden")));

namespace strata::train::maxtext {

const nlohmann::ordered_json& upstream() {
  static const auto table = nlohmann::ordered_json::parse(std::string_view{
      strata_maxtext_begin, static_cast<std::size_t>(strata_maxtext_end - strata_maxtext_begin)});
  return table;
}

}  // namespace strata::train::maxtext
