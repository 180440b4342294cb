#include "strata/train/maxtext/topology.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace strata::train::maxtext {
namespace {

/// Of grids of two dimensions (v5e, v6e) and of three.
const std::map<std::int64_t, std::string_view>& flat_grids() {
  static const std::map<std::int64_t, std::string_view> grids = {
      {1, "1x1"},  {4, "2x2"},  {8, "2x4"},    {16, "4x4"},
      {32, "4x8"}, {64, "8x8"}, {128, "8x16"}, {256, "16x16"}};
  return grids;
}
const std::map<std::int64_t, std::string_view>& deep_grids() {
  static const std::map<std::int64_t, std::string_view> grids = {
      {1, "1x1x1"},    {4, "2x2x1"},     {8, "2x2x2"},      {16, "2x2x4"},     {32, "2x4x4"},
      {64, "4x4x4"},   {128, "4x4x8"},   {192, "4x4x12"},   {256, "4x8x8"},    {512, "8x8x8"},
      {768, "8x8x12"}, {1024, "8x8x16"}, {2048, "8x16x16"}, {4096, "16x16x16"}};
  return grids;
}

}  // namespace

std::string topology_of(std::string_view slice) {
  const std::size_t dash = slice.find('-');
  std::int64_t number = 0;
  if (dash == slice.npos ||
      std::from_chars(slice.data() + dash + 1, slice.data() + slice.size(), number).ec !=
          std::errc())
    return "";
  const std::string_view kind = slice.substr(0, dash);
  const bool flat = kind == "v5e" || kind == "v6e";
  // Others are named by their cores, two a chip.
  const auto& grids = flat ? flat_grids() : deep_grids();
  const auto found = grids.find(flat ? number : number / 2);
  if (found == grids.end()) return "";
  return fmt::format("{}:{}", kind == "v5p" ? "v5" : kind, found->second);
}

std::int64_t devices_of_topology(std::string_view topology) {
  const std::size_t colon = topology.rfind(':');
  if (colon == topology.npos) return 0;
  std::int64_t out = topology.find("tpu7x") != topology.npos ? 2 : 1;
  for (const char *at = topology.data() + colon + 1, *end = topology.data() + topology.size();
       at < end; ++at) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1 || (rest != end && *rest != 'x')) return 0;
    out *= size;
    at = rest;
  }
  return out;
}

}  // namespace strata::train::maxtext
