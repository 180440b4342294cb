// VHLO's attributes and types, and CHLO's few. Source: StableHLO's VhloBytecode.cpp, VhloEnums.td,
// ChloBytecode.cpp.
#include <fmt/format.h>

#include <bit>

#include "strata/ir/bytecode/entries.h"
#include "strata/ir/text/attr_text.h"
#include "strata/type/number.h"

namespace strata::ir::bytecode {
namespace {

constexpr VhloScalar kScalars[] = {
    {"i1", 0, 0, 9},           {"bf16", 2, 0, 9},         {"f16", 3, 0, 9},
    {"f32", 4, 0, 9},          {"f64", 5, 0, 9},          {"f8E4M3FN", 6, 0, 9},
    {"f8E5M2", 7, 0, 9},       {"index", 9, 0, 9},        {"i4", 10, 0, 9},
    {"i8", 11, 0, 9},          {"i16", 12, 0, 9},         {"i32", 13, 0, 9},
    {"i64", 14, 0, 9},         {"ui4", 15, 0, 9},         {"ui8", 16, 0, 9},
    {"ui16", 17, 0, 9},        {"ui32", 18, 0, 9},        {"ui64", 19, 0, 9},
    {"f8E4M3FNUZ", 27, 0, 10}, {"f8E5M2FNUZ", 28, 0, 10}, {"f8E4M3B11FNUZ", 29, 0, 11},
    {"i2", 31, 1, 2},          {"ui2", 32, 1, 2},         {"none", 33, 1, 6},
    {"tf32", 34, 1, 6},        {"f8E4M3", 35, 1, 7},      {"f8E3M4", 36, 1, 7},
    {"f4E2M1FN", 37, 1, 8},    {"f6E2M3FN", 38, 1, 8},    {"f6E3M2FN", 39, 1, 8},
    {"f8E8M0FNU", 40, 1, 8},
};

double number(ByteReader& r) { return std::bit_cast<double>(Entries::bits(r, 64)); }

// ---- types -------------------------------------------------------------------------------------

/// i8<-128:127>, u8<0:255>: the flag says whether it has a sign.
std::string storage_text(const ByteReader& r, std::string_view name, std::uint64_t flags,
                         std::int64_t low, std::int64_t high) {
  std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) r.fail("{} is stored in a quantised tensor", name);
  return fmt::format("{}{}<{}:{}>", (flags & 1) != 0 ? "i" : "u", name.substr(digits), low, high);
}

std::string quantized_text(Entries& entries, ByteReader& r) {
  std::uint64_t flags = r.varint("flags");
  const std::string &storage = entries.type_text(entries.type(r)),
                    &expressed = entries.type_text(entries.type(r));
  double scale = number(r);
  std::int64_t zero = r.signed_varint("a zero point"), low = r.signed_varint("a bound"),
               high = r.signed_varint("a bound");
  return fmt::format("!quant.uniform<{}:{}, {:.17e}:{}>",
                     storage_text(r, storage, flags, low, high), expressed, scale, zero);
}

std::string quantized_axis_text(Entries& entries, ByteReader& r) {
  std::uint64_t flags = r.varint("flags");
  const std::string &storage = entries.type_text(entries.type(r)),
                    &expressed = entries.type_text(entries.type(r));
  std::uint64_t axis = r.varint("a dimension");
  std::int64_t low = r.signed_varint("a bound"), high = r.signed_varint("a bound");
  std::vector<double> scales(r.count("scales"));
  for (double& s : scales) s = number(r);
  Ints zeros = Entries::numbers(r);
  if (zeros.size() != scales.size())
    r.fail("{} zero points for {} scales", zeros.size(), scales.size());
  std::string slices;
  for (std::size_t i = 0; i < scales.size(); ++i)
    slices += fmt::format("{}{:.17e}:{}", i > 0 ? "," : "", scales[i], zeros[i]);
  return fmt::format("!quant.uniform<{}:{}:{}, {{{}}}>", storage_text(r, storage, flags, low, high),
                     expressed, axis, slices);
}

std::string type(Entries& entries, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of a type");
  switch (code) {
    case kVhloComplexType: return fmt::format("complex<{}>", entries.type_text(entries.type(r)));
    case kVhloFunctionType: {
      std::string taken = types_text(entries, r);
      return fmt::format("({}) -> ({})", taken, types_text(entries, r));
    }
    case kVhloTensorType: return tensor_text(entries, r, false);
    case kVhloEncodedTensorType: return tensor_text(entries, r, true);
    case kVhloTokenType: return "!stablehlo.token";
    case kVhloTupleType: return fmt::format("tuple<{}>", types_text(entries, r));
    case kVhloQuantizedType: return quantized_text(entries, r);
    case kVhloQuantizedAxisType: return quantized_axis_text(entries, r);
    case kVhloUnrankedType: return fmt::format("tensor<*x{}>", entries.type_text(entries.type(r)));
    case kVhloWitnessType: return "!shape.witness";
    case kVhloBufferType: {
      std::string dimensions = dimensions_text(Entries::numbers(r));
      return fmt::format("memref<{}{}>", dimensions, entries.type_text(entries.type(r)));
    }
    case kVhloFutureType: return fmt::format("!stablehlo.future<{}>", types_text(entries, r));
    default: break;
  }
  const VhloScalar* scalar = vhlo_scalar(code);
  if (scalar == nullptr) r.unsupported("a type of VHLO of kind {} is not supported", code);
  return std::string(scalar->name);
}

// ---- attributes --------------------------------------------------------------------------------

std::string indices(const Ints& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

Attr output_alias(ByteReader& r) {
  Ints output = Entries::numbers(r);
  std::int64_t operand = r.signed_varint("an operand");
  return Opaque{
      fmt::format("#stablehlo.output_operand_alias<output_tuple_indices = {}, operand_index = {}, "
                  "operand_tuple_indices = {}>",
                  indices(output), operand, indices(Entries::numbers(r)))};
}

/// What is zero is left out.
Attr accuracy(Entries& entries, ByteReader& r) {
  std::string out;
  for (const char* name : {"atol", "rtol"}) {
    std::uint64_t value = Entries::bits(r, 64);
    if (std::bit_cast<double>(value) != 0)
      out += fmt::format("{} = {}, ", name, float_text(value, DType::f64));
  }
  if (std::int64_t ulps = r.signed_varint("ulps"); ulps != 0)
    out += fmt::format("ulps = {}, ", ulps);
  return Opaque{
      fmt::format("#stablehlo.result_accuracy<{}mode = {}>", out, entries.attribute_text(r))};
}

/// [#stablehlo.bounds<8, ?>] of a tensor's type.
Attr bounds(ByteReader& r) {
  std::string out;
  for (std::int64_t b : Entries::numbers(r))
    out += (out.empty() ? "" : ", ") + (b < 0 ? "?" : fmt::format("{}", b));
  return Opaque{fmt::format("#stablehlo.bounds<{}>", out)};
}

Attr axis(Entries& entries, ByteReader& r) {
  std::string out = "name = " + entries.attribute_text(r);
  if (r.varint("whether there is a part of an axis") != 0)
    out += ", sub_axis_info = " + entries.attribute_text(r);
  return Opaque{fmt::format("#stablehlo.axis_ref<{}>", out)};
}

/// A mesh's name is a symbol.
Attr mesh_axes(Entries& entries, ByteReader& r) {
  const Attr& mesh = entries.value(entries.attribute(r));
  const std::string* name = std::get_if<std::string>(&mesh);
  std::string text = name != nullptr ? symbol_text(*name) : attr_text(mesh);
  return Opaque{fmt::format("#stablehlo.replica_group_mesh_axes<mesh = {}, axes = {}>", text,
                            entries.attribute_text(r))};
}

/// Types of one word that text has no kind for (tf32, none) stay words.
Attr type_attribute(Entries& entries, ByteReader& r) {
  const std::string& name = entries.type_text(entries.type(r));
  if (vhlo_scalar(name) != nullptr && !parse_dtype(name)) return Opaque{name};
  return entries.parsed(r, name);
}

Attr word(std::uint64_t code, ByteReader& r) {
  for (const VhloEnum& e : vhlo_enums()) {
    if (e.code != code) continue;
    std::size_t number = r.index(e.words.size(), "a word of an enumeration");
    if (e.words[number].empty()) r.fail("number {} of an enumeration", number);
    return Opaque{fmt::format("{}{}{}", e.before, e.words[number], e.after)};
  }
  r.unsupported("an attribute of VHLO of kind {} is not supported", code);
}

Attr attribute(Entries& entries, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of an attribute");
  switch (code) {
    case kVhloArray: return entries.parsed(r, entries.list(r));
    case kVhloBoolean: return r.index(2, "a truth value") != 0;
    case kVhloDictionary: return Opaque{entries.dictionary_text(r)};
    case kVhloFloat: return entries.real(r, entries.type(r));
    case kVhloInteger: return entries.integer(r, entries.type(r));
    case kVhloOutputAlias: return output_alias(r);
    case kVhloString: return std::string(entries.string(r));
    case kVhloTensor: {
      std::size_t type = entries.type(r);
      std::uint64_t size = r.varint("the size of a tensor");
      return entries.tensor(r, type, r.bytes(size, "a tensor"));
    }
    case kVhloType: return type_attribute(entries, r);
    case kVhloExtensions: return bounds(r);
    case kVhloAccuracy: return accuracy(entries, r);
    case kVhloSubAxis: {
      std::int64_t before = r.signed_varint("a size");
      return Opaque{fmt::format("({}){}", before, r.signed_varint("a size"))};
    }
    case kVhloAxis: return axis(entries, r);
    case kVhloMeshAxes: return mesh_axes(entries, r);
    case kVhloMeshAxis: {
      std::string name = entries.attribute_text(r);
      return Opaque{fmt::format("#stablehlo.mesh_axis<name = {}, size = {}>", name,
                                r.signed_varint("a size"))};
    }
    default: return word(code, r);
  }
}

Attr chlo_attribute(Entries&, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of an attribute");
  constexpr std::string_view upstream = "#stablehlo<";
  constexpr std::uint64_t direction = 0, type = 1;
  if (code != direction && code != type)
    r.unsupported("an attribute of CHLO of kind {} is not supported", code);
  std::string same = std::get<Opaque>(word(code == direction ? 3 : 4, r)).text;
  return Opaque{"#chlo<" + same.substr(upstream.size())};
}

}  // namespace

const std::vector<VhloEnum>& vhlo_enums() {
  static const std::vector<VhloEnum> all = {
      {3, "#stablehlo<comparison_direction ", ">", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      {4,
       "#stablehlo<comparison_type ",
       ">",
       {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
      {5, "", " : i32", {"0", "1", "2", "3", "4"}},  // versions of the interface of custom calls
      {7, "#stablehlo<fft_type ", ">", {"FFT", "IFFT", "RFFT", "IRFFT"}},
      {11, "#stablehlo<precision ", ">", {"DEFAULT", "HIGH", "HIGHEST"}},
      {12, "#stablehlo<rng_algorithm ", ">", {"DEFAULT", "THREE_FRY", "PHILOX"}},
      {13, "#stablehlo<rng_distribution ", ">", {"", "UNIFORM", "NORMAL"}},
      {16,
       "#stablehlo<transpose ",
       ">",
       {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
      {19, "#stablehlo.result_accuracy_mode<", ">", {"DEFAULT", "HIGHEST", "TOLERANCE"}},
  };
  return all;
}

const VhloScalar* vhlo_scalar(std::uint64_t code) {
  for (const VhloScalar& s : kScalars)
    if (s.code == code) return &s;
  return nullptr;
}
const VhloScalar* vhlo_scalar(std::string_view name) {
  for (const VhloScalar& s : kScalars)
    if (s.name == name) return &s;
  return nullptr;
}

const DialectEntries kVhloEntries{"vhlo", attribute, type};
const DialectEntries kChloEntries{"chlo", chlo_attribute, nullptr};

}  // namespace strata::ir::bytecode
