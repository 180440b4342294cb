// The tables of a file of bytecode that is being written: each string, attribute, type, name of an
// operation and list of properties once, under the number by which it is known.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/ir/bytecode/encoding.h"

namespace strata::ir::bytecode {

/// Entries may refer only to numbers that have been given.
class Tables {
 public:
  std::size_t string(std::string_view text);
  /// In the encoding of that dialect, or as text with a zero at its end.
  std::size_t attribute(std::string_view dialect, std::string encoded, bool is_text = false);
  std::size_t type(std::string_view dialect, std::string encoded, bool is_text = false);
  std::size_t operation(std::string_view dialect, std::string_view name);
  std::size_t properties(std::string encoded);

  /// The whole file, of the format's newest version.
  std::string file(std::string_view producer, std::string_view ir);

 private:
  /// Texts in the order in which they came, found again by what they are.
  class Pool {
   public:
    std::size_t number(std::string text);
    const std::deque<std::string>& all() const { return texts_; }

   private:
    std::deque<std::string> texts_;
    std::unordered_map<std::string_view, std::size_t> numbers_;  // of texts_
  };
  /// A number of a dialect, and of whether it is text, before what is encoded.
  std::size_t entry(Pool& pool, std::string_view dialect, std::string encoded, bool is_text);
  std::string dialects();
  std::string strings() const;
  std::string property_lists() const;
  static void append_entries(const Pool& pool, ByteWriter& sizes, ByteWriter& data);

  Pool strings_, dialects_, attributes_, types_, operations_, properties_;
};

}  // namespace strata::ir::bytecode
