#include <cstring>
#include <set>

#include "strata/base/error.h"
#include "strata/checkpoint/gguf.h"
#include "strata/checkpoint/gguf_types.h"

namespace strata::checkpoint {
namespace {

template <class T>
void put(std::string& out, T value) {
  if constexpr (std::is_same_v<T, std::string>) {
    put<std::uint64_t>(out, value.size());
    out += value;
  } else if constexpr (std::is_same_v<T, bool>) {
    out += static_cast<char>(value);
  } else {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
}

void put_value(std::string& out, const GgufValue& value) {
  std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        put<std::uint32_t>(out, gguf::kTypeOf<T>);
        if constexpr (gguf::is_array<T>) {
          put<std::uint32_t>(out, gguf::kTypeOf<typename T::value_type>);
          put<std::uint64_t>(out, x.size());
          for (typename T::value_type element : x) put(out, element);
        } else {
          put(out, x);
        }
      },
      value);
}

void check(const GgufTensor& t, std::set<std::string>& names) {
  if (t.name.size() > gguf::kMostName)
    throw Error("gguf", "the tensor name '{}' has {} bytes, at most {} are written", t.name,
                t.name.size(), gguf::kMostName);
  if (!names.insert(t.name).second) throw Error("gguf", "the tensor '{}' is given twice", t.name);
  if (std::ssize(t.shape) > gguf::kMostRank)
    throw Error("gguf", "tensor '{}' has rank {}, at most {} is written", t.name, t.shape.size(),
                gguf::kMostRank);
  for (std::int64_t n : t.shape)
    if (n <= 0) throw Error("gguf", "tensor '{}' has a dimension of {}", t.name, n);
  if (t.type.block()) (void)t.type.block()->row_bytes(t.shape.empty() ? 1 : t.shape.back());
}

std::uint32_t alignment_of(const GgufMetadata& metadata) {
  const GgufValue* value = find(metadata, "general.alignment");
  if (!value) return 32;
  const auto* number = std::get_if<std::uint32_t>(value);
  if (!number || *number == 0 || (*number & (*number - 1)) != 0)
    throw Error("gguf", "general.alignment must be a power of two in a u32, got {}",
                number ? fmt::format("{}", *number) : type_name(*value));
  return *number;
}

}  // namespace

std::string encode_gguf_header(const GgufMetadata& metadata, std::vector<GgufTensor>& tensors) {
  const std::uint32_t alignment = alignment_of(metadata);
  std::string out = "GGUF";
  put<std::uint32_t>(out, 3);
  put<std::uint64_t>(out, tensors.size());
  put<std::uint64_t>(out, metadata.size());
  std::set<std::string> keys, names;
  for (const auto& [key, value] : metadata) {
    if (!keys.insert(key).second) throw Error("gguf", "the key '{}' is given twice", key);
    put(out, key);
    put_value(out, value);
  }
  std::uint64_t offset = 0;
  for (GgufTensor& t : tensors) {
    check(t, names);
    t.offset = offset;
    offset += t.bytes();
    offset += gguf::padding(offset, alignment);
    put(out, t.name);
    put(out, static_cast<std::uint32_t>(t.shape.size()));
    for (std::size_t d = t.shape.size(); d-- > 0;) put(out, static_cast<std::uint64_t>(t.shape[d]));
    put(out, gguf::number_of(t.type));
    put(out, t.offset);
  }
  out.append(gguf::padding(out.size(), alignment), '\0');
  return out;
}

Result<GgufWriter> GgufWriter::create(const std::string& path, const GgufMetadata& metadata,
                                      std::vector<GgufTensor> tensors) {
  const std::string header = encode_gguf_header(metadata, tensors);
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  if (Status s = file->write(header); !s.ok()) return s;
  return GgufWriter(std::move(*file), std::move(tensors), alignment_of(metadata));
}

Status GgufWriter::add(std::string_view bytes) {
  const std::uint64_t whole = next_ < tensors_.size() ? tensors_[next_].bytes() : 0;
  if (bytes.size() > whole - in_tensor_)
    throw Error("gguf", "{} bytes are added to tensor '{}', which lacks {}", bytes.size(),
                next_ < tensors_.size() ? tensors_[next_].name : "behind the last",
                whole - in_tensor_);
  if (Status s = file_.write(bytes); !s.ok()) return s;
  in_tensor_ += bytes.size();
  if (in_tensor_ < whole) return {};
  const std::string zeros(gguf::padding(whole, alignment_), '\0');
  ++next_, in_tensor_ = 0;
  return file_.write(zeros);
}

Status GgufWriter::finish() {
  if (next_ != tensors_.size())
    throw Error("gguf", "{} of {} tensors were added before the file was finished", next_,
                tensors_.size());
  return file_.commit();
}

}  // namespace strata::checkpoint
