// A file of bytecode taken apart: its tables, and where their entries are. What attributes, types
// and operations mean is read elsewhere (attributes.h, reader.h).
//
// Versions 0 to 6 of the format: 1 gave dialects versions, 2 isolated regions sections of their
// own, 3 orders of uses, 4 left out unknown locations of arguments, 5 gave operations properties.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "strata/ir/bytecode/encoding.h"

namespace strata::ir::bytecode {

inline constexpr std::uint64_t kNewestFormat = 6;

/// One attribute or type; its dialect's own encoding, or (`is_text`) text and a zero.
struct Entry {
  std::string_view dialect;
  ByteReader data;
  bool is_text = false;
};

struct OperationName {
  std::string_view dialect, name;  // "vhlo", "add_v1"
  bool is_registered = true;       // else its properties are one attribute
};

struct Container {
  std::uint64_t format = 0;
  std::string_view producer;  // "StableHLO_v1.17.0"
  std::vector<std::string_view> strings;
  std::vector<OperationName> operations;
  std::vector<Entry> attributes, types;
  std::vector<ByteReader> properties;
  ByteReader ir;
};

/// Views of `bytes`, which must outlive it. Throws FormatError.
Container open_container(std::string_view bytes);

}  // namespace strata::ir::bytecode
