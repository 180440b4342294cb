#include "strata/loop/lanes.h"

#include <charconv>

namespace strata::loop {
namespace {

constexpr std::string_view kLow = "lanes.low", kHigh = "lanes.high", kBehind = "lanes.behind.";

Inst* move(Builder& b, std::string callee, Inst* x, Inst* y) {
  return b.call(std::move(callee), {x->type.dtype, join_lanes({x, y})}, {x, y});
}

}  // namespace

int LaneMove::source(int lane, int lanes) const {
  if (kind == Kind::behind) return lane < by ? lanes - by + lane : lanes + lane - by;
  int pair = lane / 2 + (kind == Kind::high ? lanes / 2 : 0);
  return lane % 2 ? lanes + pair : pair;
}

std::optional<LaneMove> lane_move(std::string_view callee, int lanes) {
  if (lanes < 2) return std::nullopt;
  if (callee == kLow) return LaneMove{LaneMove::Kind::low};
  if (callee == kHigh) return LaneMove{LaneMove::Kind::high};
  if (callee.substr(0, kBehind.size()) != kBehind) return std::nullopt;
  std::string_view number = callee.substr(kBehind.size());
  int by = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), by);
  if (error != std::errc() || end != number.data() + number.size() || by < 1 || by >= lanes) return std::nullopt;
  return LaneMove{LaneMove::Kind::behind, by};
}

Inst* behind(Builder& b, Inst* first, Inst* moved, int n) {
  if (join_lanes({first, moved}) == 1 && first == moved) return moved;
  return move(b, std::string(kBehind) + std::to_string(n), first, moved);
}

std::vector<Inst*> transposed(Builder& b, std::vector<Inst*> values) {
  // Interleaving value i with value i + L/2 turns the bits of (value, lane) by one place; after log2(L) turns they are exchanged.
  std::size_t half = values.size() / 2;
  for (Inst*& v : values)  // one number for all lanes
    if (v->type.lanes == 1) v = b.get(b.local(v, static_cast<int>(values.size())));
  for (std::size_t done = 1; done < values.size(); done *= 2) {
    std::vector<Inst*> turned;
    for (std::size_t i = 0; i < half; ++i)
      for (std::string_view part : {kLow, kHigh}) turned.push_back(move(b, std::string(part), values[i], values[i + half]));
    values = std::move(turned);
  }
  return values;
}

}  // namespace strata::loop
