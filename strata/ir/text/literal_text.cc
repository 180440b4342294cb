#include "strata/ir/text/literal_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "strata/ir/text/type_text.h"
#include "strata/type/number.h"

namespace strata::ir {
namespace {

/// MLIR prints longer constants as bytes.
constexpr std::int64_t kLongestList = 100;

// ---- elements as bits: one word per real part, little-endian in the literal's bytes ------------

int parts(DType dtype) { return is_complex(dtype) ? 2 : 1; }
std::size_t part_bytes(DType dtype) {
  return byte_width(dtype) / static_cast<std::size_t>(parts(dtype));
}

std::uint64_t load(const std::byte* p, std::size_t bytes) {
  std::uint64_t out = 0;
  std::memcpy(&out, p, bytes);
  return out;
}
void store(std::byte* p, std::size_t bytes, std::uint64_t bits) { std::memcpy(p, &bits, bytes); }

std::int64_t sign_extended(std::uint64_t bits, int width) {
  int shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}
std::uint64_t low_bits(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

// ---- reading -----------------------------------------------------------------------------------

/// Reads the elements of one `dense<...>`.
class Elements {
 public:
  Elements(Cursor& c, const Type& type)
      : c_(c), type_(type), dtype_(type.dtype()), width_(byte_width(dtype_)) {}

  Literal parse() {
    if (c_.at_end()) {
      if (type_.shape().count() != 0) c_.fail("no value for {}", type_.to_string());
      return Literal(type_);
    }
    if (c_.peek() == '"') return bytes();
    if (c_.peek() != '[') {
      element(one_);
      return Literal::splat(type_, one_);
    }
    Literal out(type_);
    next_ = out.mutable_data();
    list(0);
    return out;
  }

 private:
  void list(int dim) {
    if (type_.shape().rank() == 0) c_.fail("a list for {}", type_.to_string());
    c_.expect("[");
    std::int64_t count = 0;
    if (!c_.consume("]")) {
      do {
        if (++count > type_.shape()[dim]) break;
        if (dim + 1 < type_.shape().rank())
          list(dim + 1);
        else
          element(next_), next_ += width_;
      } while (c_.consume(","));
      if (count <= type_.shape()[dim]) c_.expect("]");
    }
    if (count != type_.shape()[dim])
      c_.fail("{} values along dimension {} of {}",
              count > type_.shape()[dim] ? "too many" : "too few", dim, type_.to_string());
  }

  void element(std::byte* to) {
    if (c_.peek() == '[')
      c_.fail("a list of depth {} for {}", type_.shape().rank() + 1, type_.to_string());
    if (!is_complex(dtype_)) return store(to, width_, scalar(dtype_));
    DType part = real_part(dtype_);
    std::size_t half = part_bytes(dtype_);
    c_.expect("(");
    store(to, half, scalar(part));
    c_.expect(",");
    store(to + half, half, scalar(part));
    c_.expect(")");
  }

  std::uint64_t scalar(DType dtype) {
    if (c_.looking_at("true") || c_.looking_at("false")) {
      if (!is_bool(dtype)) c_.fail("a truth value for {}", name(dtype));
      return c_.consume("true") ? 1 : (c_.expect("false"), 0);
    }
    std::size_t where = c_.offset();
    std::string_view text = c_.number();
    if (is_float(dtype)) return float_element(text, where, dtype);
    return integer_element(text, where, dtype);
  }

  std::uint64_t float_element(std::string_view text, std::size_t where, DType dtype) {
    std::optional<std::uint64_t> bits = text.substr(0, 2) == "0x"
                                            ? hexadecimal(text, bit_width(dtype))
                                            : parse_float_bits(text, dtype);
    if (!bits)
      c_.fail_at(where, fmt::format("'{}' is no value of {}", text.substr(0, 40), name(dtype)));
    return *bits;
  }

  std::uint64_t integer_element(std::string_view text, std::size_t where, DType dtype) {
    int width = bit_width(dtype);
    bool negative = text[0] == '-';
    std::string_view magnitude = negative || text[0] == '+' ? text.substr(1) : text;
    std::optional<std::uint64_t> value =
        magnitude.substr(0, 2) == "0x" ? hexadecimal(magnitude, 64) : decimal(magnitude);
    std::uint64_t most = negative ? std::uint64_t{1} << (width - 1) : low_bits(width);
    if (!value || *value > most || (negative && is_unsigned(dtype) && *value != 0))
      c_.fail_at(where, fmt::format("'{}' is no value of {}", text.substr(0, 40), name(dtype)));
    std::uint64_t bits = negative ? ~*value + 1 : *value;
    return is_signed(dtype) ? static_cast<std::uint64_t>(sign_extended(bits, width)) : bits;
  }

  static std::optional<std::uint64_t> decimal(std::string_view digits) {
    std::uint64_t value = 0;
    for (char d : digits) {
      if (d < '0' || d > '9' || __builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<std::uint64_t>(d - '0'), &value))
        return std::nullopt;
    }
    return digits.empty() ? std::nullopt : std::optional(value);
  }

  static int nibble(char h) { return h <= '9' ? h - '0' : (h | 0x20) - 'a' + 10; }
  static std::optional<std::uint64_t> hexadecimal(std::string_view text, int width) {
    std::uint64_t value = 0;
    if (text.size() <= 2) return std::nullopt;
    for (char h : text.substr(2)) {
      if (value >> 60 != 0) return std::nullopt;
      value = value * 16 + static_cast<std::uint64_t>(nibble(h));
    }
    return value <= low_bits(width) ? std::optional(value) : std::nullopt;
  }

  /// dense<"0x..."> : little-endian bytes of all elements, or of one for all. Booleans: a byte
  /// each, or (older text) a bit each.
  Literal bytes() {
    std::size_t where = c_.offset();
    std::string_view text = c_.text().substr(where);
    if (text.size() > 1 && text.back() == '"') {  // all of the body; what is no digit fails below
      text = text.substr(1, text.size() - 2);
      c_.seek(c_.text().size());
    } else {
      text = c_.raw_string();
    }
    if (text.substr(0, 2) != "0x" || text.size() % 2 != 0)
      c_.fail_at(where, "bytes of a constant are \"0x\" and pairs of digits");
    text.remove_prefix(2);
    std::size_t count = text.size() / 2, total = type_.bytes();
    std::size_t packed = is_bool(dtype_) ? (total + 7) / 8 : 0;
    if (count != total && !(count == width_ && total > 0) && !(packed != 0 && count == packed))
      c_.fail_at(where, fmt::format("{} bytes for {}", count, type_.to_string()));
    if (count == width_ && total > 0) {
      decode(text, one_, where);
      normalize(one_, 1);
      return Literal::splat(type_, one_);
    }
    Literal out(type_);
    std::byte* to = out.mutable_data();
    if (count == total) {
      decode(text, to, where);
      normalize(to, count / width_);
      return out;
    }
    std::vector<std::byte> bits(count);
    decode(text, bits.data(), where);
    for (std::size_t i = 0; i < total; ++i) to[i] = (bits[i / 8] >> (i % 8)) & std::byte{1};
    return out;
  }

  void decode(std::string_view digits, std::byte* to, std::size_t where) {
    if (!hex_bytes(digits, to))
      c_.fail_at(where, "bytes of a constant are \"0x\" and pairs of digits");
  }

  /// Bytes of booleans become 0 or 1, those of narrow integers are extended by their sign or cut.
  void normalize(std::byte* at, std::size_t count) {
    int bits = bit_width(dtype_);
    if (bits >= 8) return;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t value = load(at + i, 1);
      if (is_bool(dtype_))
        value = value != 0 ? 1 : 0;
      else if (is_signed(dtype_))
        value = static_cast<std::uint64_t>(sign_extended(value & low_bits(bits), bits));
      else
        value &= low_bits(bits);
      store(at + i, 1, value);
    }
  }

