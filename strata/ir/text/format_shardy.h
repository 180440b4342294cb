// Formats of Shardy's operations: what the program says of the mesh of devices, kept and printed.
#pragma once

#include "strata/ir/text/format.h"

namespace strata::ir::formats {

extern const TextFormat sharding_constraint;  // %a <@mesh, [{"x"}, {}]> : T           (sharding:
                                              // `#sdy.sharding<...>`) reshard too
extern const TextFormat propagation_barrier;  // %a allowed_direction=FORWARD : T
                                              // (allowed_direction: NONE FORWARD BACKWARD BOTH)
extern const TextFormat sharding_group;  // %a group_id=3 : T                     (group_id: number)
/// (%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: T)
/// { ... } : (T) -> T in_shardings, out_shardings: `#sdy.sharding_per_value<[...]>`; manual_axes:
/// `#sdy<manual_axes{...}>`.
extern const TextFormat manual_computation;
/// <"name">(%a) in_shardings=[...] out_shardings=[...] (%b: T) { ... } : (T) -> T   (name: string;
/// shardings may be absent)
extern const TextFormat named_computation;

}  // namespace strata::ir::formats
