#include "strata/checkpoint/zarr/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace strata::checkpoint::zarr {
namespace {

using nlohmann::json;

struct Name {
  DType dtype;
  const char* v2;  // without byte order
  const char* v3;
};
constexpr Name kNames[] = {
    {DType::i1, "b1", "bool"},
    {DType::i2, "int2", "int2"},
    {DType::i4, "int4", "int4"},
    {DType::i8, "i1", "int8"},
    {DType::i16, "i2", "int16"},
    {DType::i32, "i4", "int32"},
    {DType::i64, "i8", "int64"},
    {DType::ui2, "uint2", "uint2"},
    {DType::ui4, "uint4", "uint4"},
    {DType::ui8, "u1", "uint8"},
    {DType::ui16, "u2", "uint16"},
    {DType::ui32, "u4", "uint32"},
    {DType::ui64, "u8", "uint64"},
    {DType::f4E2M1FN, "float4_e2m1fn", "float4_e2m1fn"},
    {DType::f8E3M4, "float8_e3m4", "float8_e3m4"},
    {DType::f8E4M3, "float8_e4m3", "float8_e4m3"},
    {DType::f8E4M3B11FNUZ, "float8_e4m3b11fnuz", "float8_e4m3b11fnuz"},
    {DType::f8E4M3FN, "float8_e4m3fn", "float8_e4m3fn"},
    {DType::f8E4M3FNUZ, "float8_e4m3fnuz", "float8_e4m3fnuz"},
    {DType::f8E5M2, "float8_e5m2", "float8_e5m2"},
    {DType::f8E5M2FNUZ, "float8_e5m2fnuz", "float8_e5m2fnuz"},
    {DType::f8E8M0FNU, "float8_e8m0fnu", "float8_e8m0fnu"},
    {DType::bf16, "bfloat16", "bfloat16"},
    {DType::f16, "f2", "float16"},
    {DType::f32, "f4", "float32"},
    {DType::f64, "f8", "float64"},
    {DType::c64, "c8", "complex64"},
    {DType::c128, "c16", "complex128"},
};

const Name* find(DType dtype) {
  for (const Name& n : kNames)
    if (n.dtype == dtype) return &n;
  return nullptr;
}
bool is_numpy(const Name& n) { return std::strlen(n.v2) <= 3; }

const Name& need(DType dtype) {
  if (const Name* n = find(dtype)) return *n;
  throw Error("zarr", "dtype {} has no name in Zarr", name(dtype)).unsupported();
}

struct Wrong {
  Code code;
  std::string what;
};
[[noreturn]] void corrupt(std::string what) { throw Wrong{Code::corrupt, std::move(what)}; }
[[noreturn]] void unsupported(std::string what) { throw Wrong{Code::unsupported, std::move(what)}; }

const json& member(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) corrupt(fmt::format("lacks '{}'", key));
  return object.at(key);
}

std::string text(const json& value, const char* what) {
  if (!value.is_string()) corrupt(fmt::format("'{}' is no text", what));
  return value.get<std::string>();
}

std::vector<std::int64_t> sizes(const json& value, const char* what, std::int64_t least) {
  constexpr std::size_t kMostAxes = 64;
  std::vector<std::int64_t> out;
  if (!value.is_array() || value.size() > kMostAxes) corrupt(fmt::format("'{}' is no list", what));
  std::int64_t count = 1;
  for (const json& n : value) {
    if (!n.is_number_integer() || (n.is_number_unsigned() && n.get<std::uint64_t>() >> 62) ||
        n.get<std::int64_t>() < least)
      corrupt(fmt::format("'{}' holds {}", what,
                          n.dump(-1, ' ', true, json::error_handler_t::replace)));
    out.push_back(n.get<std::int64_t>());
    if (out.back() && __builtin_mul_overflow(count, out.back(), &count))
      corrupt(fmt::format("'{}' has more elements than can be counted", what));
  }
  if (count > (std::int64_t{1} << 56)) corrupt(fmt::format("'{}' is too large", what));
  return out;
}

