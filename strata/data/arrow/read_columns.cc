// Arrow's columns as elements.
#include <array>
#include <charconv>
#include <cstring>

#include "strata/data/arrow/columns.h"

namespace strata::data {
namespace {

constexpr int kMostDeep = 64;

struct Number {
  char format;
  DType dtype;
};
constexpr Number kNumbers[] = {
    {'c', DType::i8},  {'C', DType::ui8},  {'s', DType::i16}, {'S', DType::ui16},
    {'i', DType::i32}, {'I', DType::ui32}, {'l', DType::i64}, {'L', DType::ui64},
    {'e', DType::f16}, {'f', DType::f32},  {'g', DType::f64},
};

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

std::int64_t per_second(char unit) {
  switch (unit) {
    case 's': return 1;
    case 'm': return 1000;
    case 'u': return 1000000;
    case 'n': return 1000000000;
    default: return 0;
  }
}

/// Times: "tdD", "ttm", "tsu:UTC", "tDn".
Status time_type(std::string_view format, ArrowType& out) {
  const char what = format.size() > 2 ? format[1] : ' ';
  const char unit = format.size() > 2 ? format[2] : ' ';
  out.per_second = per_second(unit);
  out.bits = 64;
  if (what == 'd') {
    out.kind = ArrowKind::date;
    out.bits = unit == 'D' ? 32 : 64;
    if (unit == 'D' || unit == 'm') return {};
  } else if (out.per_second > 0) {
    if (what == 't') out.bits = unit == 's' || unit == 'm' ? 32 : 64;
    out.utc = what == 's' && format.size() > 4;
    out.kind = what == 't'   ? ArrowKind::time
               : what == 's' ? ArrowKind::timestamp
                             : ArrowKind::duration;
    if (what == 't' || what == 's' || what == 'D') return {};
  }
  return Status(Code::unsupported, "column \"{}\" has Arrow's type {}, which is not read", out.name,
                format);
}

Status leaf_type(std::string_view format, ArrowType& out) {
  const char first = format.empty() ? ' ' : format.front();
  if (format.size() == 1) {
    for (const Number& n : kNumbers) {
      if (n.format != first) continue;
      out.kind = ArrowKind::number;
      out.dtype = n.dtype;
      return {};
    }
    if (first == 'n') return {};
    if (first == 'b') return out.kind = ArrowKind::boolean, Status();
  }
  const bool large = format == "U" || format == "Z", view = format == "vu" || format == "vz";
  if (format == "u" || format == "z" || large || view) {
    out.kind = format.back() == 'u' || format.back() == 'U' ? ArrowKind::text : ArrowKind::bytes;
    out.bits = large ? 64 : view ? 128 : 32;
    return {};
  }
  if (format.starts_with("w:")) {
    out.kind = ArrowKind::fixed_bytes;
    if (auto n = number_in(format.substr(2))) return out.size = *n, Status();
  }
  if (format.starts_with("d:")) {
    out.kind = ArrowKind::decimal;
    const std::size_t comma = format.find(','), last = format.rfind(',');
    out.bits = 128;
    if (comma != last) {
      auto bits = number_in(format.substr(last + 1));
      if (bits) out.bits = static_cast<int>(*bits);
    }
    const bool good = out.bits == 32 || out.bits == 64 || out.bits == 128 || out.bits == 256;
    if (comma != std::string_view::npos && good) {
      const std::size_t end = comma == last ? format.size() : last;
      if (auto scale = number_in(format.substr(comma + 1, end - comma - 1)); scale && *scale < 100)
        return out.size = *scale, Status();
    }
  }
  if (first == 't') return time_type(format, out);
  return Status(Code::unsupported, "column \"{}\" has Arrow's type {}, which is not read", out.name,
                format);
}

Result<ArrowType> read_type(const ArrowSchema& s, int depth) {
  ArrowType out;
  if (!s.format) return Status(Code::corrupt, "a column without a type");
  out.name = s.name ? s.name : "";
  if (depth > kMostDeep)
    return Status(Code::unsupported, "column \"{}\": more than {} levels", out.name, kMostDeep);
  const std::string_view format = s.format;
  const bool list = format == "+l" || format == "+L" || format == "+m";
  if (format.starts_with("+w:")) {
    out.kind = ArrowKind::fixed_list;
    auto n = number_in(format.substr(3));
    if (!n) return Status(Code::corrupt, "column \"{}\": the type {}", out.name, format);
    out.size = *n;
  } else if (list) {
    out.kind = ArrowKind::list;
    out.bits = format == "+L" ? 64 : 32;
  } else if (format == "+s") {
    out.kind = ArrowKind::structure;
  } else if (Status leaf = leaf_type(format, out); !leaf.ok()) {
    return leaf;
  }
  for (std::int64_t i = 0; i < s.n_children; ++i) {
    auto part = read_type(*s.children[i], depth + 1);
    if (!part) return part;
    out.parts.push_back(std::move(*part));
  }
  if ((list || out.kind == ArrowKind::fixed_list) && out.parts.size() != 1)
    return Status(Code::corrupt, "column \"{}\": a list of {} parts", out.name, out.parts.size());
  if (s.dictionary) {
    if (out.kind != ArrowKind::number || !is_integer(out.dtype))
      return Status(Code::corrupt, "column \"{}\": indices {}", out.name, format);
    auto values = read_type(*s.dictionary, depth + 1);
    if (!values) return values;
    out.kind = ArrowKind::dictionary;
    out.parts = {std::move(*values)};
  }
  return out;
}

template <class T>
T load(const void* buffer, std::int64_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + at * static_cast<std::int64_t>(sizeof(T)),
              sizeof value);
  return value;
}

bool bit(const void* buffer, std::int64_t at) {
  return static_cast<const unsigned char*>(buffer)[at / 8] >> (at % 8) & 1;
}

bool is_null(const ArrowArray& a, std::int64_t at) {
  return a.n_buffers > 0 && a.buffers[0] && a.null_count != 0 && !bit(a.buffers[0], at);
}

/// An integer of 8 to 64 bits at a place.
std::int64_t integer_at(DType dtype, const void* buffer, std::int64_t at) {
  switch (dtype) {
    case DType::i8: return load<std::int8_t>(buffer, at);
    case DType::ui8: return load<std::uint8_t>(buffer, at);
    case DType::i16: return load<std::int16_t>(buffer, at);
    case DType::ui16: return load<std::uint16_t>(buffer, at);
    case DType::i32: return load<std::int32_t>(buffer, at);
    case DType::ui32: return load<std::uint32_t>(buffer, at);
    default: return load<std::int64_t>(buffer, at);
  }
}

/// A two's complement number of `bytes` bytes with `scale` digits behind the point.
std::string decimal_text(const unsigned char* bytes, int count, std::int64_t scale) {
  std::vector<std::uint32_t> limbs(static_cast<std::size_t>(count) / 4);
  std::memcpy(limbs.data(), bytes, static_cast<std::size_t>(count));
  const bool negative = limbs.back() >> 31;
  std::uint64_t carry = 1;
  if (negative)
    for (std::uint32_t& limb : limbs) {
      carry += static_cast<std::uint32_t>(~limb);
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  std::string digits;
  for (bool rest = true; rest || std::ssize(digits) <= scale;) {
    std::uint64_t remainder = 0;
    rest = false;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      remainder = remainder << 32 | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(remainder / 10);
      remainder %= 10;
      rest = rest || limbs[i] != 0;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + remainder));
  }
  if (scale > 0) digits.insert(digits.size() - static_cast<std::size_t>(scale), ".");
  return (negative ? "-" : "") + digits;
}

