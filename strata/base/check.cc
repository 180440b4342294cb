#include "strata/base/check.h"

#include <string_view>

namespace strata::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::string_view path = file;
  if (auto at = path.rfind("strata/"); at != path.npos) path.remove_prefix(at);
  std::string text = fmt::format("{}:{}: internal check failed: {}", path, line, condition);
  if (!message.empty()) text += ": " + message;
  throw InternalError(text, message.empty() ? condition : message);
}

}  // namespace strata::internal
