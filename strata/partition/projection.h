// One step of propagation: the shardings of an operation's operands and results seen along its
// factors, what may spread along each of them, and back.
//
// Source: shardy/dialect/sdy/transforms/propagation: sharding_projection.cc,
// basic_factor_propagation.cc, aggressive_factor_propagation.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "strata/op/def.h"
#include "strata/partition/sharding.h"

namespace strata::spmd {

/// From operands to results, back, both, or neither.
enum class Direction : std::uint8_t { none = 0, forward = 1, backward = 2, both = 3 };

/// One factor of one tensor.
struct FactorSharding {
  SubAxes axes;
  bool is_closed = false, is_minor_most = false;
  SubAxes overflow = {};  // axes that do not fit and stay with the dimension
};

/// One tensor along its factors.
struct TensorFactors {
  std::map<int, FactorSharding> factors;
  SubAxes replicated, unreduced;
};

/// How spreading settles conflicts: at the first one for all, or tensor by tensor.
enum class Strategy : std::uint8_t { basic, aggressive };

/// Spreads shardings of operands and results (nothing: open everywhere) along the factors, in the
/// direction that `direction` gives each. Changes what it can lengthen; true in the place of each
/// tensor that changed, operands first.
std::vector<bool> spread(const op::Factors& factors, bool is_elementwise, Strategy strategy,
                         const std::function<Direction(int factor)>& direction,
                         const std::string& mesh, std::vector<std::optional<Sharding>>& tensors);

}  // namespace strata::spmd
