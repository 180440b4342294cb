// Builtin attributes and types. Source: mlir/include/mlir/IR/BuiltinDialectBytecode.td.
#include <cstring>

#include "strata/ir/bytecode/entries.h"
#include "strata/ir/text/attr_text.h"
#include "strata/type/number.h"

namespace strata::ir::bytecode {
namespace {

constexpr std::string_view kTypes[] = {"", "index", "", "bf16", "f16", "f32", "f64", "f80", "f128"};
constexpr std::uint64_t kIntegerType = 0, kFunction = 2, kComplex = 9, kNone = 12, kRanked = 13,
                        kRankedEncoded = 14, kTuple = 15, kUnranked = 18, kVector = 19;

std::string integer_text(ByteReader& r) {
  std::uint64_t coded = r.varint("an integer type");
  constexpr std::string_view signs[] = {"i", "si", "ui"};
  if ((coded & 3) > 2) r.fail("an integer type of sign {}", coded & 3);
  return fmt::format("{}{}", signs[coded & 3], coded >> 2);
}

std::string type(Entries& entries, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of a type");
  switch (code) {
    case kIntegerType: return integer_text(r);
    case kFunction: {
      std::string taken = types_text(entries, r);
      return fmt::format("({}) -> ({})", taken, types_text(entries, r));
    }
    case kComplex: return fmt::format("complex<{}>", entries.type_text(entries.type(r)));
    case kNone: return "none";
    case kRanked: return tensor_text(entries, r, false);
    case kRankedEncoded: return tensor_text(entries, r, true);
    case kTuple: return fmt::format("tuple<{}>", types_text(entries, r));
    case kUnranked: return fmt::format("tensor<*x{}>", entries.type_text(entries.type(r)));
    case kVector: {
      std::string dimensions = dimensions_text(Entries::numbers(r));
      return fmt::format("vector<{}{}>", dimensions, entries.type_text(entries.type(r)));
    }
    default: break;
  }
  if (code < std::size(kTypes)) return std::string(kTypes[code]);
  r.unsupported("a builtin type of kind {} is not supported", code);
}

std::string symbol(Entries& entries, ByteReader& r) {
  std::string out = symbol_text(entries.text(entries.attribute(r)));
  return out;
}

/// array<i64: 1, 2>: whole bytes of each element, truth values one.
Attr dense_array(Entries& entries, ByteReader& r) {
  const std::string& name = entries.type_text(entries.type(r));
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || is_complex(*dtype)) r.unsupported("an array of {} is not supported", name);
  std::uint64_t size = r.varint("the size of an array");
  ByteReader data = r.blob("an array");
  std::size_t width = byte_width(*dtype);
  if (size > data.remaining() || data.remaining() != size * width)
    r.fail("{} bytes for an array of {} elements of {}", data.remaining(), size, name);
  Ints list;
  std::string out;
  for (; size > 0; --size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data.bytes(width, "an element").data(), width);
    int shift = static_cast<int>(64 - 8 * width);
    std::int64_t number = is_unsigned(*dtype) || is_bool(*dtype)
                              ? static_cast<std::int64_t>(bits)
                              : static_cast<std::int64_t>(bits << shift) >> shift;
    list.push_back(number);
    out += fmt::format("{} {}", out.empty() ? ":" : ",",
                       is_bool(*dtype)    ? (bits != 0 ? "true" : "false")
                       : is_float(*dtype) ? float_text(bits, *dtype)
                                          : fmt::format("{}", number));
  }
  if (*dtype == DType::i64) return list;
  return Opaque{fmt::format("array<{}{}>", name, out)};
}

Attr attribute(Entries& entries, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of an attribute");
  switch (code) {
    case kArray: return entries.parsed(r, entries.list(r));
    case kDictionary: return Opaque{entries.dictionary_text(r)};
    case kString: return std::string(entries.string(r));
    case kStringWithType: {
      std::string text(entries.string(r));
      return Opaque{quoted(text) + " : " + entries.type_text(entries.type(r))};
    }
    case kFlatSymbol: return Opaque{symbol(entries, r)};
    case kSymbol: {
      std::string out = symbol(entries, r);
      for (std::size_t n = r.count("symbols"); n > 0; --n) out += "::" + entries.attribute_text(r);
      return Opaque{out};
    }
    case kTypeAttribute: return entries.parsed(r, entries.type_text(entries.type(r)));
    case kUnit: return Opaque{"unit"};
    case kInteger: return entries.integer(r, entries.type(r));
    case kFloat: return entries.real(r, entries.type(r));
    case kDenseArray: return dense_array(entries, r);
    case kDenseElements: {
      std::size_t type = entries.type(r);
      std::uint64_t size = r.varint("the size of a tensor");
      return entries.tensor(r, type, r.bytes(size, "a tensor"));
    }
    default: r.unsupported("a builtin attribute of kind {} is not supported", code);
  }
}

}  // namespace

const DialectEntries kBuiltinEntries{"builtin", attribute, type};

}  // namespace strata::ir::bytecode
