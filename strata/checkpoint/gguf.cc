#include "strata/checkpoint/gguf.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "strata/base/file_kind.h"
#include "strata/checkpoint/gguf_types.h"
#include "strata/type/borrowed.h"

namespace strata::checkpoint {
namespace {

/// Reads a header from the front; after a failure everything it gives is empty.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name) : all_(bytes), name_(name) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return all_.size() - at_; }
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  template <class Arg, class... Args>
  void fail(Code code, fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args) {
    if (ok())
      status_ = Status(code, fmt::format("{}: {}", name_,
                                         fmt::format(format, std::forward<Arg>(arg),
                                                     std::forward<Args>(args)...)));
  }

  std::string_view take(std::uint64_t size, const char* what) {
    if (size > left()) fail(Code::corrupt, "it ends inside of {}, at byte {}", what, all_.size());
    if (!ok()) return {};
    const std::string_view out = all_.substr(at_, size);
    at_ += size;
    return out;
  }
  template <class T>
  T number(const char* what) {
    T out{};
    const std::string_view bytes = take(sizeof(T), what);
    if (ok()) std::memcpy(&out, bytes.data(), sizeof(T));
    return out;
  }
  std::string text(const char* what, std::uint64_t most) {
    const auto size = number<std::uint64_t>(what);
    if (size > most) fail(Code::corrupt, "{} has {} bytes, at most {} are read", what, size, most);
    return std::string(take(size, what));
  }
  template <class T>
  T scalar(const char* what) {
    if constexpr (std::is_same_v<T, std::string>) {
      return text(what, gguf::kMostText);
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto byte = number<std::uint8_t>(what);
      if (byte > 1) fail(Code::corrupt, "{} is a boolean of {}", what, byte);
      return byte != 0;
    } else {
      return number<T>(what);
    }
  }

 private:
  std::string_view all_;
  const std::string& name_;
  std::uint64_t at_ = 0;
  Status status_;
};

GgufValue read_array(Reader& r, const std::string& key) {
  const char* what = key.c_str();
  const auto type = r.number<std::uint32_t>(what);
  const auto count = r.number<std::uint64_t>(what);
  const std::uint64_t most =
      key == "tokenizer.ggml.tokens" ? gguf::kMostTokens : gguf::kMostElements;
  if (count > most)
    r.fail(Code::corrupt, "{} has {} elements, at most {} are read", key, count, most);
  GgufValue out;
  const bool known = gguf::with_type(type, [&](auto example) {
    using T = decltype(example);
    constexpr std::uint64_t kLeast = std::is_same_v<T, std::string> ? 8 : sizeof(T);
    if (r.ok() && count > r.left() / kLeast)
      r.fail(Code::corrupt, "{} has {} elements, more than the file", key, count);
    std::vector<T> list;
    if (r.ok()) list.reserve(count);
    for (std::uint64_t i = 0; i < count && r.ok(); ++i) list.push_back(r.scalar<T>(what));
    out = std::move(list);
  });
  if (!known) {
    if (type == gguf::kArray) r.fail(Code::corrupt, "{} is an array of arrays", key);
    r.fail(Code::corrupt, "{} has elements of type {}, which there is not", key, type);
  }
  return out;
}

GgufValue read_value(Reader& r, const std::string& key) {
  const auto type = r.number<std::uint32_t>(key.c_str());
  if (type == gguf::kArray) return read_array(r, key);
  GgufValue out;
  const bool known =
      gguf::with_type(type, [&](auto example) { out = r.scalar<decltype(example)>(key.c_str()); });
  if (!known) r.fail(Code::corrupt, "{} has type {}, which there is not", key, type);
  return out;
}

GgufMetadata read_metadata(Reader& r, std::uint64_t count) {
  GgufMetadata out;
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < count && r.ok(); ++i) {
    std::string key = r.text("a key", gguf::kMostKey);
    if (r.ok() && !keys.insert(key).second)
      r.fail(Code::corrupt, "the key '{}' is there twice", key);
    GgufValue value = read_value(r, key);
    out.emplace_back(std::move(key), std::move(value));
  }
  return out;
}