  Cursor& c_;
  const Type& type_;
  DType dtype_;
  std::size_t width_;
  std::byte* next_ = nullptr;  // where a list's next element goes
  std::byte one_[16] = {};
};

// ---- writing -----------------------------------------------------------------------------------

std::string part_text(std::uint64_t bits, DType dtype) {
  if (is_bool(dtype)) return bits != 0 ? "true" : "false";
  if (is_float(dtype)) return float_text(bits, dtype);
  if (is_signed(dtype)) return fmt::format("{}", sign_extended(bits, bit_width(dtype)));
  return fmt::format("{}", bits);
}

std::string element_text(const Literal& value, std::int64_t i) {
  DType dtype = value.dtype();
  std::size_t width = byte_width(dtype), part = part_bytes(dtype);
  const std::byte* p = value.element(i);
  if (!is_complex(dtype)) return part_text(load(p, width), dtype);
  return fmt::format("({},{})", part_text(load(p, part), real_part(dtype)),
                     part_text(load(p + part, part), real_part(dtype)));
}

void append_list(const Literal& value, int dim, std::int64_t& next, std::string& out) {
  if (dim == value.shape().rank()) {
    out += element_text(value, next++);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < value.shape()[dim]; ++i) {
    if (i > 0) out += ", ";
    append_list(value, dim + 1, next, out);
  }
  out += ']';
}

constexpr auto kPairs = [] {
  std::array<std::array<char, 2>, 256> out{};
  for (std::size_t i = 0; i < 256; ++i)
    out[i] = {"0123456789ABCDEF"[i >> 4], "0123456789ABCDEF"[i & 15]};
  return out;
}();

void append_hex(const Literal& value, std::string& out) {
  int bits = bit_width(value.dtype());
  unsigned mask = bits < 8 ? static_cast<unsigned>(low_bits(bits)) : 0xff;
  std::size_t start = out.size();
  std::span<const std::byte> bytes(value.data(), value.bytes());
  out.resize(start + bytes.size() * 2 + 4, '"');
  char* to = out.data() + start + 1;
  *to++ = '0';
  *to++ = 'x';
  for (std::byte b : bytes) {
    std::memcpy(to, kPairs[static_cast<unsigned>(b) & mask].data(), 2);
    to += 2;
  }
}

}  // namespace

