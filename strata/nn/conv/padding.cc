#include "strata/nn/conv/padding.h"

#include <fmt/ranges.h>

namespace strata::nn {

lax::WindowPadding Padding::of(const char* operation, std::size_t axes) const {
  if (all_) return Pairs(axes, {*all_, *all_});
  if (!name_.empty()) return name_;
  if (pairs_.size() != axes)
    strata::internal::fail(operation, "the padding {} has {} entries for {} axes", static_text(),
                           pairs_.size(), axes);
  return pairs_;
}

std::string Padding::static_text() const {
  if (all_) return fmt::format("{}", *all_);
  if (!name_.empty()) return name_;
  return fmt::format("{}", pairs_);
}

std::vector<std::int64_t> for_each_axis(const char* operation, const char* what, const Sizes& given,
                                        std::size_t axes) {
  if (given.size() == 0) return std::vector<std::int64_t>(axes, 1);
  if (given.size() == 1) return std::vector<std::int64_t>(axes, given[0]);
  if (given.size() != axes)
    strata::internal::fail(operation, "{} has {} numbers for {} axes", what, given.size(), axes);
  return given;
}

}  // namespace strata::nn