/// The type and the shape, whose bytes are checked to be below 2^63.
void read_shape(Reader& r, GgufTensor& t) {
  const auto rank = r.number<std::uint32_t>("a tensor's rank");
  if (rank > gguf::kMostRank)
    r.fail(Code::corrupt, "tensor '{}' has rank {}, at most {} is read", t.name, rank,
           gguf::kMostRank);
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < rank && r.ok(); ++d) {
    const auto size = r.number<std::uint64_t>("a tensor's shape");
    constexpr std::uint64_t kMost = std::uint64_t{1} << 59;
    if (r.ok() && (size == 0 || size > kMost / elements))
      r.fail(Code::corrupt, "tensor '{}' has a dimension of {}", t.name, size);
    if (r.ok()) elements *= size;
    t.shape.insert(t.shape.begin(), static_cast<std::int64_t>(size));
  }
  const auto number = r.number<std::uint32_t>("a tensor's type");
  if (!r.ok()) return;
  const gguf::TensorType* type = gguf::tensor_type(number);
  if (!type)
    return r.fail(Code::corrupt, "tensor '{}' has type {}, which there is not", t.name, number);
  if (!type->type)
    return r.fail(Code::unsupported,
                  "tensor '{}' is packed as {}, which Strata does not read; it "
                  "reads {}, IQ1, IQ2, IQ3 and plain numbers",
                  t.name, type->name, block_format_names());
  t.type = *type->type;
  const int block = t.type.group_elements();
  if (block > 1 && (t.shape.empty() || t.shape.back() % block != 0))
    r.fail(Code::corrupt, "tensor '{}' has rows of {}, which are no whole blocks of {} ({})",
           t.name, t.shape.empty() ? 1 : t.shape.back(), block, type->name);
}

std::vector<GgufTensor> read_tensors(Reader& r, std::uint64_t count) {
  std::vector<GgufTensor> out;
  for (std::uint64_t i = 0; i < count && r.ok(); ++i) {
    GgufTensor t;
    t.name = r.text("a tensor's name", gguf::kMostName);
    read_shape(r, t);
    t.offset = r.number<std::uint64_t>("a tensor's offset");
    out.push_back(std::move(t));
  }
  return out;
}

void check_alignment(Reader& r, const GgufMetadata& metadata, std::uint32_t& alignment) {
  const GgufValue* value = find(metadata, "general.alignment");
  if (!value || !r.ok()) return;
  const auto* number = std::get_if<std::uint32_t>(value);
  if (!number || *number == 0 || (*number & (*number - 1)) != 0)
    return r.fail(Code::corrupt, "general.alignment is {}, no power of two in a u32",
                  number ? fmt::format("{}", *number) : type_name(*value));
  alignment = *number;
}

/// Every tensor's bytes are aligned, in the file, and nobody else's.
void check_places(Reader& r, const std::vector<GgufTensor>& tensors, std::uint64_t data,
                  std::uint32_t alignment) {
  std::vector<const GgufTensor*> by_offset;
  for (const GgufTensor& t : tensors) {
    if (t.offset % alignment != 0)
      r.fail(Code::corrupt, "tensor '{}' begins at {}, which is no multiple of {}", t.name,
             t.offset, alignment);
    if (t.bytes() > data || t.offset > data - t.bytes())
      r.fail(Code::corrupt, "tensor '{}' has {} bytes from {} on, of {} that the file has", t.name,
             t.bytes(), t.offset, data);
    by_offset.push_back(&t);
  }
  if (!r.ok()) return;
  std::sort(by_offset.begin(), by_offset.end(),
            [](const GgufTensor* a, const GgufTensor* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i)
    if (by_offset[i - 1]->offset + by_offset[i - 1]->bytes() > by_offset[i]->offset)
      r.fail(Code::corrupt, "tensors '{}' and '{}' overlap", by_offset[i - 1]->name,
             by_offset[i]->name);
}

}  // namespace

