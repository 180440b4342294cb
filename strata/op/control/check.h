// What the operations that check a program's values demand, and the comparison itself.
//
//   if (auto wanted = op::demand_of(op))
//     if (auto difference = op::compare(*wanted, got, want)) report(op::to_string(*difference));
//
// The two spellings (`check.expect_close %a, %b, ...` and `stablehlo.custom_call
// @check.expect_close(%a, %b)`) differ in their tolerances; decisions are those of StableHLO's own
// interpreter.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "strata/ir/graph.h"

namespace strata::op {

/// How far two arrays of one type may be apart.
struct Demand {
  enum class Kind : std::uint8_t {
    equal,   // equal numbers; NaN equals nothing
    close,   // distance between min_ulp and max_ulp; NaN equals NaN; other values that are not
             // finite must be the same
    almost,  // |got - want| <= atol; NaN equals NaN, infinities themselves
    within,  // |got - want| <= atol + rtol |want| (a complex number as a whole); NaN equals NaN,
             // infinities themselves
    same,    // equal numbers; NaN equals NaN
    bits,    // equal bytes; NaN equals NaN
  };
  Kind kind = Kind::equal;
  std::uint64_t min_ulp = 0, max_ulp = 0;
  double rtol = 0, atol = 0;
  bool same_sign = false;  // almost: numbers other than zero have one sign
};

/// Where two arrays differ first (`count` elements do), and the largest distances of all elements
/// that differ.
struct Difference {
  std::int64_t index = 0, count = 0;
  std::string at, got, want;  // "[1, 2]", and the numbers
  double abs = 0, ulp = 0;    // of the first
};

/// Largest distances of elements, whether admitted or not; infinite ones are left out.
struct Distance {
  double abs = 0, ulp = 0;
};

/// Compares arrays of one type; nothing when the demand is met.
std::optional<Difference> compare(const Demand& demand, const Literal& got, const Literal& want,
                                  Distance* largest = nullptr);
/// "at [1, 2]: got 3, want 4 (abs 1, ulp 8388608), 5 elements differ".
std::string to_string(const Difference& difference);

/// What an operation that checks demands of its operand 0 (got) and operand 1 or its attribute
/// `value` (want); nothing for any other operation, a custom call of another target among them.
std::optional<Demand> demand_of(const ir::Op& op);
/// Units in the last place between two finite numbers of one float dtype: how many numbers are
/// between them.
std::uint64_t ulp_distance(const Literal& got, const Literal& want, std::int64_t element);

}  // namespace strata::op
