// Columns of Arrow as elements, and elements as columns; by the C data interface alone.
//
//   auto type = arrow_type_of(schema);                        // a structure of columns
//   auto row = arrow_value(*type, array, 7, owner);           // a dict
//
//   ArrowType seen;
//   widen(seen, element), widen(seen, another);               // what holds both
//   ArrowColumn column(seen);
//   column.add(element), column.add(another);
//   ArrowArray array = column.take();
//
// | of Arrow | as an element |
// |---|---|
// | null, a missing value | none |
// | bool, int64, double | a boolean, integer, real number |
// | other numbers | an array of rank 0, so that the type comes back |
// | utf8, large, view | text; binary ones bytes |
// | a list of numbers, none missing | an array of rank 1; of lists of one fixed size rank 2, ... |
// | other lists, maps | a list; of a map's entries, dicts of "key" and "value" |
// | struct | a dict |
// | dictionary | its value |
// | decimal, date, time, timestamp | text: "12.50", "2024-02-29", "2024-02-29T12:00:00.5Z" |
// | duration | an integer in its unit |
//
// Unions, intervals, list views and run-end encoding are Code::unsupported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/arrow/c_data.h"
#include "strata/data/element.h"
#include "strata/type/dtype.h"

namespace strata::data {

enum class ArrowKind : std::uint8_t {
  null,
  boolean,
  number,
  text,
  bytes,
  fixed_bytes,
  list,
  fixed_list,
  structure,
  dictionary,
  decimal,
  date,
  time,
  timestamp,
  duration,
};

struct ArrowType {
  ArrowKind kind = ArrowKind::null;
  std::string name;
  /// Numbers: theirs. Dictionaries: the indices'.
  DType dtype = DType::i64;
  /// Texts, bytes, lists: bits of an offset, 32 or 64; 128 for views. Decimals, dates, times: of a
  /// value.
  int bits = 32;
  /// Fixed lists and bytes: their size. Decimals: digits behind the point.
  std::int64_t size = 0;
  /// Times: parts of a second, 1 to 10^9. Whether a timestamp has a zone, and so is UTC.
  std::int64_t per_second = 1;
  bool utc = false;
  /// A list's items, a structure's members, a dictionary's values.
  std::vector<ArrowType> parts;
};

/// Reads a schema. Code::unsupported for types that are not read, Code::corrupt for what is none.
Result<ArrowType> arrow_type_of(const ArrowSchema& schema);
/// The schema, which its `release` frees. Every member may be missing.
ArrowSchema arrow_schema_of(const ArrowType& type);

/// Value `index` of an array whose offsets and indices somebody checked. Texts and bytes are views
/// that keep `owner`.
Result<Element> arrow_value(const ArrowType& type, const ArrowArray& array, std::int64_t index,
                            const std::shared_ptr<const void>& owner);

/// Makes `type` hold this element too. Code::invalid where nothing holds both.
Status widen(ArrowType& type, const Element& element);

/// A column that is being filled.
class ArrowColumn {
 public:
  explicit ArrowColumn(ArrowType type);
  /// Code::invalid for a value that does not fit.
  Status add(const Element& element);
  std::int64_t length() const { return length_; }
  /// The values so far, freed by their `release`; the column is empty then.
  ArrowArray take();

 private:
  Status add_list(const Element& element);
  Status add_array(const Literal& array, std::int64_t at, std::int64_t rank);
  void add_null();
  ArrowType type_;
  std::vector<ArrowColumn> parts_;
  std::string validity_, offsets_, data_;
  std::int64_t length_ = 0, nulls_ = 0;
};

}  // namespace strata::data
