// The chat page, as chat_page.html has it, in the program.
#include "strata/serve/chat_page.h"

// clang-format off
asm(".section .rodata\n"
    ".global strata_chat_page_begin\nstrata_chat_page_begin:\n"
    ".incbin \"" STRATA_CHAT_PAGE "\"\n"
    ".global strata_chat_page_end\nstrata_chat_page_end:\n"
    ".previous\n");
// clang-format on
extern "C" const char strata_chat_page_begin[] __attribute__((visibility("hidden")));
extern "C" const char strata_chat_page_end[] __attribute__((visibility("hidden")));

namespace strata::serve {

std::string_view chat_page() {
  return {strata_chat_page_begin,
          static_cast<std::size_t>(strata_chat_page_end - strata_chat_page_begin)};
}

}  // namespace strata::serve
