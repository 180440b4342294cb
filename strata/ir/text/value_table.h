// Values by their names, while a text is read.
//
// One table for all blocks: definitions stand one after another, each with how deep the block is
// that holds it and what the same name meant before; a block's end takes back what was defined in
// it. Names point into the text.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

class ValueTable {
 public:
  /// One value, or `count` results of one operation under one name, from `value` on.
  struct Entry {
    const char* name;
    Value* value;
    std::uint32_t length, count;
    std::uint32_t level,
        shadowed;  // the depth of its block; the entry before under this name, from 1, or 0
    Value* at(std::int64_t i) const {
      return i == 0 ? value : value->op()->result(value->index() + static_cast<int>(i));
    }
  };

  ValueTable() : slots_(1 << 8) {}

  /// Values of an isolated block's surroundings are hidden until it ends.
  void open(bool isolated);
  void close();
  int level() const { return static_cast<int>(scopes_.size()); }
  /// What is visible under the name, or null. Valid until its block ends.
  const Entry* find(std::string_view name) const;
  /// Fails (false) when the name is visible already.
  bool define(std::string_view name, Value* value, int count = 1);

 private:
  struct Scope {
    std::size_t first;
    std::uint32_t visible;
  };  // its first entry; the outermost visible level
  struct Slot {
    std::uint32_t entry = 0, hash = 0;
  };  // the newest entry under a name, from 1; 0: none

  static std::uint32_t hash(std::string_view name);
  static std::string_view name_of(const Entry& e) { return {e.name, e.length}; }
  Slot& slot(std::string_view name, std::uint32_t hash);
  void grow();

  // Open addressing; a power of two. A name's slot is freed with its first entry: in reverse order
  // of their making, so that no name is ever looked for behind a free slot.
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<Scope> scopes_;
  std::deque<Entry> entries_;
};

}  // namespace strata::ir
