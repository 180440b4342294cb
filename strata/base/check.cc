#include "strata/base/check.h"

#include <string_view>

namespace strata {

InternalError::InternalError(const InternalError&) = default;
InternalError::~InternalError() = default;

namespace internal {

void fail_check(const char* file, int line, const char* condition, fmt::string_view format,
                fmt::format_args args) {
  std::string message = fmt::vformat(format, args);
  std::string_view path = file;
  if (auto at = path.rfind("strata/"); at != path.npos) path.remove_prefix(at);
  std::string text = fmt::format("{}:{}: internal check failed: {}", path, line, condition);
  if (!message.empty()) text += ": " + message;
  throw InternalError(text, message.empty() ? condition : message);
}

}  // namespace internal
}  // namespace strata