Result<Gguf> Gguf::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  auto out = decode((*file)->bytes(), path);
  if (!out) return out;
  out->file_ = *file;
  if (Status joined = out->add_parts(); !joined) return joined;
  return out;
}

Result<Gguf> Gguf::decode(std::string_view bytes, const std::string& name) {
  Gguf out;
  out.name_ = name, out.bytes_ = bytes;
  if (!bytes.starts_with("GGUF"))
    return Status(Code::corrupt, "{}: this is no GGUF file but {}", name, file_kind(bytes, ""));
  Reader r(bytes.substr(0), out.name_);
  r.take(4, "the header");
  out.version_ = r.number<std::uint32_t>("the header");
  if (r.ok() && (out.version_ & 0xffff) == 0)
    r.fail(Code::unsupported, "the file is {}, only little-endian ones are read", "big-endian");
  if (r.ok() && out.version_ != 2 && out.version_ != 3)
    r.fail(Code::unsupported, "version {} of GGUF; 2 and 3 are read", out.version_);
  const auto tensors = r.number<std::uint64_t>("the header");
  const auto keys = r.number<std::uint64_t>("the header");
  if (tensors > gguf::kMostTensors || keys > gguf::kMostKeys)
    r.fail(Code::corrupt, "it says that it has {} tensors and {} keys, at most {} and {} are read",
           tensors, keys, gguf::kMostTensors, gguf::kMostKeys);
  out.metadata_ = read_metadata(r, keys);
  out.tensors_ = read_tensors(r, tensors);
  check_alignment(r, out.metadata_, out.alignment_);
  if (!r.ok()) return r.status();
  if (!out.tensors_.empty()) {
    const std::uint64_t gap = gguf::padding(r.at(), out.alignment_);
    r.take(gap, "the padding before its tensors");
    if (r.ok()) out.data_ = bytes.substr(r.at());
    check_places(r, out.tensors_, out.data_.size(), out.alignment_);
  }
  if (!r.ok()) return r.status();
  if (Status indexed = out.index(); !indexed) return indexed;
  return out;
}

Status Gguf::index() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t a, std::size_t b) { return tensors_[a].name < tensors_[b].name; });
  for (std::size_t i = 1; i < by_name_.size(); ++i)
    if (const std::string& t = tensors_[by_name_[i]].name; t == tensors_[by_name_[i - 1]].name)
      return Status(Code::corrupt, "{}: the tensor '{}' is there twice", name_, t);
  return {};
}

Status Gguf::add_parts() {
  const auto integer_of = [](const Gguf& file, const char* key) {
    const GgufValue* value = find(file.metadata_, key);
    return value ? as_integer(*value).value_or(-1) : 0;
  };
  const std::int64_t count = integer_of(*this, "split.count"), no = integer_of(*this, "split.no");
  if (count == 0 || count == 1) return {};
  if (count < 0 || count > gguf::kMostParts)
    return Status(Code::corrupt, "{}: split.count is {}, allowed are {}", name_, count,
                  gguf::kMostParts);
  const auto suffix = [&](std::int64_t i) {
    return fmt::format("-{:05}-of-{:05}.gguf", i + 1, count);
  };
  if (!name_.ends_with(suffix(no)))
    return Status(Code::unsupported,
                  "{}: one of {} parts of a model; the name of part {} ends in {}", name_, count,
                  no + 1, suffix(no));
  const std::string stem = name_.substr(0, name_.size() - suffix(no).size());
  if (no != 0)
    return Status(Code::unsupported, "{}: part {} of {} of a model; the first is to be named, {}",
                  name_, no + 1, count, stem + suffix(0));
  const std::int64_t wanted = integer_of(*this, "split.tensors.count");
  for (std::int64_t i = 1; i < count; ++i) {
    const std::string path = stem + suffix(i);
    auto mapped = MappedFile::open(path);
    if (!mapped) return mapped.status();
    auto part = decode((*mapped)->bytes(), path);
    if (!part) return part.status();
    if (integer_of(*part, "split.count") != count || integer_of(*part, "split.no") != i)
      return Status(Code::corrupt, "{}: it does not say that it is part {} of {}", path, i + 1,
                    count);
    part->file_ = *mapped;
    for (GgufTensor t : part->tensors_) {
      t.part = static_cast<std::uint32_t>(i);
      tensors_.push_back(std::move(t));
    }
    parts_.push_back(std::move(*part));
  }
  const auto there = static_cast<std::int64_t>(tensors_.size());
  if (tensors_.size() > gguf::kMostTensors || (wanted > 0 && there != wanted))
    return Status(Code::corrupt, "{}: its parts have {} tensors, split.tensors.count says {}",
                  name_, there, wanted);
  std::erase_if(metadata_, [](const auto& entry) { return entry.first.starts_with("split."); });
  return index();
}

