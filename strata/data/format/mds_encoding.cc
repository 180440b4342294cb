#include <charconv>
#include <cstring>

#include "strata/data/format/json.h"
#include "strata/data/format/mds.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

struct Scalar {
  std::string_view name;
  std::uint8_t code;  // in an ndarray
  DType dtype;
};
constexpr Scalar kScalars[] = {
    {"uint8", 8, DType::ui8},  {"int8", 9, DType::i8},      {"uint16", 16, DType::ui16},
    {"int16", 17, DType::i16}, {"float16", 18, DType::f16}, {"uint32", 32, DType::ui32},
    {"int32", 33, DType::i32}, {"float32", 34, DType::f32}, {"uint64", 64, DType::ui64},
    {"int64", 65, DType::i64}, {"float64", 66, DType::f64},
};

const Scalar* scalar_named(std::string_view name) {
  for (const Scalar& s : kScalars)
    if (s.name == name) return &s;
  return nullptr;
}

std::size_t width(DType d) { return Type::scalar(d).bytes(); }

/// "ndarray[:dtype[:shape]]" in its parts.
struct ArrayForm {
  const Scalar* scalar = nullptr;
  std::vector<std::int64_t> shape;
  bool has_shape = false;
};

Result<ArrayForm> array_form(std::string_view encoding) {
  ArrayForm out;
  const auto bad = [&] { return Status(Code::invalid, "no encoding of MDS: {}", encoding); };
  std::string_view rest = encoding.substr(std::string_view("ndarray").size());
  if (rest.empty()) return out;
  rest.remove_prefix(1);
  const std::size_t colon = rest.find(':');
  out.scalar = scalar_named(rest.substr(0, colon));
  if (!out.scalar) return bad();
  if (colon == std::string_view::npos) return out;
  rest.remove_prefix(colon + 1);
  out.has_shape = true;
  while (!rest.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 1 || size > (1 << 30)) return bad();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && rest.front() != ',') return bad();
    if (!rest.empty()) rest.remove_prefix(1);
    out.shape.push_back(size);
  }
  return out;
}

Result<Element> decode_array(std::string_view encoding, std::string_view bytes,
                             const std::string& where) {
  auto corrupt = [&](std::string_view what) {
    return Status(Code::corrupt, "{}: an array of MDS: {}", where, what);
  };
  auto form = array_form(encoding);
  if (!form) return form.status();
  auto byte = [&](std::uint8_t& out) {
    if (bytes.empty()) return false;
    out = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    return true;
  };
  std::uint8_t code = 0;
  if (!form->scalar) {
    if (!byte(code)) return corrupt("it ends before its type");
    for (const Scalar& s : kScalars)
      if (s.code == code) form->scalar = &s;
    if (!form->scalar) return corrupt(fmt::format("type {}", code));
  }
  if (!form->has_shape) {
    if (!byte(code)) return corrupt("it ends before its shape");
    const std::size_t rank = code >> 2, size = std::size_t{1} << (code & 3);
    if (bytes.size() < rank * size) return corrupt("it ends in its shape");
    for (std::size_t i = 0; i < rank; ++i) {
      std::uint64_t dim = 0;
      std::memcpy(&dim, bytes.data() + i * size, size);
      if (dim > bytes.size()) return corrupt("more elements than bytes");
      form->shape.push_back(static_cast<std::int64_t>(dim));
    }
    bytes.remove_prefix(rank * size);
  }
  std::uint64_t count = 1;
  for (std::int64_t dim : form->shape) {
    count *= static_cast<std::uint64_t>(dim);
    if (count > bytes.size()) return corrupt("more elements than bytes");
  }
  if (count * width(form->scalar->dtype) != bytes.size())
    return corrupt(fmt::format("{} bytes for {} elements", bytes.size(), count));
  Literal out(Type(form->scalar->dtype, Shape::of(form->shape)));
  if (!bytes.empty()) std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  return Element(std::move(out));
}

Result<std::string> encode_array(std::string_view encoding, const Element& value) {
  auto form = array_form(encoding);
  if (!form) return form.status();
  if (value.kind() != Element::Kind::array)
    return Status(Code::invalid, "{} holds arrays, not {}", encoding, name(value.kind()));
  const Literal& a = value.array();
  const Scalar* scalar = nullptr;
  for (const Scalar& s : kScalars)
    if (s.dtype == a.dtype()) scalar = &s;
  const bool fits = scalar && (!form->scalar || form->scalar == scalar) &&
                    (!form->has_shape || a.shape() == Shape::of(form->shape));
  // The original refuses scalars and empty arrays too: it has encodings of their own for the first.
  if (!fits || a.shape().rank() == 0 || a.shape().rank() > 63 || a.count() == 0)
    return Status(Code::invalid, "{} cannot hold {}", encoding, a.type().to_string());
  std::string out;
  if (!form->scalar) out += static_cast<char>(scalar->code);
  if (!form->has_shape) {
    std::int64_t most = 0;
    for (std::int64_t dim : a.shape().sizes()) most = std::max(most, dim);
    const int log2 = most < (1 << 8) ? 0 : most < (1 << 16) ? 1 : most < (1LL << 32) ? 2 : 3;
    out += static_cast<char>(a.shape().rank() << 2 | log2);
    for (std::int64_t dim : a.shape().sizes())
      out.append(reinterpret_cast<const char*>(&dim), std::size_t{1} << log2);
  }
  return out.append(reinterpret_cast<const char*>(a.data()), a.bytes());
}

