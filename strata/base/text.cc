#include "strata/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace strata {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (std::string_view name : names) {
    // A name that holds the whole word ("emb_dim" in "base_emb_dim") was meant, however many
    // letters are missing; the shortest such name.
    const bool holds = word.size() >= 4 && name.find(word) != std::string_view::npos;
    const std::size_t distance = holds ? 1 : edit_distance(word, name);
    if (distance < least || (distance == least && holds && name.size() < best.size())) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view meant = nearest(word, names);
  return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

std::string human_count(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  const char* unit = " k";
  count /= 1000;
  if (count >= 999.5) count /= 1000, unit = " M";
  if (count >= 999.5) count /= 1000, unit = " G";
  return fmt::format("{:.{}f}{}", count, count < 10 ? 2 : count < 100 ? 1 : 0, unit);
}

std::string human_time(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto s = static_cast<std::int64_t>(std::llround(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

namespace {
/// Length of the well-formed sequence at the start of `text`; 0 when there is none (Unicode
/// standard, table 3-7).
std::size_t sequence(std::string_view text) {
  auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned a = byte(0), b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a <= 0xdf) return continues(1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef)
    return continues(1) && continues(2) && !(a == 0xe0 && b < 0xa0) && !(a == 0xed && b > 0x9f) ? 3
                                                                                                : 0;
  if (a >= 0xf0 && a <= 0xf4)
    return continues(1) && continues(2) && continues(3) && !(a == 0xf0 && b < 0x90) &&
                   !(a == 0xf4 && b > 0x8f)
               ? 4
               : 0;
  return 0;
}
}  // namespace

std::size_t invalid_utf8(std::string_view text) {
  std::size_t invalid = 0;
  while (!text.empty()) {
    const std::size_t n = sequence(text);
    invalid += n == 0;
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return invalid;
}

}  // namespace strata
