#include "strata/type/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

#include "strata/base/format/zip.h"
#include "strata/type/strided.h"

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files of this machine's byte order are written");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlign = 64;  // of the elements in a file
constexpr int kMostDims = 64;       // NumPy has no more

struct Kind {
  std::string_view text;  // without the byte order
  DType dtype;
};
constexpr Kind kKinds[] = {{"b1", DType::i1},   {"i1", DType::i8},   {"i2", DType::i16},
                           {"i4", DType::i32},  {"i8", DType::i64},  {"u1", DType::ui8},
                           {"u2", DType::ui16}, {"u4", DType::ui32}, {"u8", DType::ui64},
                           {"V2", DType::bf16}, {"f2", DType::f16},  {"f4", DType::f32},
                           {"f8", DType::f64},  {"c8", DType::c64},  {"c16", DType::c128}};

/// The dictionary of a file's header, as Python writes it.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  /// Nothing where the text is no header.
  std::optional<Header> read() {
    Header h;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take("{")) return std::nullopt;
    while (!take("}")) {
      const auto key = string();
      if (!key || !take(":")) return std::nullopt;
      bool fine = false;
      if (*key == "descr")
        fine = !std::exchange(has_descr, true) && descr(h.descr);
      else if (*key == "fortran_order")
        fine = !std::exchange(has_order, true) && boolean(h.fortran_order);
      else if (*key == "shape")
        fine = !std::exchange(has_shape, true) && tuple(h.shape);
      if (!fine) return std::nullopt;
      if (!take(",") && !next_is("}")) return std::nullopt;
    }
    skip_blanks();
    if (!rest_.empty() || !has_descr || !has_order || !has_shape) return std::nullopt;
    return h;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool next_is(std::string_view word) {
    skip_blanks();
    return rest_.starts_with(word);
  }
  bool take(std::string_view word) {
    if (!next_is(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> string() {
    skip_blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return std::nullopt;
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }
  /// A string; records, which are lists, are kept as "[".
  bool descr(std::string& out) {
    if (auto text = string()) return out = *text, true;
    if (!next_is("[")) return false;
    out = "[";
    int depth = 0;
    std::size_t i = 0;
    do depth += rest_[i] == '[' ? 1 : rest_[i] == ']' ? -1 : 0;
    while (++i < rest_.size() && depth > 0);
    rest_.remove_prefix(i);
    return depth == 0;
  }
  bool boolean(bool& out) {
    out = take("True");
    return out || take("False");
  }
  bool tuple(std::vector<std::int64_t>& out) {
    if (!take("(")) return false;
    while (!take(")")) {
      const auto size = number();
      if (!size) return false;
      out.push_back(*size);
      if (!take(",") && !next_is(")")) return false;
    }
    return true;
  }
  /// Python 2 wrote an L behind some.
  std::optional<std::int64_t> number() {
    skip_blanks();
    std::size_t digits = 0;
    std::int64_t out = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(out, 10, &out) ||
          __builtin_add_overflow(out, rest_[digits] - '0', &out))
        return std::nullopt;
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    take("L");
    return out;
  }
  std::string_view rest_;
};

/// The header's text, and the elements behind it.
struct Parts {
  std::string_view header, elements;
};
std::optional<Parts> split(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 2) return std::nullopt;
  const auto major = static_cast<unsigned char>(bytes[kMagic.size()]),
             minor = static_cast<unsigned char>(bytes[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) return std::nullopt;
  bytes.remove_prefix(kMagic.size() + 2);
  std::uint32_t size = 0;
  const std::size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < width) return std::nullopt;
  std::memcpy(&size, bytes.data(), width);
  if (size > bytes.size() - width) return std::nullopt;
  return Parts{bytes.substr(width, size), bytes.substr(width + size)};
}

