// A file of parked pages: what pages hold of a sequence's beginning, outside of any cache.
//
//   std::string bytes = engine::encode(parked, "user-7");
//   Result<engine::NamedParked> back = engine::decode(bytes, "a.kv");
//
// A file is: "STRATAKV", version and length of the header (u32 each, little-endian), the header as
// JSON, tokens as i32, the arrays one after the other, and the CRC-32C of all before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::engine {

struct Parked {
  /// Of the weights, the layout of pages and the class of processor that computed them.
  std::string identity;
  std::string salt;
  std::vector<std::int32_t> tokens;  // whole pages of them
  std::vector<Literal> contents;     // as Program::read_pages
};
struct NamedParked {
  std::string name;
  Parked parked;
};

/// Bytes of a name, at most.
inline constexpr std::size_t kMostParkedName = 1024;

/// Bytes of a file. Throws Error for a longer name.
std::string encode(const Parked& parked, std::string_view name);
/// Code::corrupt for bytes that are damaged, cut off or of another kind; Code::unsupported for
/// another version. `file` is for messages.
Result<NamedParked> decode(std::string_view bytes, std::string_view file);

}  // namespace strata::engine