double real(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& s = value.get_ref<const std::string&>();
    if (s == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (s == "Infinity") return std::numeric_limits<double>::infinity();
    if (s == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  corrupt("'fill_value' is no number");
}

/// "0x7fc00000": the bits of a float.
std::optional<std::uint64_t> bits(const json& value) {
  if (!value.is_string()) return {};
  const auto& s = value.get_ref<const std::string&>();
  std::uint64_t out = 0;
  if (!s.starts_with("0x")) return {};
  auto [end, error] = std::from_chars(s.data() + 2, s.data() + s.size(), out, 16);
  if (error != std::errc() || end != s.data() + s.size()) corrupt("'fill_value' is no number");
  return out;
}

Literal fill_of(const json& value, DType dtype) {
  Literal out(Type::scalar(dtype));
  if (value.is_null()) return out;
  if (is_complex(dtype)) {
    const bool pair = value.is_array() && value.size() == 2;
    const double re = real(pair ? value[0] : value), im = pair ? real(value[1]) : 0;
    return dtype == DType::c64 ? Literal::scalar(std::complex<float>(static_cast<float>(re),
                                                                     static_cast<float>(im)))
                               : Literal::scalar(std::complex<double>(re, im));
  }
  if (const auto b = bits(value)) {
    std::memcpy(out.mutable_data(), &*b, byte_width(dtype));
  } else if (is_bool(dtype)) {
    if (!value.is_boolean() && !value.is_number_integer()) corrupt("'fill_value' is no boolean");
    out.set_integer(0, value.is_boolean() ? value.get<bool>() : value.get<std::int64_t>() != 0);
  } else if (is_integer(dtype)) {
    if (!value.is_number_integer()) corrupt("'fill_value' is no integer");
    const int width = bit_width(dtype);
    const std::int64_t n = value.is_number_unsigned()
                               ? static_cast<std::int64_t>(value.get<std::uint64_t>())
                               : value.get<std::int64_t>();
    const std::int64_t high = width == 64 ? 0 : n >> (width - (is_signed(dtype) ? 1 : 0));
    if (high != 0 && !(high == -1 && is_signed(dtype))) corrupt("'fill_value' is out of range");
    out.set_integer(0, n);
  } else {
    out.set_number(0, real(value));
  }
  return out;
}

json fill_json(const Literal& fill) {
  auto part = [](double x) -> json {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
    return x;
  };
  if (is_bool(fill.dtype())) return fill.integer(0) != 0;
  if (is_unsigned(fill.dtype())) return static_cast<std::uint64_t>(fill.integer(0));
  if (is_integer(fill.dtype())) return fill.integer(0);
  if (fill.dtype() == DType::c64) {
    const auto c = fill.span<std::complex<float>>()[0];
    return json::array({part(c.real()), part(c.imag())});
  }
  if (fill.dtype() == DType::c128) {
    const auto c = fill.span<std::complex<double>>()[0];
    return json::array({part(c.real()), part(c.imag())});
  }
  return part(fill.number(0));
}

bool has_order_of_bytes(DType dtype) { return byte_width(dtype) > 1; }

int level_of(const json& codec) {
  return codec.is_object() && codec.contains("level") && codec["level"].is_number_integer()
             ? codec["level"].get<int>()
             : 1;
}

std::optional<Codec::Kind> compression(const std::string& id) {
  if (id == "gzip") return Codec::Kind::gzip;
  if (id == "zlib") return Codec::Kind::zlib;
  if (id == "bz2") return Codec::Kind::bz2;
  if (id == "zstd") return Codec::Kind::zstd;
  return {};
}
const char* name_of(Codec::Kind kind) {
  switch (kind) {
    case Codec::Kind::transpose: return "transpose";
    case Codec::Kind::bytes: return "bytes";
    case Codec::Kind::gzip: return "gzip";
    case Codec::Kind::zlib: return "zlib";
    case Codec::Kind::bz2: return "bz2";
    case Codec::Kind::zstd: return "zstd";
    case Codec::Kind::crc32c: return "crc32c";
    case Codec::Kind::sharding: return "sharding_indexed";
  }
  STRATA_UNREACHABLE("codec");
}

void read_dtype_v2(const std::string& text, Metadata& out, bool& little) {
  little = true;
  std::string name = text;
  if (name.size() >= 2 && std::string_view("<>|").find(name[0]) != std::string_view::npos) {
    little = name[0] != '>';
    name.erase(0, 1);
  }
  for (const Name& n : kNames) {
    if (name != n.v2 || is_numpy(n) != (name.size() != text.size())) continue;
    out.dtype = n.dtype;
    return;
  }
  unsupported(fmt::format("dtype '{}' is not known", text));
}

std::vector<Codec> codecs_of(const json& list, const Metadata& array, std::size_t rank, int depth);

Codec codec_of(const json& value, const Metadata& array, std::size_t rank, int depth) {
  const json bare = value.is_string() ? json{{"name", value}} : value;
  const std::string name = text(member(bare, "name"), "name");
  const json none = json::object();
  const json& options = bare.contains("configuration") ? bare["configuration"] : none;
  Codec out;
  if (name == "bytes") {
    const std::string endian =
        options.contains("endian") ? text(options["endian"], "endian") : "little";
    if (endian != "little" && endian != "big") corrupt("'endian' is neither little nor big");
    out.little = endian == "little";
  } else if (name == "crc32c") {
    out.kind = Codec::Kind::crc32c;
  } else if (name == "transpose") {
    out.kind = Codec::Kind::transpose;
    out.order = sizes(member(options, "order"), "order", 0);
    std::vector<std::int64_t> sorted = out.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<std::int64_t>(i)) corrupt("'order' is no permutation");
    if (sorted.size() != rank) corrupt("'order' is of another rank");
  } else if (name == "sharding_indexed") {
    constexpr int kMostNested = 4;
    if (depth == kMostNested) corrupt("shards are nested too deep");
    out.kind = Codec::Kind::sharding;
    out.chunk = sizes(member(options, "chunk_shape"), "chunk_shape", 1);
    if (out.chunk.size() != rank) corrupt("'chunk_shape' is of another rank");
    out.inner = codecs_of(member(options, "codecs"), array, rank, depth + 1);
    out.index = codecs_of(member(options, "index_codecs"), array, rank + 1, depth + 1);
    for (const Codec& c : out.index)
      if (c.kind != Codec::Kind::bytes && c.kind != Codec::Kind::crc32c)
        unsupported("an index that is compressed");
    if (options.contains("index_location"))
      out.index_at_end = text(options["index_location"], "index_location") != "start";
  } else if (const auto kind = compression(name)) {
    out.kind = *kind;
    out.level = level_of(options);
  } else {
    unsupported(fmt::format("codec '{}' is not known", name));
  }
  return out;
}

/// Transpositions, then one codec from elements to bytes, then those from bytes to bytes.
std::vector<Codec> codecs_of(const json& list, const Metadata& array, std::size_t rank, int depth) {
  if (!list.is_array()) corrupt("'codecs' is no list");
  std::vector<Codec> out;
  bool in_bytes = false;
  for (const json& value : list) {
    out.push_back(codec_of(value, array, rank, depth));
    const Codec::Kind kind = out.back().kind;
    const bool makes_bytes = kind == Codec::Kind::bytes || kind == Codec::Kind::sharding;
    if (in_bytes == (makes_bytes || kind == Codec::Kind::transpose))
      corrupt("'codecs' stand in no order that works");
    in_bytes |= makes_bytes;
  }
  if (!in_bytes) corrupt("'codecs' make no bytes");
  return out;
}

json to_json(const std::vector<Codec>& codecs, bool with_endian) {
  json out = json::array();
  for (const Codec& c : codecs) {
    json one = {{"name", name_of(c.kind)}};
    switch (c.kind) {
      case Codec::Kind::bytes:
        if (with_endian) one["configuration"] = {{"endian", c.little ? "little" : "big"}};
        break;
      case Codec::Kind::transpose: one["configuration"] = {{"order", c.order}}; break;
      case Codec::Kind::zstd:
        one["configuration"] = {{"checksum", false}, {"level", c.level}};
        break;
      case Codec::Kind::gzip:
      case Codec::Kind::zlib:
      case Codec::Kind::bz2: one["configuration"] = {{"level", c.level}}; break;
      case Codec::Kind::crc32c: break;
      case Codec::Kind::sharding:
        one["configuration"] = {{"chunk_shape", c.chunk},
                                {"codecs", to_json(c.inner, with_endian)},
                                {"index_codecs", to_json(c.index, true)}};
        if (!c.index_at_end) one["configuration"]["index_location"] = "start";
        break;
    }
    out.push_back(std::move(one));
  }
  return out;
}

json parse(std::string_view bytes) {
  json out = json::parse(bytes, nullptr, false);
  if (out.is_discarded()) corrupt("is no JSON");
  return out;
}

template <class F>
Result<Metadata> guarded(const std::string& name, F&& f) {
  try {
    return f();
  } catch (const Wrong& wrong) {
    return Status(wrong.code, "{}: {}", name, wrong.what);
  } catch (const json::exception& e) {
    return Status(Code::corrupt, "{}: {}", name, e.what());
  }
}

void check(const Metadata& m) {
  if (m.shape.size() != m.chunk.size()) corrupt("'chunks' and 'shape' are of different rank");
}

}  // namespace

