// Values by their names, while a text is read.
//
// One table for all blocks: a name's entry says how deep the block is that defined it, and a block's end takes back what
// was defined in it. Names point into the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

class ValueTable {
 public:
  /// One value, or the results of an operation under one name.
  struct Entry {
    std::string_view name;
    Value* value = nullptr;  // null: results of `op`, from `first`
    Op* op = nullptr;
    int first = 0, count = 0;  // count 0: nothing under this name now
    int level = 0;
    Value* at(std::int64_t i) const { return op == nullptr ? value : op->result(first + static_cast<int>(i)); }
  };

  ValueTable() : slots_(1 << 8) {}

  /// Values of an isolated block's surroundings are hidden until it ends.
  void open(bool isolated);
  void close();
  int level() const { return static_cast<int>(scopes_.size()); }
  /// What is visible under the name, or null. Valid until the next definition.
  const Entry* find(std::string_view name) const;
  /// Fails (false) when the name is visible already.
  bool define(Entry entry);

 private:
  struct Scope { std::size_t undo; int visible; };  // where its definitions begin in undo_; the outermost visible level

  static std::size_t hash(std::string_view name);
  Entry& slot(std::string_view name);
  const Entry& slot(std::string_view name) const { return const_cast<ValueTable*>(this)->slot(name); }
  void grow();

  std::vector<Entry> slots_;  // open addressing; a power of two; names stay when their entries are taken back
  std::size_t used_ = 0;
  std::vector<Scope> scopes_;
  std::vector<Entry> undo_;  // what stood in the slot before each definition
};

}  // namespace strata::ir