Literal parse_elements(std::string_view body, std::size_t offset_of_body, Cursor& outer,
                       const Type& type) {
  outer.reserve(type.bytes(), offset_of_body);
  Cursor c(body, outer.limits());
  try {
    Literal out = Elements(c, type).parse();
    if (!c.at_end()) c.fail("expected the end of the constant");
    return out;
  } catch (SyntaxError& e) {
    e.offset += offset_of_body;
    throw;
  }
}

std::string_view dense_body(Cursor& c) {
  c.expect("<");
  if (c.peek() != '"') return c.balanced('<', '>');
  std::size_t start = c.offset();
  std::size_t end = start + c.raw_string().size() + 2;
  c.expect(">");
  return c.text().substr(start, end - start);
}

Literal parse_dense(Cursor& c) {
  std::string_view body = dense_body(c);
  auto start = static_cast<std::size_t>(body.data() - c.text().data());
  c.expect(":");
  std::size_t where = c.offset();
  return parse_elements(body, start, c, constant_type(c, parse_type(c), where));
}

Type constant_type(Cursor& c, Type type, std::size_t where) {
  if (!type.is_tensor() || !type.shape().is_static())
    c.fail_at(where, fmt::format("a constant of type {}", type.to_string()));
  return type;
}

namespace {

constexpr std::uint64_t each(std::uint64_t byte) { return byte * 0x0101010101010101u; }

/// Four bytes of eight digits, the first digit lowest in the word. `bad` gets a bit for each
/// character that is none.
std::uint32_t eight_digits(std::uint64_t text, std::uint64_t& bad) {
  auto from = [](std::uint64_t low7, std::uint64_t least) {
    return low7 + each(0x80 - least);
  };  // bit 7 of a byte: not less
  std::uint64_t low7 = text & each(0x7f), lower = low7 | each(0x20);
  std::uint64_t is_digit = from(low7, '0') & ~from(low7, '9' + 1),
                is_letter = from(lower, 'a') & ~from(lower, 'f' + 1);
  bad |= ~((is_digit | is_letter) & ~text) & each(0x80);
  std::uint64_t values = (low7 & each(0x0f)) + (low7 >> 6 & each(1)) * 9;
  values = (values << 4 | values >> 8) & 0x00ff00ff00ff00ffu;  // a pair in the lower of its bytes
  values = (values | values >> 8) & 0x0000ffff0000ffffu;
  return static_cast<std::uint32_t>(values | values >> 16);
}

}  // namespace

bool hex_bytes(std::string_view digits, std::byte* to) {
  const char* from = digits.data();
  std::size_t count = digits.size() & ~std::size_t{1};
  std::uint64_t text = 0, bad = 0;
  for (; count >= 8; count -= 8, from += 8, to += 4) {
    std::memcpy(&text, from, 8);
    std::uint32_t bytes = eight_digits(text, bad);
    std::memcpy(to, &bytes, 4);
  }
  text = each('0');
  std::memcpy(&text, from, count);
  std::uint32_t bytes = eight_digits(text, bad);
  std::memcpy(to, &bytes, count / 2);
  return bad == 0;
}

void append_dense(const Literal& value, std::string& out) {
  out += "dense<";
  std::int64_t next = 0;
  if (value.count() == 0) {
  } else if (value.is_splat()) {
    out += element_text(value, 0);
  } else if (value.count() > kLongestList) {
    append_hex(value, out);
  } else {
    append_list(value, 0, next, out);
  }
  out += ">";
}

std::string dense_text(const Literal& value) {
  std::string out;
  append_dense(value, out);
  return out;
}

}  // namespace strata::ir
