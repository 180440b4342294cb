// How frombuffer, whose bytes are an array's, and asarray are called.
#include "strata/api/golden.h"

namespace strata {
namespace {

Array frombuffer(const testing::Call& c) {
  const Array bytes = c.x(0);
  return numpy::frombuffer(numpy::elements<std::uint8_t>(bytes), c.dtype().value_or(float64),
                           {.count = c.integer("count", -1), .offset = c.integer("offset")});
}
STRATA_GOLDEN("numpy.frombuffer", frombuffer(c));
STRATA_GOLDEN("numpy.asarray", numpy::asarray(c.x(0), c.dtype()));

}  // namespace
}  // namespace strata