Result<Element> decode_scalar(const Scalar& scalar, std::string_view bytes,
                              const std::string& where) {
  if (bytes.size() != width(scalar.dtype))
    return Status(Code::corrupt, "{}: {} bytes of {}", where, bytes.size(), scalar.name);
  Literal out(Type::scalar(scalar.dtype));
  std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  if (scalar.dtype == DType::f64) return Element(out.span<double>()[0]);
  return Element(std::move(out));
}

Result<std::string> encode_scalar(const Scalar& scalar, const Element& value) {
  if (value.kind() == Element::Kind::array) {
    const Literal& a = value.array();
    if (a.dtype() == scalar.dtype && a.shape().rank() == 0)
      return std::string(reinterpret_cast<const char*>(a.data()), a.bytes());
  } else if (value.kind() == Element::Kind::integer || value.kind() == Element::Kind::boolean ||
             value.kind() == Element::Kind::real) {
    const bool real = value.kind() == Element::Kind::real;
    auto as = [&]<class T>(T) -> Result<std::string> {
      T out{};
      if constexpr (std::is_integral_v<T>) {
        const std::int64_t v = value.kind() == Element::Kind::boolean ? value.boolean()
                               : real                                 ? 0
                                                                      : value.integer();
        out = static_cast<T>(v);
        if (real || static_cast<std::int64_t>(out) != v || (std::is_unsigned_v<T> && v < 0))
          return Status(Code::invalid, "{} cannot hold {}", scalar.name, value.to_string());
      } else if constexpr (requires { static_cast<T>(1.0f); }) {
        const double v = real ? value.real() : static_cast<double>(value.integer());
        if constexpr (std::is_same_v<T, double>)
          out = v;
        else
          out = static_cast<T>(static_cast<float>(v));
      }
      return std::string(reinterpret_cast<const char*>(&out), sizeof out);
    };
    return dispatch(scalar.dtype, as);
  }
  return Status(Code::invalid, "{} holds numbers, not {}", scalar.name, name(value.kind()));
}

bool is_file(std::string_view encoding) {
  return encoding == "bytes" || encoding == "jpeg" || encoding == "png" || encoding == "pil" ||
         encoding == "jpeg_array" || encoding == "jpegarray" || encoding.starts_with("list[");
}

}  // namespace

Result<Element> decode_mds(const std::string& encoding, std::string_view bytes,
                           const std::string& where) {
  auto corrupt = [&](std::string_view what) {
    return Status(Code::corrupt, "{}: {}", where, what);
  };
  if (is_file(encoding)) return Element::bytes(std::string(bytes));
  if (encoding == "json") return element_of_json(bytes, where);
  if (encoding == "str" || encoding == "str_decimal") {
    if (tokenizer::first_invalid(bytes) != std::string::npos) return corrupt("not UTF-8");
    return Element(std::string(bytes));
  }
  if (encoding == "int") {
    std::int64_t value = 0;
    if (bytes.size() != sizeof value)
      return corrupt(fmt::format("{} bytes of an int", bytes.size()));
    std::memcpy(&value, bytes.data(), sizeof value);
    return Element(value);
  }
  const char *begin = bytes.data(), *end = begin + bytes.size();
  if (encoding == "str_int") {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end) return corrupt("no integer of 64 bits");
    return Element(value);
  }
  if (encoding == "str_float") {
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end) return corrupt("no number");
    return Element(value);
  }
  if (const Scalar* scalar = scalar_named(encoding)) return decode_scalar(*scalar, bytes, where);
  if (encoding == "ndarray" || encoding.starts_with("ndarray:"))
    return decode_array(encoding, bytes, where);
  if (encoding == "pkl")
    return Status(Code::unsupported, "{}: a Python pickle, which would run programs", where);
  return Status(Code::unsupported, "{}: the encoding {} of MDS", where, encoding);
}

Result<std::string> encode_mds(const std::string& encoding, const Element& value) {
  const bool raw = value.kind() == Element::Kind::text || value.kind() == Element::Kind::bytes;
  const bool integer = value.kind() == Element::Kind::integer;
  if (encoding == "json") return json_of(value);
  if (is_file(encoding) && raw) return std::string(value.view());
  if ((encoding == "str" || encoding == "str_decimal") && value.kind() == Element::Kind::text)
    return std::string(value.view());
  if (encoding == "str_int" && integer) return std::to_string(value.integer());
  if (encoding == "str_float" && value.kind() == Element::Kind::real)
    return fmt::format("{}", value.real());
  if (encoding == "int") return encode_scalar(*scalar_named("int64"), value);
  if (const Scalar* scalar = scalar_named(encoding)) return encode_scalar(*scalar, value);
  if (encoding == "ndarray" || encoding.starts_with("ndarray:"))
    return encode_array(encoding, value);
  return Status(Code::invalid, "the encoding {} of MDS cannot hold {}", encoding,
                value.to_string().substr(0, 80));
}

}  // namespace strata::data