std::string Metadata::key(const std::vector<std::int64_t>& index) const {
  std::string out = default_keys ? "c" : "";
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (i || default_keys) out += separator;
    out += std::to_string(index[i]);
  }
  return out.empty() ? "0" : out;
}

std::vector<std::int64_t> Metadata::grid() const {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < shape.size(); ++i)
    out.push_back(shape[i] / chunk[i] + (shape[i] % chunk[i] != 0));
  return out;
}

Result<Metadata> decode_v2(std::string_view bytes, const std::string& name) {
  return guarded(name, [&]() -> Metadata {
    const json j = parse(bytes);
    Metadata out;
    if (member(j, "zarr_format") != 2) unsupported("is not of Zarr's format 2");
    out.shape = sizes(member(j, "shape"), "shape", 0);
    out.chunk = sizes(member(j, "chunks"), "chunks", 1);
    check(out);
    Codec elements;
    const json& dtype = member(j, "dtype");
    if (!dtype.is_string()) unsupported("its elements have several fields");
    read_dtype_v2(dtype.get<std::string>(), out, elements.little);
    const json filters = j.value("filters", json());
    if (!filters.is_null() && !filters.empty()) unsupported("filters are not known");
    if (j.value("order", json("C")) == "F") {
      Codec transpose{.kind = Codec::Kind::transpose};
      for (std::size_t i = out.shape.size(); i-- > 0;)
        transpose.order.push_back(static_cast<std::int64_t>(i));
      out.codecs.push_back(transpose);
    }
    out.codecs.push_back(elements);
    if (const json c = j.value("compressor", json()); !c.is_null()) {
      const std::string id = text(member(c, "id"), "id");
      const auto kind = compression(id);
      if (!kind) unsupported(fmt::format("compressor '{}' is not known", id));
      out.codecs.push_back({.kind = *kind, .level = level_of(c)});
    }
    out.fill = fill_of(member(j, "fill_value"), out.dtype);
    const std::string separator = text(j.value("dimension_separator", json(".")), "separator");
    if (separator != "." && separator != "/") corrupt("'dimension_separator' is neither . nor /");
    out.separator = separator[0];
    return out;
  });
}