const Gguf& Gguf::file_of(const GgufTensor& tensor) const {
  return tensor.part == 0 ? *this : parts_[tensor.part - 1];
}

const GgufTensor* Gguf::tensor(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::size_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

namespace {

/// The value of a key that `as` understands.
template <class As>
auto get(const GgufMetadata& metadata, std::string_view key, const std::string& file,
         const char* wanted, As&& as) -> Result<typename decltype(as(GgufValue()))::value_type> {
  const GgufValue* value = find(metadata, key);
  if (!value) return Status(Code::not_found, "{}: the key '{}' is missing", file, key);
  if (auto found = as(*value)) return *found;
  return Status(Code::corrupt, "{}: '{}' is {}, not {}", file, key, type_name(*value), wanted);
}

}  // namespace

Result<std::string> Gguf::text(std::string_view key) const {
  return get(metadata_, key, name_, "a string", [](const GgufValue& v) {
    const auto* text = std::get_if<std::string>(&v);
    return text ? std::optional<std::string>(*text) : std::nullopt;
  });
}
Result<std::int64_t> Gguf::integer(std::string_view key) const {
  return get(metadata_, key, name_, "an integer", as_integer);
}
Result<double> Gguf::number(std::string_view key) const {
  return get(metadata_, key, name_, "a number", as_number);
}

std::string_view Gguf::raw(const GgufTensor& tensor) const {
  return file_of(tensor).data_.substr(tensor.offset, tensor.bytes());
}

Literal Gguf::bytes_of(const GgufTensor& tensor) const {
  std::vector<std::int64_t> shape = tensor.shape;
  DType dtype = tensor.type.plain();
  if (!tensor.type.is_plain()) {
    dtype = DType::ui8;
    shape.back() = shape.back() / tensor.type.group_elements() * tensor.type.group_bytes();
  }
  const auto* at = reinterpret_cast<const std::byte*>(raw(tensor).data());
  return Literal(Type(dtype, Shape::of(shape)),
                 borrowed_bytes(at, [keep = file_of(tensor).file_] {}));
}

Result<Literal> Gguf::numbers_of(const GgufTensor& tensor) const {
  Literal out(Type(DType::f32, Shape::of(tensor.shape)));
  float* to = out.mutable_span<float>().data();
  if (!tensor.type.is_plain()) {
    const auto* blocks = reinterpret_cast<const std::uint8_t*>(raw(tensor).data());
    const int together = tensor.type.group_elements();
    const std::int64_t count = tensor.elements() / together;
    if (const auto& block = tensor.type.block())
      block->dequantize(blocks, count, to);
    else
      tensor.type.codebook()->dequantize(blocks, count, to);
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      if (!std::isfinite(to[i]))
        return Status(Code::corrupt, "{}: tensor '{}': the scale of block {} is not finite", name_,
                      tensor.name, i / together);
    return out;
  }
  const Literal plain = bytes_of(tensor);
  if (!is_float(plain.dtype()))
    return Status(Code::unsupported, "{}: tensor '{}' holds integers ({})", name_, tensor.name,
                  tensor.type.name());
  for (std::int64_t i = 0; i < plain.count(); ++i) to[i] = static_cast<float>(plain.number(i));
  return out;
}

void Gguf::release(const GgufTensor& tensor) const {
  if (const auto& file = file_of(tensor).file_) file->release(raw(tensor));
}

}  // namespace strata::checkpoint