/// The number of bytes, or nothing where it is no number of this machine.
std::optional<std::uint64_t> size_of(const std::vector<std::int64_t>& shape, std::size_t width) {
  if (shape.size() > kMostDims) return std::nullopt;
  std::uint64_t out = width;
  for (std::int64_t d : shape)
    if (d > 0 && __builtin_mul_overflow(out, static_cast<std::uint64_t>(d), &out))
      return std::nullopt;
  if (out > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : out;
}

void swap_bytes(Literal& array) {
  const std::size_t parts = is_complex(array.dtype()) ? 2 : 1,
                    width = byte_width(array.dtype()) / parts;
  for (std::size_t i = 0; i < array.bytes(); i += width)
    std::reverse(array.mutable_data() + i, array.mutable_data() + i + width);
}

/// Any byte but 0 is true.
void normalize_bools(Literal& array) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(array.mutable_data());
  for (std::size_t i = 0; i < array.bytes(); ++i) bytes[i] = bytes[i] != 0;
}

Literal arranged(const Header& h, DType dtype, std::string_view elements) {
  Literal out(Type(dtype, Shape::of(h.shape)));
  const std::size_t width = byte_width(dtype);
  const int rank = static_cast<int>(h.shape.size());
  std::vector<std::int64_t> order(h.shape.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::int64_t> dense = dense_strides(h.shape, width, row_major(rank));
  copy_strided(h.shape, width, reinterpret_cast<const std::byte*>(elements.data()),
               h.fortran_order ? dense_strides(h.shape, width, order) : dense, out.mutable_data(),
               dense);
  if (h.descr[0] == '>') swap_bytes(out);
  if (dtype == DType::i1) normalize_bools(out);
  return out;
}

const Kind* kind_of(const std::string& descr) {
  if (descr.empty() || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return nullptr;
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) {
    return k.text == std::string_view(descr).substr(1);
  });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

Result<Literal> decode_npy(std::string_view bytes, const std::string& name) {
  const auto parts = split(bytes);
  if (!parts) return Status(Code::corrupt, "{}: no .npy file of version 1 to 3", name);
  const auto header = HeaderReader(parts->header).read();
  if (!header) return Status(Code::corrupt, "{}: its header is damaged", name);
  const Kind* kind = kind_of(header->descr);
  if (kind == nullptr)
    return Status(Code::unsupported, "{}: elements of kind '{}'", name, header->descr);
  const auto size = size_of(header->shape, byte_width(kind->dtype));
  if (!size || *size > parts->elements.size())
    return Status(Code::corrupt, "{}: {} bytes are too few for shape ({})", name,
                  parts->elements.size(), fmt::join(header->shape, ", "));
  return arranged(*header, kind->dtype, parts->elements);
}

Result<std::string> encode_npy(const Literal& array) {
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return k.dtype == array.dtype(); });
  if (kind == std::end(kKinds))
    return Status(Code::unsupported, "NumPy's files have no {}", strata::name(array.dtype()));
  const std::vector<std::int64_t> sizes = array.shape().sizes();
  const std::string shape = sizes.size() == 1 ? fmt::format("({},)", sizes[0])
                                              : fmt::format("({})", fmt::join(sizes, ", "));
  const char order = byte_width(array.dtype()) == 1 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   order, kind->text, shape);
  const std::size_t before = kMagic.size() + 4,
                    spare = kAlign - (before + header.size() + 1) % kAlign;
  header += std::string(spare, ' ') + '\n';
  if (header.size() > 0xffff)
    return Status(Code::unsupported, "a header of {} bytes", header.size());
  std::string out(kMagic);
  out +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  out += header;
  return out.append(reinterpret_cast<const char*>(array.data()), array.bytes());
}

Result<NamedLiterals> decode_npz(std::string_view bytes, const std::string& name) {
  auto files = read_zip(bytes, name);
  if (!files) return files.status();
  NamedLiterals out;
  for (const ZipFile& f : *files) {
    auto array = decode_npy(f.bytes, name + ": " + f.name);
    if (!array) return array.status();
    const bool has_ending = f.name.ends_with(".npy");
    out.emplace_back(has_ending ? f.name.substr(0, f.name.size() - 4) : f.name, std::move(*array));
  }
  return out;
}

Result<std::string> encode_npz(const NamedLiterals& arrays) {
  std::vector<ZipFile> files;
  for (const auto& [name, array] : arrays) {
    auto bytes = encode_npy(array);
    if (!bytes) return bytes.status();
    files.push_back({name + ".npy", std::move(*bytes)});
  }
  return write_zip(files);
}

}  // namespace strata
