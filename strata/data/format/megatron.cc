#include "strata/data/format/megatron.h"

#include <cstring>
#include <limits>

#include "strata/base/checksum.h"

namespace strata::data {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "MMIDIDX\0\0"sv;
constexpr std::size_t kHeader = 9 + 8 + 1 + 8 + 8, kFlush = std::size_t{1} << 20;

struct TypeCode {
  std::uint8_t code;
  DType dtype;
};
constexpr TypeCode kTypes[] = {{1, DType::ui8}, {2, DType::i8},  {3, DType::i16}, {4, DType::i32},
                               {5, DType::i64}, {6, DType::f64}, {7, DType::f32}, {8, DType::ui16}};

std::int64_t width_of(DType dtype) {
  return static_cast<std::int64_t>(Type::scalar(dtype).bytes());
}

template <class T>
T load(std::string_view bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()};
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string prefix_of(const std::string& path) {
  if (path.ends_with(".bin") || path.ends_with(".idx")) return path.substr(0, path.size() - 4);
  return path;
}

}  // namespace

Result<MegatronFile> MegatronFile::open(const std::string& path) {
  const std::string prefix = prefix_of(path);
  auto index = MappedFile::open(prefix + ".idx");
  if (!index) return index.status();
  auto tokens = MappedFile::open(prefix + ".bin");
  if (!tokens) return tokens.status();
  auto out = of((*index)->bytes(), (*tokens)->bytes(), prefix);
  if (!out) return out;
  out->index_file_ = *index;
  out->token_file_ = *tokens;
  return out;
}

Result<MegatronFile> MegatronFile::of(std::string_view index, std::string_view tokens,
                                      const std::string& name) {
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}.idx: no whole Megatron index: {}", name, what);
  };
  if (index.size() < kHeader || !index.starts_with(kMagic))
    return corrupt("it does not begin with MMIDIDX");
  if (const auto version = load<std::uint64_t>(index, 9); version != 1)
    return corrupt(fmt::format("version {}, where 1 is known", version));
  MegatronFile out;
  const auto code = load<std::uint8_t>(index, 17);
  const TypeCode* type = nullptr;
  for (const TypeCode& t : kTypes)
    if (t.code == code) type = &t;
  if (!type) return corrupt(fmt::format("type {} of tokens, where 1 to 8 are known", code));
  out.dtype_ = type->dtype;
  const auto sequences = load<std::uint64_t>(index, 18), documents = load<std::uint64_t>(index, 26);
  // Each count is at most what the file could hold, so that the sums below are exact.
  if (sequences > index.size() || documents > index.size() || documents == 0)
    return corrupt(fmt::format("{} sequences in {} documents do not fit into {} bytes", sequences,
                               documents, index.size()));
  const std::size_t expected = kHeader + 12 * sequences + 8 * documents;
  if (index.size() != expected && index.size() != expected + sequences)
    return corrupt(fmt::format("it has {} bytes and should have {}", index.size(), expected));
  out.size_ = static_cast<std::int64_t>(sequences);
  out.documents_ = static_cast<std::int64_t>(documents);
  out.tokens_ = tokens;
  out.lengths_ = index.substr(kHeader, 4 * sequences);
  out.places_ = index.substr(kHeader + 4 * sequences, 8 * sequences);
  out.document_places_ = index.substr(kHeader + 12 * sequences, 8 * documents);
  if (index.size() != expected) out.modes_ = index.substr(expected);
  const std::int64_t width = width_of(out.dtype_), bytes = std::ssize(tokens);
  for (std::size_t i = 0; i < sequences; ++i) {
    const auto length = load<std::int32_t>(out.lengths_, 4 * i);
    const auto place = load<std::int64_t>(out.places_, 8 * i);
    if (length < 0 || place < 0 || place > bytes || length * width > bytes - place)
      return corrupt(fmt::format("sequence {} has {} tokens from byte {} on, of a .bin of {} bytes",
                                 i, length, place, bytes));
  }
  if (out.document(0) != 0 || out.document(out.documents()) != out.size_)
    return corrupt(fmt::format("documents reach from sequence {} to {} of {}", out.document(0),
                               out.document(out.documents()), out.size_));
  for (std::int64_t d = 0; d < out.documents(); ++d)
    if (out.document(d) > out.document(d + 1))
      return corrupt(fmt::format("document {} begins with sequence {}, the next one with {}", d,
                                 out.document(d), out.document(d + 1)));
  return out;
}

Literal MegatronFile::sequence(std::int64_t i) const {
  STRATA_CHECK(i >= 0 && i < size_, "sequence {} of {}", i, size_);
  const auto at = static_cast<std::size_t>(i);
  const std::int64_t length = load<std::int32_t>(lengths_, 4 * at);
  Literal out(Type(dtype_, {length}));
  if (length > 0)
    std::memcpy(out.mutable_data(), tokens_.data() + load<std::int64_t>(places_, 8 * at),
                out.bytes());
  return out;
}