/// Of days since 1970-01-01, by the proleptic Gregorian calendar.
std::string date_text(std::int64_t days) {
  days += 719468;  // since 0000-03-01
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t of_era = days - era * 146097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * of_year + 2) / 153;
  return fmt::format("{:04}-{:02}-{:02}", year + era * 400 + (month >= 10),
                     month < 10 ? month + 3 : month - 9, of_year - (153 * month + 2) / 5 + 1);
}

std::string clock_text(std::int64_t value, std::int64_t per_second) {
  const std::int64_t seconds = value / per_second, rest = value % per_second;
  std::string out =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (rest == 0) return out;
  std::string part = std::to_string(per_second + rest).substr(1);
  return out + "." + part.substr(0, part.find_last_not_of('0') + 1);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

Element time_value(const ArrowType& t, std::int64_t value) {
  const std::int64_t day = 86400 * t.per_second;
  switch (t.kind) {
    case ArrowKind::date:
      return Element(date_text(t.bits == 32 ? value : floor_div(value, 86400000)));
    case ArrowKind::time:
      // What is no time of a day stays a number.
      return value < 0 || value >= day ? Element(value) : Element(clock_text(value, t.per_second));
    case ArrowKind::timestamp: {
      const std::int64_t days = floor_div(value, day);
      return Element(date_text(days) + "T" + clock_text(value - days * day, t.per_second) +
                     (t.utc ? "Z" : ""));
    }
    default: return Element(value);
  }
}

/// Whether values are arrays of one shape and dtype: numbers, booleans, fixed lists of such.
bool is_dense(const ArrowType& t) {
  if (t.kind == ArrowKind::fixed_list) return is_dense(t.parts[0]);
  return t.kind == ArrowKind::number || t.kind == ArrowKind::boolean;
}

bool any_null(const ArrowArray& a, std::int64_t begin, std::int64_t count) {
  if (a.n_buffers == 0 || !a.buffers[0] || a.null_count == 0) return false;
  for (std::int64_t i = 0; i < count; ++i)
    if (!bit(a.buffers[0], begin + i)) return true;
  return false;
}

/// Values `begin` .. `begin + count` of a dense array, as an array of leading size `count`;
/// nothing where a value is missing.
std::optional<Literal> dense(const ArrowType& type, const ArrowArray& array, std::int64_t begin,
                             std::int64_t count) {
  const ArrowType* t = &type;
  const ArrowArray* a = &array;
  std::vector<std::int64_t> sizes = {count};
  begin += a->offset;
  std::int64_t total = count;
  if (any_null(*a, begin, total)) return std::nullopt;
  for (; t->kind == ArrowKind::fixed_list; t = &t->parts[0]) {
    a = a->children[0];
    sizes.push_back(t->size);
    begin = begin * t->size + a->offset;
    total *= t->size;
    if (any_null(*a, begin, total)) return std::nullopt;
  }
  const bool boolean = t->kind == ArrowKind::boolean;
  Literal out(Type(boolean ? DType::i1 : t->dtype, Shape::of(sizes)));
  if (total == 0) return out;
  if (boolean) {
    for (std::int64_t i = 0; i < total; ++i)
      out.mutable_data()[i] = static_cast<std::byte>(bit(a->buffers[1], begin + i));
  } else {
    std::memcpy(out.mutable_data(),
                static_cast<const char*>(a->buffers[1]) +
                    begin * static_cast<std::int64_t>(byte_width(t->dtype)),
                out.bytes());
  }
  return out;
}

Result<Element> items(const ArrowType& item, const ArrowArray& a, std::int64_t begin,
                      std::int64_t count, const std::shared_ptr<const void>& owner) {
  if (is_dense(item))
    if (auto array = dense(item, a, begin, count)) return Element(std::move(*array));
  Element::Items out;
  for (std::int64_t i = 0; i < count; ++i) {
    auto value = arrow_value(item, a, begin + i, owner);
    if (!value) return value;
    out.push_back(std::move(*value));
  }
  return Element::list(std::move(out));
}

std::string_view view_at(const ArrowArray& a, std::int64_t at) {
  const auto length = load<std::int32_t>(a.buffers[1], at * 4);
  const char* entry = static_cast<const char*>(a.buffers[1]) + at * 16;
  if (length <= 12) return {entry + 4, static_cast<std::size_t>(length)};
  const auto buffer = load<std::int32_t>(a.buffers[1], at * 4 + 2);
  const auto offset = load<std::int32_t>(a.buffers[1], at * 4 + 3);
  return {static_cast<const char*>(a.buffers[2 + buffer]) + offset,
          static_cast<std::size_t>(length)};
}

std::string_view text_at(const ArrowType& t, const ArrowArray& a, std::int64_t at) {
  if (t.bits == 128) return view_at(a, at);
  const bool large = t.bits == 64;
  const std::int64_t begin =
      large ? load<std::int64_t>(a.buffers[1], at) : load<std::int32_t>(a.buffers[1], at);
  const std::int64_t end =
      large ? load<std::int64_t>(a.buffers[1], at + 1) : load<std::int32_t>(a.buffers[1], at + 1);
  if (begin == end) return {};
  return {static_cast<const char*>(a.buffers[2]) + begin, static_cast<std::size_t>(end - begin)};
}

Element number_at(DType dtype, const void* buffer, std::int64_t at) {
  if (dtype == DType::i64) return Element(load<std::int64_t>(buffer, at));
  if (dtype == DType::f64) return Element(load<double>(buffer, at));
  Literal out(Type::scalar(dtype));
  const std::size_t width = byte_width(dtype);
  std::memcpy(out.mutable_data(),
              static_cast<const char*>(buffer) + at * static_cast<std::int64_t>(width), width);
  return Element(std::move(out));
}

}  // namespace

