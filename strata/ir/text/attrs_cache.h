// Equal attributes of many operations, kept once while a text is read: copies share (ir/attr.h).
#pragma once

#include <cstddef>
#include <vector>

#include "strata/ir/attr.h"

namespace strata::ir {

/// Remembers some of those it has seen, one for each remainder of their hashes, and no long
/// constants.
class AttrsCache {
 public:
  /// Attributes equal to these, shared with earlier ones if they are remembered.
  Attrs shared(Attrs attrs);

 private:
  struct Slot {
    std::size_t hash = 0;
    Attrs attrs;
  };
  std::vector<Slot> slots_;
};

}  // namespace strata::ir
