#include "strata/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/file_kind.h"
#include "strata/base/large_file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/checkpoint/safetensors_rules.h"

namespace strata::checkpoint {
namespace {

using json = nlohmann::ordered_json;

struct Name {
  DType dtype;
  const char* text;
};
constexpr Name kNames[] = {
    {DType::i1, "BOOL"},
    {DType::ui8, "U8"},
    {DType::i8, "I8"},
    {DType::ui16, "U16"},
    {DType::i16, "I16"},
    {DType::ui32, "U32"},
    {DType::i32, "I32"},
    {DType::ui64, "U64"},
    {DType::i64, "I64"},
    {DType::f16, "F16"},
    {DType::bf16, "BF16"},
    {DType::f32, "F32"},
    {DType::f64, "F64"},
    {DType::c64, "C64"},
    {DType::f8E4M3FN, "F8_E4M3"},
    {DType::f8E5M2, "F8_E5M2"},
    {DType::f8E8M0FNU, "F8_E8M0"},
};

const char* text_of(DType dtype) {
  for (const Name& n : kNames)
    if (n.dtype == dtype) return n.text;
  return nullptr;
}

using Extent = std::pair<std::uint64_t, std::uint64_t>;

/// Where the tensor of one entry is; adds that to `extents`.
Result<TensorPlace> place(const std::string& key, const json& entry, std::string_view data,
                          const std::string& file, std::vector<Extent>& extents) {
  auto corrupt = [&](const char* why) {
    return Status(Code::corrupt, "{}: tensor '{}': {}", file, key, why);
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return corrupt("dtype, shape or data_offsets is missing");
  const json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    return corrupt("a field has the wrong type");
  const Name* found = nullptr;
  for (const Name& n : kNames)
    if (dtype.get<std::string>() == n.text) found = &n;
  if (!found)
    return Status(Code::unsupported, "{}: tensor '{}' has dtype {}, which is not supported", file,
                  key, dtype.get<std::string>());
  std::vector<std::int64_t> sizes;
  std::uint64_t bytes = byte_width(found->dtype);
  bool empty = std::any_of(shape.begin(), shape.end(), [](const json& s) {
    return s.is_number_unsigned() && s.get<std::uint64_t>() == 0;
  });
  for (const json& s : shape) {
    if (!s.is_number_unsigned()) return corrupt("a dimension is not a number");
    auto n = s.get<std::uint64_t>();
    if (n > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
        (!empty && bytes > data.size() / n))
      return corrupt("the shape is larger than the file");
    bytes *= n;
    sizes.push_back(static_cast<std::int64_t>(n));
  }
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return corrupt("an offset is not a number");
  auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > data.size() || end - begin != bytes)
    return corrupt("its offsets do not match its shape or the file's length");
  extents.emplace_back(begin, end);
  return TensorPlace{Type(found->dtype, Shape::of(sizes)), data.substr(begin, bytes)};
}

/// A copy of the tensor at a place.
Result<Literal> tensor(const std::string& key, const TensorPlace& at, const std::string& file) {
  Literal out(at.type);
  if (!at.bytes.empty()) std::memcpy(out.mutable_data(), at.bytes.data(), at.bytes.size());
  if (Status s = check_booleans(key, out, file); !s.ok()) return s;
  return out;
}

/// Whether the tensors cover the data once and without holes, as the format asks.
bool covers(std::vector<Extent> extents, std::uint64_t bytes) {
  std::sort(extents.begin(), extents.end());
  std::uint64_t at = 0;
  for (const auto& [begin, end] : extents) {
    if (begin != at) return false;
    at = end;
  }
  return at == bytes;
}

}  // namespace

Result<SafetensorsPieces> safetensors_pieces(const TensorFile& file) {
  json header = json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, t] : file.tensors) {
    const char* dtype = text_of(t.dtype());
    if (!dtype)
      return Status(Code::unsupported, "safetensors has no name for dtype {} (tensor '{}')",
                    strata::name(t.dtype()), name);
    header[name] = {{"dtype", dtype},
                    {"shape", t.shape().sizes()},
                    {"data_offsets", {offset, offset + t.bytes()}}};
    offset += t.bytes();
  }
  std::string head = header.dump();
  head.append((8 - head.size() % 8) % 8, ' ');
  SafetensorsPieces out{std::string(8, '\0'), {}};
  std::uint64_t length = head.size();
  std::memcpy(out.header.data(), &length, 8);
  out.header += head;
  for (const auto& [name, t] : file.tensors)
    out.tensors.emplace_back(reinterpret_cast<const char*>(t.data()), t.bytes());
  return out;
}

