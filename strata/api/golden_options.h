// Options that the calls of several subjects have. For tests.
#pragma once

#include "strata/api/golden.h"

namespace strata::testing {

inline Reduce reduce(const Call& c) {
  return {.axis = c.axes(),
          .keepdims = c.flag("keepdims"),
          .dtype = c.dtype(),
          .initial = c.array("initial"),
          .where = c.array("where")};
}
inline Variance variance(const Call& c) {
  return {.axis = c.axes(),
          .keepdims = c.flag("keepdims"),
          .ddof = c.number("ddof"),
          .where = c.array("where")};
}
inline numpy::Position position(const Call& c) {
  return {.axis = c.maybe("axis"), .keepdims = c.flag("keepdims")};
}
inline numpy::Cumulative cumulative(const Call& c) {
  return {.axis = c.maybe("axis"), .dtype = c.dtype()};
}

#define STRATA_REDUCTION(name) \
  STRATA_GOLDEN("numpy." #name, numpy::name(c.x(0), ::strata::testing::reduce(c)))

}  // namespace strata::testing
