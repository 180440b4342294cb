#include "strata/base/error.h"

#include <utility>

namespace strata {

namespace {
std::string (*error_context)() = nullptr;
}  // namespace
void set_error_context(std::string (*context)()) { error_context = context; }

Error::Error(std::string operation, std::string message)
    : operation_(std::move(operation)), message_(std::move(message)) {
  if (error_context) within_ = error_context();
  compose();
}
Error::Error(std::string operation, fmt::string_view format, fmt::format_args args)
    : Error(std::move(operation), fmt::vformat(format, args)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error::~Error() = default;

Error& Error::operator=(Error other) {
  operation_.swap(other.operation_);
  message_.swap(other.message_);
  where_.swap(other.where_);
  within_.swap(other.within_);
  what_.swap(other.what_);
  unsupported_ = other.unsupported_;
  return *this;
}

Error& Error::at(const std::string& where) {
  if (where_.empty()) where_ = where;
  compose();
  return *this;
}

void Error::compose() {
  what_ = operation_.empty() ? message_ : operation_ + ": " + message_;
  if (where_.empty() && within_.empty()) return;
  what_ += " [";
  if (!where_.empty()) what_ += "at " + where_;
  if (!within_.empty()) what_ += (where_.empty() ? "in " : ", in ") + within_;
  what_ += "]";
}

}  // namespace strata
