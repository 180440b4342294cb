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

#include "strata/base/large_file.h"
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

/// A tensor's type, and its bytes in those of a file.
struct TensorPlace {
  Type type;
  std::string_view bytes;
};
/// What a safetensors file says of itself.
struct TensorPlaces {
  std::map<std::string, TensorPlace> tensors;
  std::map<std::string, std::string> metadata;
};
/// Where the tensors are in a file's bytes, none of which is copied. Codes of decode_safetensors.
Result<TensorPlaces> index_safetensors(std::string_view bytes, const std::string& name);

/// A file that is open for reading: tensors are read one by one, when they are asked for.
///
///   auto file = checkpoint::SafetensorsFile::open("model-00001-of-00002.safetensors");
///   auto w = file->read("model.norm.weight");
class SafetensorsFile {
 public:
  /// Maps the file and reads its header. Codes of read_safetensors.
  static Result<SafetensorsFile> open(const std::string& path);
  /// The tensors by name; their bytes live as long as the file.
  const std::map<std::string, TensorPlace>& tensors() const { return places_.tensors; }
  /// The file's own notes, by key.
  const std::map<std::string, std::string>& metadata() const { return places_.metadata; }
  /// As it was given to `open`.
  const std::string& path() const { return path_; }
  /// A copy of a tensor. Code::not_found where there is none of that name.
  Result<Literal> read(const std::string& name) const;

 private:
  SafetensorsFile(std::shared_ptr<const MappedFile> file, std::string path, TensorPlaces places)
      : file_(std::move(file)), path_(std::move(path)), places_(std::move(places)) {}
  std::shared_ptr<const MappedFile> file_;
  std::string path_;
  TensorPlaces places_;
};

/// Reads a safetensors file. Code::not_found, or Code::corrupt with what is wrong.
Result<TensorFile> read_safetensors(const std::string& path);
/// Writes beside, syncs, renames: either the old file or the whole new one is there.
Status write_safetensors(const std::string& path, const TensorFile& file);

}  // namespace strata::checkpoint
