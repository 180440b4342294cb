#include "strata/loop/lanes.h"

#include <algorithm>
#include <charconv>

namespace strata::loop {
namespace {

constexpr std::string_view kLow = "lanes.low.", kHigh = "lanes.high.", kBehind = "lanes.behind.";

Inst* move(Builder& b, std::string callee, Inst* x, Inst* y) {
  return b.call(std::move(callee), {x->type.dtype, join_lanes({x, y})}, {x, y});
}

/// The number that `text` begins with, which goes on after it; 0 where none stands.
int take_number(std::string_view& text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? number : 0;
}
bool take(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}
bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

/// x and y become their lower and their upper halves.
void exchange(Builder& b, Inst*& x, Inst*& y, int unit, int group) {
  std::string name = std::to_string(unit) + "." + std::to_string(group);
  Inst* low = move(b, std::string(kLow) + name, x, y);
  y = move(b, std::string(kHigh) + name, x, y);
  x = low;
}

/// Squares of as many values as a group has lanes, each group of lanes by itself.
void turn_groups(Builder& b, std::vector<Inst*>& values, int group) {
  // Interleaving value i with value i + g/2 turns the bits of (value, lane) by one place; after
  // log2(g) turns they are exchanged.
  std::size_t size = static_cast<std::size_t>(group);
  for (std::size_t first = 0; first < values.size(); first += size)
    for (int done = 1; done < group; done *= 2) {
      std::vector<Inst*> turned;
      for (std::size_t i = first; i < first + size / 2; ++i) {
        exchange(b, values[i], values[i + size / 2], 1, group);
        turned.insert(turned.end(), {values[i], values[i + size / 2]});
      }
      std::copy(turned.begin(), turned.end(), values.begin() + static_cast<std::ptrdiff_t>(first));
    }
}

}  // namespace

int LaneMove::source(int lane, int lanes) const {
  if (kind == Kind::behind) return lane < by ? lanes - by + lane : lanes + lane - by;
  int in_group = lane % group, number = in_group / unit;
  int pair = number / 2 + (kind == Kind::high ? group / unit / 2 : 0);
  return (number % 2 ? lanes : 0) + lane - in_group + pair * unit + in_group % unit;
}

std::optional<LaneMove> lane_move(std::string_view callee, int lanes) {
  if (lanes < 2) return std::nullopt;
  if (take(callee, kBehind)) {
    LaneMove move{.kind = LaneMove::Kind::behind, .by = take_number(callee)};
    return callee.empty() && move.by >= 1 && move.by < lanes ? std::optional(move) : std::nullopt;
  }
  LaneMove move{.kind = take(callee, kLow) ? LaneMove::Kind::low : LaneMove::Kind::high};
  if (move.kind == LaneMove::Kind::high && !take(callee, kHigh)) return std::nullopt;
  move.unit = take_number(callee);
  if (!take(callee, ".")) return std::nullopt;
  move.group = take_number(callee);
  bool fits = is_power_of_two(move.unit) && is_power_of_two(move.group) && move.unit < move.group &&
              lanes % move.group == 0;
  return callee.empty() && fits ? std::optional(move) : std::nullopt;
}

Inst* behind(Builder& b, Inst* first, Inst* moved, int n) {
  if (join_lanes({first, moved}) == 1 && first == moved) return moved;
  return move(b, std::string(kBehind) + std::to_string(n), first, moved);
}

std::vector<Inst*> transposed(Builder& b, std::vector<Inst*> values) {
  const int lanes = static_cast<int>(values.size());
  for (Inst*& v : values)  // one number for all lanes
    if (v->type.lanes == 1) v = b.get(b.local(v, lanes));
  const int group = std::min(lanes, static_cast<int>(16 / byte_width(values[0]->type.dtype)));
  turn_groups(b, values, group);
  for (int unit = group; unit < lanes; unit *= 2)
    for (int i = 0; i < lanes; ++i)
      if ((i & unit) == 0)
        exchange(b, values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(i + unit)],
                 unit, 2 * unit);
  return values;
}

}  // namespace strata::loop
