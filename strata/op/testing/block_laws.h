// Laws that any program of floats obeys, checked by evaluating it: derivative against finite
// differences, transpose against the inner product, batch against a loop.
//
//   EXPECT_EQ(check_jvp(f, {x, y}, 1), "");
//
// Each returns "" or the first disagreement in words. Programs should be f64 and smooth around the
// arguments; integer and boolean arguments have no tangents. Directions are random, equal seeds
// give equal ones.
#pragma once

#include <string>

#include "strata/op/def.h"

namespace strata::op::testing {

/// Which arguments can have tangents.
std::vector<bool> inexact_arguments(const Block& f);
/// A random direction for each active argument.
Literals directions(const Literals& at, const std::vector<bool>& active, std::uint64_t seed);
/// Derivative of the inexact results along `tangents` of the active arguments, by central
/// differences.
Literals finite_difference(const Block& f, const Literals& at, const std::vector<bool>& active,
                           const Literals& tangents);
/// Sum over all products of elements.
double inner(const Literals& a, const Literals& b);
/// "" or where two lists differ by more than `tolerance` times the largest magnitude (at least 1).
std::string compare(const Literals& got, const Literals& want, double tolerance);
/// Values stacked along a new leading dimension.
Literal stacked(const Literals& xs);
/// Slice i of the leading dimension.
Literal unstacked(const Literal& x, std::int64_t i);

/// jvp = finite difference, on all inexact arguments and on each alone.
std::string check_jvp(const Block& f, const Literals& at, std::uint64_t seed,
                      double tolerance = 1e-5);
/// linearize and then its linear part = jvp, and <J v, w> = <v, J' w>.
std::string check_vjp(const Block& f, const Literals& at, std::uint64_t seed,
                      double tolerance = 1e-9);
/// batch = loop over three inputs; all arguments batched, and each alone. Batched arguments vary
/// around `at`.
std::string check_batch(const Block& f, const Literals& at, std::uint64_t seed,
                        double tolerance = 1e-11);
/// All three.
std::string check_laws(const Block& f, const Literals& at, std::uint64_t seed);

}  // namespace strata::op::testing
