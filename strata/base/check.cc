#include "strata/base/check.h"

#include <cstring>

namespace strata::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  const char* base = std::strstr(file, "strata/");
  std::string text = fmt::format("{}:{}: internal check failed: {}", base ? base : file, line, condition);
  if (!message.empty()) text += ": " + message;
  throw InternalError(text);
}

}  // namespace strata::internal
