// What a custom call says to its target beyond operands: a dictionary of values with types.
//
//   foreign::attributes_of(op.attrs)  // of {mhlo.backend_config = {uplo = 76 : ui8}}: one scalar,
//   ui8, 76
//
// It stands in `mhlo.backend_config`, or in `backend_config` where that is a dictionary
// (api_version 4). A call of an older kind has a text in `backend_config`: then the dictionary is
// empty, and `config_text` says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/ir/attr.h"

namespace strata::op::foreign {

struct Attribute;

/// Entries in the order of their names.
struct Dictionary {
  Dictionary();
  Dictionary(const Dictionary&);
  Dictionary(Dictionary&&) noexcept;
  Dictionary& operator=(const Dictionary&);
  Dictionary& operator=(Dictionary&&) noexcept;
  ~Dictionary();  // where Attribute is complete

  std::vector<std::pair<std::string, Attribute>> entries;
  const Attribute* find(std::string_view name) const;
};

struct Attribute {
  enum class Kind : std::uint8_t { scalar, array, string, dictionary } kind = Kind::scalar;
  DType dtype = DType::i64;      // scalar, array
  std::vector<std::byte> bytes;  // scalar, array: the elements, one after the other
  std::string text;              // string
  Dictionary dictionary;

  std::size_t count() const { return bytes.size() / byte_width(dtype); }
  /// Of a scalar that is an integer or a boolean.
  std::optional<std::int64_t> integer() const;
};

/// Fails (unsupported) for a value that has no such form: a symbol, a type, an attribute of a
/// dialect.
Result<Dictionary> attributes_of(const ir::Attrs& attrs);
/// Of a call with a text for a configuration.
std::string config_text(const ir::Attrs& attrs);

}  // namespace strata::op::foreign
