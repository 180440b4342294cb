// Attributes and types of a file of bytecode, read when they are asked for, and then kept.
//
// Each is what its text would be: an attribute of VHLO that stands for one of text becomes that one
// (`#vhlo.integer_v1<1 : i64>` is `1 : i64`), so whoever takes attributes from text takes these.
// Each dialect says how its own are encoded, in a file of its own: entry_builtin.cc, entry_vhlo.cc,
// entry_shardy.cc.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/ir/bytecode/container.h"
#include "strata/ir/graph.h"
#include "strata/ir/text/cursor.h"

namespace strata::ir::bytecode {

struct FunctionType {
  std::vector<Type> taken, returned;
};

/// By their numbers, which must have been read by `attribute` or `type` of a reader (below), so
/// that they are in range.
class Entries {
 public:
  /// The container must outlive it.
  Entries(const Container& container, const TextLimits& limits);

  const Container& container() const { return container_; }

  // ---- numbers of entries
  std::size_t attribute(ByteReader& r) const {
    return r.index(container_.attributes.size(), "attribute");
  }
  std::optional<std::size_t> optional_attribute(ByteReader& r) const;
  std::size_t type(ByteReader& r) const { return r.index(container_.types.size(), "type"); }
  std::string_view string(ByteReader& r) const {
    return container_.strings[r.index(container_.strings.size(), "string")];
  }

  // ---- what they are
  const Attr& value(std::size_t attribute);
  /// An attribute that must be a string.
  const std::string& text(std::size_t attribute);
  /// Of a dictionary: names and numbers.
  using Named = std::vector<std::pair<std::string, std::size_t>>;
  Named dictionary(std::size_t attribute);
  Attrs dictionary_values(std::size_t attribute);
  /// Of an array: numbers.
  std::vector<std::size_t> elements(std::size_t attribute);
  FunctionType function_type(std::size_t attribute);
  /// "file:line:column", or the name that JAX gives the operation; empty where nothing is known.
  Location location(std::size_t attribute);
  /// A tensor, a token, a tuple or a future.
  const Type& value_type(std::size_t type);

  // ---- for dialects
  /// The type's text: "tensor<4xf32>", "f32", "index", "(tensor<f32>) -> tensor<f32>".
  const std::string& type_text(std::size_t type);
  FunctionType functions(std::size_t type);
  /// The attribute's text; in a list without the types of i64 and f64.
  std::string attribute_text(ByteReader& r, bool in_list = false);
  /// What this text means.
  Attr parsed(const ByteReader& r, const std::string& text);
  /// The tensor of this type with these bytes, or its text where there is no such literal (index).
  Attr tensor(ByteReader& r, std::size_t type, std::string_view raw);
  /// `n : type` of an integer of so many bits, or `true`; `n : type` of the bits of a float.
  Attr integer(ByteReader& r, std::size_t type);
  Attr real(ByteReader& r, std::size_t type);
  /// [a, b]
  std::string list(ByteReader& r);
  /// {a = 1 : i64}
  std::string dictionary_text(ByteReader& r);
  /// The bits of a number of a known width: a byte, or a signed integer.
  static std::uint64_t bits(ByteReader& r, int width);
  static Ints numbers(ByteReader& r);

 private:
  struct Attribute {
    std::optional<Attr> value;
    bool is_open = false;
  };
  struct TypeEntry {
    std::optional<std::string> text;
    std::optional<Type> type;
    bool is_open = false;
  };
  class Open;

  const Entry& entry(std::size_t attribute) const { return container_.attributes[attribute]; }
  Literal filled(const ByteReader& r, const Type& type, std::string_view raw);
  void reserve(const ByteReader& r, std::size_t bytes);
  void charge(const ByteReader& r, std::size_t characters);
  Named named(ByteReader& r);

  const Container& container_;
  TextLimits limits_;
  std::vector<Attribute> attributes_;
  std::vector<TypeEntry> types_;
  std::vector<std::optional<Location>> locations_;
  std::size_t reserved_ = 0, written_ = 0;
  int depth_ = 0;
};

/// How a dialect encodes its attributes and types; null where it has none.
struct DialectEntries {
  std::string_view dialect;
  Attr (*attribute)(Entries&, ByteReader&) = nullptr;
  std::string (*type)(Entries&, ByteReader&) = nullptr;
};
extern const DialectEntries kBuiltinEntries, kVhloEntries, kShardyEntries, kChloEntries;

/// Codes that several places know.
enum BuiltinCode : std::uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kStringWithType = 3,
  kFlatSymbol = 4,
  kSymbol = 5,
  kTypeAttribute = 6,
  kUnit = 7,
  kInteger = 8,
  kFloat = 9,
  kCallSite = 10,
  kFileLineColumn = 11,
  kFused = 12,
  kFusedWithMetadata = 13,
  kNamed = 14,
  kUnknownPlace = 15,
  kDenseArray = 17,
  kDenseElements = 18,
  kFileRange = 22,
};
enum VhloCode : std::uint64_t {
  kVhloArray = 1,
  kVhloBoolean = 2,
  kVhloDictionary = 6,
  kVhloFloat = 8,
  kVhloInteger = 9,
  kVhloOutputAlias = 10,
  kVhloString = 14,
  kVhloTensor = 15,
  kVhloType = 17,
  kVhloExtensions = 18,
  kVhloAccuracy = 20,
  kVhloSubAxis = 21,
  kVhloAxis = 22,
  kVhloMeshAxes = 23,
  kVhloMeshAxis = 24,
  kVhloMesh = 25,
};
enum VhloTypeCode : std::uint64_t {
  kVhloComplexType = 1,
  kVhloFunctionType = 8,
  kVhloTensorType = 20,
  kVhloEncodedTensorType = 21,
  kVhloTokenType = 22,
  kVhloTupleType = 23,
  kVhloQuantizedType = 24,
  kVhloUnrankedType = 25,
  kVhloWitnessType = 26,
  kVhloQuantizedAxisType = 30,
  kVhloNoneType = 33,
  kVhloBufferType = 41,
  kVhloFutureType = 42,
};

/// VHLO's types of one word: "f32" is 4, since 0.9; index and tf32 too. Nothing for an unknown one.
struct VhloScalar {
  std::string_view name;
  std::uint64_t code;
  int since_major, since_minor;
};
const VhloScalar* vhlo_scalar(std::uint64_t code);
const VhloScalar* vhlo_scalar(std::string_view name);

/// VHLO's enumerations: the text of each before and after its word, its code, its words by number.
struct VhloEnum {
  std::uint64_t code;
  std::string_view before, after;
  std::vector<std::string_view> words;  // empty: no such number
};
const std::vector<VhloEnum>& vhlo_enums();

/// "4x?x" of dimensions as they are encoded; those below zero are unknown.
std::string dimensions_text(const Ints& dimensions);
/// "T, U" of a counted list of types.
std::string types_text(Entries& entries, ByteReader& r);
/// "tensor<4xf32, #encoding>" of an encoding where there is one, dimensions and a type.
std::string tensor_text(Entries& entries, ByteReader& r, bool is_encoded);

}  // namespace strata::ir::bytecode
