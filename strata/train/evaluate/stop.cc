#include "strata/train/evaluate/stop.h"

#include <algorithm>
#include <utility>

namespace strata::train {
namespace {

/// Length of the longest end of `text` that a string begins with.
std::size_t begun(std::string_view text, std::string_view string) {
  for (std::size_t n = std::min(text.size(), string.size() - 1); n > 0; --n)
    if (text.substr(text.size() - n) == string.substr(0, n)) return n;
  return 0;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  std::erase(strings_, "");
}

std::string StopStrings::add(std::string_view piece) {
  if (found_) return {};
  held_ += piece;
  std::size_t first = held_.size(), end = std::string::npos, kept = 0;
  for (const std::string& s : strings_) {
    const std::size_t at = held_.find(s), its_end = at == std::string::npos ? at : at + s.size();
    if (its_end != std::string::npos && std::pair(its_end, at) < std::pair(end, first))
      first = at, end = its_end;
    kept = std::max(kept, begun(held_, s));
  }
  found_ = end != std::string::npos;
  std::string out = held_.substr(0, found_ ? first : held_.size() - kept);
  held_ = found_ ? "" : held_.substr(out.size());
  return out;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace strata::train
