// How products, transforms, random bits and special functions of lax.h are called.
#include "strata/api/golden.h"

namespace strata {
namespace {

lax::DotDimensionNumbers dims_of(const testing::Call& c) {
  return {.lhs_contracting = c.integers("lhs_contracting"),
          .rhs_contracting = c.integers("rhs_contracting"),
          .lhs_batch = c.integers("lhs_batch"),
          .rhs_batch = c.integers("rhs_batch")};
}
lax::DotGeneral general(const testing::Call& c) {
  return {.preferred_element_type = c.dtype("preferred_element_type")};
}
std::optional<lax::DotDimensionNumbers> maybe_dims(const testing::Call& c) {
  return c.has("lhs_contracting") ? std::optional(dims_of(c)) : std::nullopt;
}
std::optional<Array> maybe(const testing::Call& c, std::size_t i) {
  return i < c.count() ? std::optional(c.x(i)) : std::nullopt;
}
STRATA_GOLDEN("lax.dot_general", lax::dot_general(c.x(0), c.x(1), dims_of(c), general(c)));
STRATA_GOLDEN("lax.dot", lax::dot(c.x(0), c.x(1),
                                  {.dimension_numbers = maybe_dims(c),
                                   .preferred_element_type = c.dtype("preferred_element_type")}));
STRATA_GOLDEN("lax.batch_matmul", lax::batch_matmul(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.ragged_dot", lax::ragged_dot(c.x(0), c.x(1), c.x(2), general(c)));
STRATA_GOLDEN("lax.ragged_dot_general",
              lax::ragged_dot_general(c.x(0), c.x(1), c.x(2),
                                      {.dot_dimension_numbers = dims_of(c),
                                       .lhs_ragged_dimensions = c.integers("lhs_ragged_dimensions"),
                                       .rhs_group_dimensions = c.integers("rhs_group_dimensions")},
                                      general(c)));
STRATA_GOLDEN("lax.scaled_dot",
              lax::scaled_dot(c.x(0), c.x(1),
                              {.lhs_scale = maybe(c, 2),
                               .rhs_scale = maybe(c, 3),
                               .preferred_element_type = c.dtype("preferred_element_type")}));
STRATA_GOLDEN("lax.rng_bit_generator",
              lax::rng_bit_generator(c.x(0), c.integers("shape"), *c.dtype(),
                                     static_cast<lax::RandomAlgorithm>(c.integer("algorithm"))));
STRATA_GOLDEN("lax.round",
              lax::round(c.x(0), static_cast<lax::RoundingMethod>(c.integer("method"))));
STRATA_GOLDEN("lax.reduce_precision", lax::reduce_precision(c.x(0), c.integer("exponent_bits"),
                                                            c.integer("mantissa_bits")));
STRATA_GOLDEN("lax.mulhi", lax::mulhi(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.igamma", lax::igamma(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.igammac", lax::igammac(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.igamma_grad_a", lax::igamma_grad_a(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.random_gamma_grad", lax::random_gamma_grad(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.betainc", lax::betainc(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("scipy.special.gammainc", scipy::special::gammainc(c.x(0), c.x(1)));
STRATA_GOLDEN("scipy.special.gammaincc", scipy::special::gammaincc(c.x(0), c.x(1)));
STRATA_GOLDEN("scipy.special.betainc", scipy::special::betainc(c.x(0), c.x(1), c.x(2)));

}  // namespace
}  // namespace strata
