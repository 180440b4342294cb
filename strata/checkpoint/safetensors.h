// Files of named tensors in the safetensors format: 8 bytes of header length, a JSON header, the
// bytes.
//
//   auto file = checkpoint::read_safetensors("model.safetensors");
//   if (!file) return fail(file.status());
//   const Literal& w = file->tensors.at("w");
//
// Source: the format's description in the safetensors package's README. Names are kept in the order
// of the map, so equal contents give equal files. Types without an upstream name (i1 is BOOL) are
// refused with Code::unsupported.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

/// The tensors of a safetensors file by name, and its metadata.
struct TensorFile {
  std::map<std::string, Literal> tensors;
  std::map<std::string, std::string> metadata;
};

/// The bytes as a file would hold them.
Result<std::string> encode_safetensors(const TensorFile& file);
/// The same bytes without a copy of the tensors: what stands before them, then those of each, which
/// live as long as `file`.
struct SafetensorsPieces {
  std::string header;
  std::vector<std::string_view> tensors;
};
/// The bytes of a safetensors file in pieces, none of which is copied.
Result<SafetensorsPieces> safetensors_pieces(const TensorFile& file);
/// Code::corrupt for bytes that are no such file: bad lengths, overlapping or out-of-range offsets,
/// sizes that do not match shapes. Every length is checked before it is used.
Result<TensorFile> decode_safetensors(std::string_view bytes, const std::string& name);

/// Reads a safetensors file. Code::not_found, or Code::corrupt with what is wrong.
Result<TensorFile> read_safetensors(const std::string& path);
/// Writes beside, syncs, renames: either the old file or the whole new one is there.
Status write_safetensors(const std::string& path, const TensorFile& file);

}  // namespace strata::checkpoint
