// The page at `/`: a conversation with the model, in one file without network.
#pragma once

#include <string_view>

namespace strata::serve {

std::string_view chat_page();

}  // namespace strata::serve
