// The bytes of OCDBT, TensorStore's database of keys within a folder: its manifest and the nodes of
// its B+tree. Private to this folder; `database.h` and `writer.h` are what others use.
//
// Source: google/tensorstore, kvstore/ocdbt/index.rst and kvstore/ocdbt/format. Every object is in
// an envelope with its length and a CRC-32C; no length is used before it is checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::checkpoint::ocdbt {

/// A data file: the folder that it and what it refers to are below, and its name there.
struct File {
  std::string base, relative;
  std::string path() const { return base + relative; }
  bool operator==(const File&) const = default;
};

/// Bytes in a data file.
struct Place {
  File file;
  std::uint64_t offset = 0, length = 0;
};

/// What a reference says of the tree below it.
struct Statistics {
  std::uint64_t keys = 0, tree_bytes = 0, indirect_bytes = 0;
};

/// What all writers of a database keep to.
struct Configuration {
  std::array<char, 16> uuid{};
  std::uint8_t kind = 0;  // 1: the versions stand in numbered manifests
  std::uint64_t max_inline_bytes = 1024, max_node_bytes = 100000000;
  std::uint8_t arity_log2 = 4;
  bool zstd = true;
  std::int32_t level = 0;
};

/// A state of the database: the root of its tree. An empty one has no root.
struct Version {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  std::uint64_t generation = 1;
  std::uint8_t height = 0;
  Place root{{}, kNowhere, kNowhere};
  Statistics statistics;
  std::uint64_t commit_time = 0;  // nanoseconds since 1970
  bool empty() const { return root.offset == kNowhere; }
};

/// A node that holds older versions.
struct VersionNode {
  std::uint64_t generation = 0, generations = 0, commit_time = 0;
  Place place;
  std::uint8_t height = 0;
};

struct Manifest {
  Configuration configuration;
  std::vector<Version> versions;  // the newest is last
  std::vector<VersionNode> older;
};

struct Entry {
  std::string key;
  // Of a leaf: a value here, or in a data file.
  bool inline_value = true;
  std::string value;
  // Of an interior node: how much of `key` all keys of the child begin with, which leave it out.
  std::uint64_t common_prefix = 0;
  Statistics statistics;
  Place place;  // of the value, or of the child
};

struct Node {
  std::uint8_t height = 0;  // 0: a leaf
  std::vector<Entry> entries;
};

/// Code::corrupt for anything that is not as the format says, Code::unsupported for a newer version
/// or another compression.
Result<Manifest> decode_manifest(std::string_view bytes, const std::string& name);
/// `base` is the base path of the reference that led here, which places within inherit.
Result<Node> decode_node(std::string_view bytes, const std::string& base, const std::string& name);

/// Of a manifest with versions that stand within it.
std::string encode_manifest(const Manifest& manifest);
std::string encode_node(const Node& node, const Configuration& configuration);

}  // namespace strata::checkpoint::ocdbt
