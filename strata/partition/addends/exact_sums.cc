#include "strata/partition/addends/exact_sums.h"

#include <cstdlib>
#include <string_view>

#include "strata/base/error.h"

namespace strata::spmd {

bool exact_sums() {
  const char* value = std::getenv("STRATA_EXACT_SUMS");
  const std::string_view text = value == nullptr ? "" : value;
  if (text == "1" || text == "true") return true;
  if (text.empty() || text == "0" || text == "false") return false;
  throw Error("STRATA_EXACT_SUMS", "is \"{}\", not 0 or 1", text);
}

}  // namespace strata::spmd