Result<Metadata> decode_v3(std::string_view bytes, const std::string& name) {
  return guarded(name, [&]() -> Metadata {
    const json j = parse(bytes);
    Metadata out;
    out.format = 3;
    if (member(j, "zarr_format") != 3) unsupported("is not of Zarr's format 3");
    if (member(j, "node_type") != "array") corrupt("is no array");
    out.shape = sizes(member(j, "shape"), "shape", 0);
    const json& grid = member(j, "chunk_grid");
    if (member(grid, "name") != "regular") unsupported("its chunks have different sizes");
    out.chunk = sizes(member(member(grid, "configuration"), "chunk_shape"), "chunk_shape", 1);
    check(out);
    const std::string dtype = text(member(j, "data_type"), "data_type");
    bool found = false;
    for (const Name& n : kNames) {
      if (dtype != n.v3) continue;
      out.dtype = n.dtype;
      found = true;
    }
    if (!found) unsupported(fmt::format("data type '{}' is not known", dtype));
    out.fill = fill_of(member(j, "fill_value"), out.dtype);
    const json& keys = member(j, "chunk_key_encoding");
    const std::string encoding = text(member(keys, "name"), "name");
    if (encoding != "default" && encoding != "v2") unsupported("its chunks have other keys");
    out.default_keys = encoding == "default";
    const json options = keys.value("configuration", json::object());
    const std::string separator =
        text(options.value("separator", json(out.default_keys ? "/" : ".")), "separator");
    if (separator != "." && separator != "/") corrupt("'separator' is neither . nor /");
    out.separator = separator[0];
    out.codecs = codecs_of(member(j, "codecs"), out, out.shape.size(), 0);
    if (j.contains("storage_transformers") && !j["storage_transformers"].empty())
      unsupported("storage transformers are not known");
    return out;
  });
}

