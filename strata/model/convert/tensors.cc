#include "strata/model/convert/tensors.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::conversion {
namespace {

float element(DType dtype, const char* at, std::int64_t i) {
  auto load = [&]<class T>(T) {
    T x;
    std::memcpy(&x, at + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return static_cast<float>(x);
  };
  switch (dtype) {
    case DType::f32: return load(float{});
    case DType::f64: return load(double{});
    case DType::f16: return load(Float16{});
    default: return load(BFloat16{});
  }
}

bool is_number(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

}  // namespace

std::int64_t Stored::elements() const {
  std::int64_t out = 1;
  for (std::int64_t n : shape) out *= n;
  return out;
}

Result<StoredTensors> stored_in(const checkpoint::Gguf& file) {
  // Mappings of their own, whose pages are given back, by the number of the part.
  std::map<std::uint32_t, std::shared_ptr<const MappedFile>> mappings;
  StoredTensors out;
  for (const checkpoint::GgufTensor& t : file.tensors()) {
    const checkpoint::Gguf& part = file.file_of(t);
    std::shared_ptr<const MappedFile>& mapping = mappings[t.part];
    if (!mapping) {
      auto mapped = MappedFile::open(part.name());
      if (!mapped) return mapped.status();
      mapping = *mapped;
    }
    const auto at = static_cast<std::size_t>(file.raw(t).data() - part.bytes().data());
    if (at + t.bytes() > mapping->bytes().size())
      return Status(Code::corrupt, "{}: the file changed while it was read", part.name());
    out[t.name] = {t.shape, t.type, mapping->bytes().substr(at, t.bytes()), mapping};
  }
  return out;
}

Result<StoredTensors> stored_in_folder(const std::string& folder) {
  // Checks the index, the files' names, and that every tensor is where it should be.
  auto checked = published::open_directory(folder);
  if (!checked) return checked.status();
  std::vector<std::string> files;
  const auto index = read_file(folder + "/model.safetensors.index.json");
  if (file_exists(folder + "/model.safetensors") || !index) {
    files.push_back("model.safetensors");
  } else {
    std::map<std::string, int> names;
    const auto json = nlohmann::json::parse(*index);
    for (const auto& [name, file] : json["weight_map"].items()) ++names[file.get<std::string>()];
    for (const auto& [name, count] : names) files.push_back(name);
  }
  StoredTensors out;
  for (const std::string& name : files) {
    auto path = published::file_of(folder, name);
    if (!path) return path.status();
    auto mapped = MappedFile::open(*path);
    if (!mapped) return mapped.status();
    auto places = checkpoint::index_safetensors((*mapped)->bytes(), *path);
    if (!places) return places.status();
    for (const auto& [tensor, place] : places->tensors) {
      if (!(*checked)->shapes().contains(tensor)) continue;
      out[tensor] = {place.type.shape().sizes(), place.type.dtype(), place.bytes, *mapped};
    }
  }
  return out;
}

// ---- rows --------------------------------------------------------------------------------------

std::int64_t Rows::rows() const {
  if (is_column()) return from_.elements();
  if (change_.experts > 0) return from_.rows() / change_.experts;
  return change_.transposed ? from_.row_length() : from_.rows();
}
std::int64_t Rows::row_length() const {
  if (is_column()) return 1;
  return change_.transposed ? from_.rows() : from_.row_length();
}

Status Rows::source_row(std::int64_t i, std::int64_t begin, std::int64_t count, float* out) const {
  const std::int64_t length = from_.row_length();
  if (!from_.type.is_plain()) {
    const auto* row = reinterpret_cast<const std::uint8_t*>(from_.bytes.data()) +
                      i * row_bytes(from_.type, length);
    const std::int64_t blocks = length / from_.type.group_elements();
    if (const auto& block = from_.type.block())
      block->dequantize(row, blocks, out);
    else
      from_.type.codebook()->dequantize(row, blocks, out);
    for (std::int64_t k = 0; k < length; ++k)
      if (!std::isfinite(out[k]))
        return Status(Code::corrupt, "the scale of a block in row {} is not finite", i);
    return {};
  }
  const DType dtype = from_.type.plain();
  if (!is_number(dtype))
    return Status(Code::unsupported, "its elements are {}, no floating-point numbers",
                  strata::name(dtype));
  for (std::int64_t k = 0; k < count; ++k)
    out[k] = element(dtype, from_.bytes.data(), i * length + begin + k);
  return {};
}

Status Rows::read(std::int64_t i, float* out) const {
  if (change_.transposed) {
    if (!from_.type.is_plain())
      return Status(Code::unsupported, "packed as {}, it cannot be transposed", from_.type.name());
    for (std::int64_t k = 0; k < row_length(); ++k)
      if (Status s = source_row(k, i, 1, out + k); !s.ok()) return s;
  } else {
    std::int64_t from = change_.expert * rows() + i;
    if (change_.paired_heads > 0) {
      const std::int64_t head = rows() / change_.paired_heads, half = head / 2, at = i % head;
      from += change_.to_gguf ? at % 2 * half + at / 2 - at : 2 * (at % half) + at / half - at;
    }
    const Status s =
        is_column() ? source_row(0, from, 1, out) : source_row(from, 0, row_length(), out);
    if (!s.ok()) return s;
  }
  if (change_.plus != 0)
    for (std::int64_t k = 0; k < row_length(); ++k) out[k] += static_cast<float>(change_.plus);
  return {};
}

std::int64_t row_bytes(const GgufType& type, std::int64_t length) {
  return length / type.group_elements() * type.group_bytes();
}

void append_row(const float* row, std::int64_t length, const GgufType& type, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + static_cast<std::size_t>(row_bytes(type, length)));
  char* to = out.data() + begin;
  if (const auto& block = type.block()) {
    block->quantize(row, length / block->elements(), reinterpret_cast<std::uint8_t*>(to));
    return;
  }
  auto store = [&]<class T>(T) {
    for (std::int64_t k = 0; k < length; ++k) {
      const T x(row[k]);
      std::memcpy(to + k * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
    }
  };
  switch (type.plain()) {
    case DType::f32: return store(float{});
    case DType::f16: return store(Float16{});
    case DType::bf16: return store(BFloat16{});
    default: throw Error("convert", "does not write elements of {}", type.name());
  }
}

}  // namespace strata::model::conversion