Result<std::string> encode_safetensors(const TensorFile& file) {
  auto pieces = safetensors_pieces(file);
  if (!pieces) return pieces.status();
  std::string out = std::move(pieces->header);
  std::size_t bytes = out.size();
  for (std::string_view t : pieces->tensors) bytes += t.size();
  out.reserve(bytes);
  for (std::string_view t : pieces->tensors) out += t;
  return out;
}

namespace {

/// What the file is instead, where that is known.
std::string instead(std::string_view bytes, const std::string& name) {
  const std::string kind =
      name.ends_with(".safetensors") ? known_kind(bytes, "") : known_kind(bytes, name);
  return kind.empty() || kind == "a safetensors file" ? "" : fmt::format("; this is {}", kind);
}

}  // namespace

Status check_booleans(const std::string& name, const Literal& tensor, const std::string& file) {
  const auto is_boolean = [](std::byte b) { return b <= std::byte{1}; };
  if (tensor.dtype() != DType::i1 ||
      std::all_of(tensor.data(), tensor.data() + tensor.bytes(), is_boolean))
    return {};
  return Status(Code::corrupt, "{}: tensor '{}': a boolean is neither 0 nor 1", file, name);
}

Result<TensorPlaces> index_safetensors(std::string_view bytes, const std::string& name) {
  std::uint64_t length = 0;
  if (bytes.size() < 8)
    return Status(Code::corrupt, "{}: {} bytes are too few for a safetensors file{}", name,
                  bytes.size(), instead(bytes, name));
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMostHeader || length > bytes.size() - 8)
    return Status(Code::corrupt,
                  "{}: no whole safetensors file: the header says {} bytes, the file has {}{}",
                  name, length, bytes.size() - 8, instead(bytes, name));
  json header = json::parse(
      bytes.begin() + 8, bytes.begin() + 8 + static_cast<std::ptrdiff_t>(length), nullptr, false);
  if (header.is_discarded() || !header.is_object())
    return Status(Code::corrupt, "{}: the header is not a JSON object{}", name,
                  instead(bytes, name));
  std::string_view data = bytes.substr(8 + length);
  TensorPlaces out;
  std::vector<Extent> extents;
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") {
      if (!entry.is_object())
        return Status(Code::corrupt, "{}: __metadata__ is not an object", name);
      for (const auto& [k, v] : entry.items()) {
        if (!v.is_string())
          return Status(Code::corrupt, "{}: __metadata__ holds something other than text at '{}'",
                        name, k);
        out.metadata[k] = v.get<std::string>();
      }
      continue;
    }
    Result<TensorPlace> t = place(key, entry, data, name, extents);
    if (!t) return t.status();
    out.tensors.emplace(key, *t);
  }
  if (!covers(std::move(extents), data.size()))
    return Status(Code::corrupt, "{}: the tensors overlap or leave holes in {} bytes of data", name,
                  data.size());
  return out;
}

Result<TensorFile> decode_safetensors(std::string_view bytes, const std::string& name) {
  Result<TensorPlaces> places = index_safetensors(bytes, name);
  if (!places) return places.status();
  TensorFile out{.tensors = {}, .metadata = std::move(places->metadata)};
  for (const auto& [key, at] : places->tensors) {
    Result<Literal> t = tensor(key, at, name);
    if (!t) return t.status();
    out.tensors.emplace(key, *t);
  }
  return out;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  Result<TensorPlaces> places = index_safetensors((*file)->bytes(), path);
  if (!places) return places.status();
  return SafetensorsFile(std::move(*file), path, std::move(*places));
}

Result<Literal> SafetensorsFile::read(const std::string& name) const {
  const auto it = places_.tensors.find(name);
  if (it == places_.tensors.end())
    return Status(Code::not_found, "{}: there is no tensor '{}'", path_, name);
  Result<Literal> out = tensor(name, it->second, path_);
  file_->release(it->second.bytes);
  return out;
}

Result<TensorFile> read_safetensors(const std::string& path) {
  Result<std::string> bytes = read_file(path);
  if (!bytes) return bytes.status();
  return decode_safetensors(*bytes, path);
}

Status write_safetensors(const std::string& path, const TensorFile& file) {
  std::error_code error;
  const auto there = std::filesystem::symlink_status(path, error);
  if (there.type() != std::filesystem::file_type::not_found && !is_object_path(path)) {
    // Links, devices and the owner of what is there are write_file_atomic's.
    Result<std::string> bytes = encode_safetensors(file);
    if (!bytes) return bytes.status();
    return write_file_atomic(path, *bytes);
  }
  auto pieces = safetensors_pieces(file);
  if (!pieces) return pieces.status();
  auto out = FileWriter::create(path);
  if (!out) return out.status();
  if (Status s = out->write(pieces->header); !s.ok()) return s;
  for (std::string_view t : pieces->tensors)
    if (Status s = out->write(t); !s.ok()) return s;
  return out->commit();
}

}  // namespace strata::checkpoint
