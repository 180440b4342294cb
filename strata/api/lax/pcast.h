// What varies from device to device within shard_map, said by the program.
//
//   shard_map([](const Array& a) { return lax::pcast(a, "x", {.to = "varying"}); },
//             {.mesh = mesh, .in_specs = P(), .out_specs = P{"x"}})
//
// Along each axis of the mesh a value varies, or is the same on all devices ("invarying"): what
// collectives over the axis, the place along it and arguments that are cut over it make varies,
// sums over it do not, and shard_map refuses a result that varies along an axis that its spec does
// not name. Source: jax.lax.pcast, jax.lax.pvary. Deviations: operands of one operation and carries
// of loops need no cast; what is reduced or unreduced counts as varying, so that operations do not
// refuse it and it needs no cast back.
#pragma once

#include <string>

#include "strata/api/trace/function.h"
#include "strata/api/transform/axes.h"

namespace strata::lax {

struct Pcast {
  internal::Named named = internal::Named();
  /// What it becomes: "varying", "reduced" or "unreduced".
  std::string to;
};
/// Changes the type of x along these axes; bits do not change. "varying": x may differ between the
/// devices, and its cotangent is summed over them. "reduced": so, too, but x stays replicated, and
/// its cotangents are accumulated on each device ahead of that sum. "unreduced": a varying x holds
/// partial sums, which psum or an out_spec `unreduced` adds up. Throws Error for another `to`, for
/// an axis that no shard_map around binds and, where its shard_map is called, for what varies along
/// one of the axes already ("unreduced": never).
Array pcast(const Operand& x, const AxisNames& axis_name, const Pcast& options);
/// `pcast` to "varying".
inline Array pvary(const Operand& x, const AxisNames& axis_name) {
  return pcast(x, axis_name, {.to = "varying"});
}

}  // namespace strata::lax