namespace {

template <class T>
void copy_as(const char* from, std::span<std::int64_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    out[i] = static_cast<std::int64_t>(value);
  }
}

}  // namespace

void MegatronFile::copy(std::int64_t i, std::int64_t begin, std::span<std::int64_t> out) const {
  STRATA_CHECK(begin >= 0 && begin + std::ssize(out) <= length(i), "tokens {} + {} of {}", begin,
               out.size(), length(i));
  if (out.empty()) return;
  const Type one(dtype_, {1});
  const char* from = tokens_.data() + load<std::int64_t>(places_, 8 * static_cast<std::size_t>(i)) +
                     begin * static_cast<std::int64_t>(one.bytes());
  switch (dtype_) {
    case DType::ui8: return copy_as<std::uint8_t>(from, out);
    case DType::i8: return copy_as<std::int8_t>(from, out);
    case DType::i16: return copy_as<std::int16_t>(from, out);
    case DType::i32: return copy_as<std::int32_t>(from, out);
    case DType::i64: return copy_as<std::int64_t>(from, out);
    case DType::ui16: return copy_as<std::uint16_t>(from, out);
    default: STRATA_CHECK(false, "tokens of {}", name(dtype_));
  }
}

std::uint32_t MegatronFile::checksum() const { return crc32c(tokens_, crc32c(lengths_)); }

std::int32_t MegatronFile::length(std::int64_t i) const {
  STRATA_CHECK(i >= 0 && i < size_, "sequence {} of {}", i, size_);
  return load<std::int32_t>(lengths_, 4 * static_cast<std::size_t>(i));
}

std::vector<std::int32_t> MegatronFile::lengths() const {
  std::vector<std::int32_t> out(static_cast<std::size_t>(size_));
  std::memcpy(out.data(), lengths_.data(), 4 * out.size());
  return out;
}

std::int64_t MegatronFile::document(std::int64_t i) const {
  STRATA_CHECK(i >= 0 && i < documents_, "document {} of {}", i, documents_);
  return load<std::int64_t>(document_places_, 8 * static_cast<std::size_t>(i));
}

std::optional<int> MegatronFile::mode(std::int64_t i) const {
  STRATA_CHECK(i >= 0 && i < size_, "sequence {} of {}", i, size_);
  if (modes_.empty()) return std::nullopt;
  return load<std::int8_t>(modes_, static_cast<std::size_t>(i));
}

DType MegatronWriter::best_dtype(std::int64_t vocab_size) {
  return vocab_size < 65500 ? DType::ui16 : DType::i32;
}

Result<MegatronWriter> MegatronWriter::create(const std::string& path, DType dtype) {
  bool known = false;
  for (const TypeCode& t : kTypes) known |= t.dtype == dtype;
  if (!known)
    return Status(Code::unsupported, "{}: Megatron's files have no code for tokens of type {}",
                  path, name(dtype));
  const std::string prefix = prefix_of(path);
  auto tokens = FileWriter::create(prefix + ".bin");
  if (!tokens) return tokens.status();
  auto index = FileWriter::create(prefix + ".idx");
  if (!index) return index.status();
  return MegatronWriter(std::move(*tokens), std::move(*index), dtype);
}

Status MegatronWriter::add(const Literal& sequence) {
  if (sequence.dtype() != dtype_ || sequence.shape().rank() != 1 ||
      sequence.count() > std::numeric_limits<std::int32_t>::max())
    return Status(Code::invalid, "sequence {}: {}, where {}[n] is written", lengths_.size(),
                  sequence.type().to_string(), name(dtype_));
  lengths_.push_back(static_cast<std::int32_t>(sequence.count()));
  places_.push_back(bytes_);
  bytes_ += static_cast<std::int64_t>(sequence.bytes());
  buffer_.append(reinterpret_cast<const char*>(sequence.data()), sequence.bytes());
  if (buffer_.size() < kFlush) return {};
  const Status s = tokens_.write(buffer_);
  buffer_.clear();
  return s;
}

Status MegatronWriter::close() {
  if (documents_.back() != std::ssize(lengths_)) end_document();
  std::string header(kMagic);
  put<std::uint64_t>(header, 1);
  for (const TypeCode& t : kTypes)
    if (t.dtype == dtype_) put(header, t.code);
  put<std::uint64_t>(header, lengths_.size());
  put<std::uint64_t>(header, documents_.size());
  if (Status s = tokens_.write(buffer_); !s.ok()) return s;
  for (std::string_view piece :
       {std::string_view(header), bytes_of(lengths_), bytes_of(places_), bytes_of(documents_)})
    if (Status s = index_.write(piece); !s.ok()) return s;
  if (Status s = tokens_.commit(); !s.ok()) return s;
  return index_.commit();
}

}  // namespace strata::data
