// How the functions of initializers.h are called: the first argument of a call is a seed.
#include "strata/api/golden.h"

namespace strata {
namespace {

using testing::Call;
namespace init = nn::initializers;

Array made(const Call& c, const nn::Initializer& f) {
  return f(random::key(c.x(0)), c.integers("shape"), c.dtype());
}
init::FanAxes fan_axes(const Call& c) {
  return {.in_axis = c.integer("in_axis", -2),
          .out_axis = c.integer("out_axis", -1),
          .batch_axis = c.integers("batch_axis")};
}
init::Fan fan(const Call& c) {
  const std::string mode = c.text("mode");
  return mode == "fan_in"    ? init::Fan::in
         : mode == "fan_out" ? init::Fan::out
         : mode == "fan_avg" ? init::Fan::average
                             : init::Fan::geometric;
}
init::Distribution distribution(const Call& c) {
  const std::string name = c.text("distribution");
  return name == "normal"    ? init::Distribution::normal
         : name == "uniform" ? init::Distribution::uniform
                             : init::Distribution::truncated_normal;
}

STRATA_GOLDEN("nn.initializers.zeros", made(c, init::zeros));
STRATA_GOLDEN("nn.initializers.ones", made(c, init::ones));
STRATA_GOLDEN("nn.initializers.constant", made(c, init::constant(c.number("value"))));
STRATA_GOLDEN("nn.initializers.uniform", made(c, init::uniform(c.number("scale", 1e-2))));
STRATA_GOLDEN("nn.initializers.normal", made(c, init::normal(c.number("stddev", 1e-2))));
STRATA_GOLDEN("nn.initializers.truncated_normal",
              made(c, init::truncated_normal(c.number("stddev", 1e-2), float32,
                                             c.number("lower", -2), c.number("upper", 2))));
STRATA_GOLDEN("nn.initializers.variance_scaling",
              made(c, init::variance_scaling(c.number("scale"), fan(c), distribution(c),
                                             fan_axes(c))));
#define STRATA_INITIALIZER(name) \
  STRATA_GOLDEN("nn.initializers." #name, made(c, init::name(fan_axes(c))))
STRATA_INITIALIZER(lecun_normal);
STRATA_INITIALIZER(lecun_uniform);
STRATA_INITIALIZER(glorot_normal);
STRATA_INITIALIZER(glorot_uniform);
STRATA_INITIALIZER(xavier_normal);
STRATA_INITIALIZER(xavier_uniform);
STRATA_INITIALIZER(he_normal);
STRATA_INITIALIZER(he_uniform);
STRATA_INITIALIZER(kaiming_normal);
STRATA_INITIALIZER(kaiming_uniform);

}  // namespace
}  // namespace strata