Result<ArrowType> arrow_type_of(const ArrowSchema& schema) { return read_type(schema, 0); }

Result<Element> arrow_value(const ArrowType& t, const ArrowArray& a, std::int64_t index,
                            const std::shared_ptr<const void>& owner) {
  const std::int64_t at = a.offset + index;
  if (t.kind == ArrowKind::null || is_null(a, at)) return Element();
  switch (t.kind) {
    case ArrowKind::boolean: return Element(bit(a.buffers[1], at));
    case ArrowKind::number: return number_at(t.dtype, a.buffers[1], at);
    case ArrowKind::text: return Element::text(owner, text_at(t, a, at));
    case ArrowKind::bytes: return Element::bytes(owner, text_at(t, a, at));
    case ArrowKind::fixed_bytes:
      return Element::bytes(owner, {static_cast<const char*>(a.buffers[1]) + at * t.size,
                                    static_cast<std::size_t>(t.size)});
    case ArrowKind::list: {
      const bool large = t.bits == 64;
      const auto offset = [&](std::int64_t i) {
        return large ? load<std::int64_t>(a.buffers[1], i)
                     : std::int64_t{load<std::int32_t>(a.buffers[1], i)};
      };
      return items(t.parts[0], *a.children[0], offset(at), offset(at + 1) - offset(at), owner);
    }
    case ArrowKind::fixed_list:
      return items(t.parts[0], *a.children[0], at * t.size, t.size, owner);
    case ArrowKind::structure: {
      Element::Fields fields;
      fields.reserve(t.parts.size());
      for (std::size_t i = 0; i < t.parts.size(); ++i) {
        auto part = arrow_value(t.parts[i], *a.children[i], at, owner);
        if (!part) return part;
        fields.emplace_back(t.parts[i].name, std::move(*part));
      }
      return Element::dict(std::move(fields));
    }
    case ArrowKind::dictionary:
      return arrow_value(t.parts[0], *a.dictionary, integer_at(t.dtype, a.buffers[1], at), owner);
    case ArrowKind::decimal:
      return Element(decimal_text(static_cast<const unsigned char*>(a.buffers[1]) + at * t.bits / 8,
                                  t.bits / 8, t.size));
    default:
      return time_value(t, t.bits == 32 ? load<std::int32_t>(a.buffers[1], at)
                                        : load<std::int64_t>(a.buffers[1], at));
  }
}

}  // namespace strata::data