std::string encode_v2(const Metadata& m) {
  json compressor, order = "C";
  bool little = true;
  for (const Codec& c : m.codecs) {
    if (c.kind == Codec::Kind::bytes) {
      little = c.little;
    } else if (c.kind == Codec::Kind::transpose) {
      order = "F";
    } else {
      compressor = {{"id", name_of(c.kind)}, {"level", c.level}};
    }
  }
  const Name& n = need(m.dtype);
  const std::string prefix = !is_numpy(n)                   ? ""
                             : !has_order_of_bytes(m.dtype) ? "|"
                             : little                       ? "<"
                                                            : ">";
  const bool zero = m.fill.same_bits(Literal(Type::scalar(m.dtype)));
  return json{{"chunks", m.chunk},
              {"compressor", compressor},
              {"dimension_separator", std::string(1, m.separator)},
              {"dtype", prefix + n.v2},
              {"fill_value", zero ? json() : fill_json(m.fill)},
              {"filters", nullptr},
              {"order", order},
              {"shape", m.shape},
              {"zarr_format", 2}}
      .dump();
}

std::string encode_v3(const Metadata& m) {
  json keys = {{"name", m.default_keys ? "default" : "v2"}};
  if (m.separator != (m.default_keys ? '/' : '.'))
    keys["configuration"] = {{"separator", std::string(1, m.separator)}};
  return json{{"chunk_grid", {{"configuration", {{"chunk_shape", m.chunk}}}, {"name", "regular"}}},
              {"chunk_key_encoding", keys},
              {"codecs", to_json(m.codecs, has_order_of_bytes(m.dtype))},
              {"data_type", need(m.dtype).v3},
              {"fill_value", fill_json(m.fill)},
              {"node_type", "array"},
              {"shape", m.shape},
              {"zarr_format", 3}}
      .dump();
}

Metadata metadata_of(int format, const Type& type, std::vector<std::int64_t> chunk,
                     bool compressed) {
  Metadata out;
  out.format = format;
  out.dtype = type.dtype();
  (void)need(out.dtype);
  out.shape = type.shape().sizes();
  for (std::int64_t& n : chunk) n = std::max<std::int64_t>(n, 1);
  out.chunk = std::move(chunk);
  out.fill = Literal(Type::scalar(out.dtype));
  out.separator = format == 3 ? '/' : '.';
  out.default_keys = format == 3;
  const Codec bytes, crc{.kind = Codec::Kind::crc32c};
  if (format == 2) {
    out.codecs = {bytes};
    if (compressed) out.codecs.push_back({.kind = Codec::Kind::zstd, .level = 1});
  } else if (compressed) {
    const Codec zstd{.kind = Codec::Kind::zstd, .level = 3};
    out.codecs = {{.kind = Codec::Kind::sharding,
                   .chunk = out.chunk,
                   .inner = {bytes, zstd},
                   .index = {bytes, crc}}};
  } else {
    out.codecs = {bytes, crc};
  }
  return out;
}

}  // namespace strata::checkpoint::zarr
