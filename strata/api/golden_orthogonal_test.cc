// How functions that give orthogonal matrices are called: the first argument of a call is a seed.
#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;

std::optional<std::int64_t> columns(const Call& c) { return c.maybe("m"); }
STRATA_GOLDEN("random.orthogonal",
              random::orthogonal(random::key(c.x(0)), c.integer("n"), c.integers("shape"),
                                 c.dtype().value_or(float32), columns(c)));
Array made(const Call& c, const nn::Initializer& f) {
  return f(random::key(c.x(0)), c.integers("shape"), c.dtype());
}
STRATA_GOLDEN("nn.initializers.orthogonal",
              made(c, nn::initializers::orthogonal(c.number("scale", 1),
                                                   c.integer("column_axis", -1))));
STRATA_GOLDEN("nn.initializers.delta_orthogonal",
              made(c, nn::initializers::delta_orthogonal(c.number("scale", 1),
                                                         c.integer("column_axis", -1))));

}  // namespace
}  // namespace strata
