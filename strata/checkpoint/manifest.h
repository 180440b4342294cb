// The page that says what a checkpoint's folder must hold. Private to this room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

struct TensorEntry {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint32_t crc32c = 0;
  /// The chunk that holds it (chunks.h); empty: the file itself holds it.
  std::string chunk = {};
  bool operator==(const TensorEntry&) const = default;
};
struct FileEntry {
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  std::map<std::string, TensorEntry> tensors;
};
struct Manifest {
  /// The newest: 2 names chunks. One without chunks is written as format 1.
  static constexpr std::int64_t kFormat = 2;
  std::int64_t format = 1;
  std::int64_t step = 0;
  std::map<std::string, std::string> notes;
  std::map<std::string, FileEntry> files;  // by file name
};

/// `body`, a JSON object without its closing brace, closed by a member with the CRC-32C of all
/// bytes before it.
std::string with_checksum(const std::string& body);

TensorEntry describe(const Literal& tensor);
/// JSON whose last member is the CRC-32C of all bytes before it. That and the member "format" every
/// later format has too, so that a newer checkpoint is told from a damaged one.
std::string encode_manifest(const Manifest& manifest);
/// Code::corrupt for anything that `encode_manifest` did not write, Code::unsupported for a newer
/// format.
Result<Manifest> decode_manifest(const std::string& text, const std::string& name);

}  // namespace strata::checkpoint
