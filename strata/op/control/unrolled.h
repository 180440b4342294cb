// Lowerings inside loops over a few elements: one instruction per element, at places known while
// the kernel is made.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// A context whose arrays are a few elements each, as values: it is asked for elements at uniform
/// places alone, so what is lowered in it writes its elements one by one instead of by lanes.
class UnrolledContext : public LowerContext {
 public:
  using LowerContext::LowerContext;
};

inline bool is_unrolled(const LowerContext& context) {
  return dynamic_cast<const UnrolledContext*>(&context) != nullptr;
}

}  // namespace strata::op
