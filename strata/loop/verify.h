// Which kernels are well formed.
#pragma once

#include "strata/base/result.h"
#include "strata/loop/loop.h"

namespace strata::loop {

inline constexpr int kMaxLanes = 1024;
inline constexpr int kMaxDepth = 64;  // of bodies in bodies
inline constexpr std::int64_t kMaxElements = std::int64_t{1}
                                             << 48;  // of one buffer, and points of a grid

/// Success, or Code::invalid with the first thing that is wrong, read in the order of the text:
/// (V1) buffers have an element type of the loop form and 0 .. kMaxElements elements; the grid 1 ..
/// kMaxElements points;
///      names are of letters, digits and _ . $;
/// (V2) an instruction stands in one body; its arguments were computed before it in that body or
/// one around it; (V3) argument counts and types are as the opcode says, the result type follows
/// from them; (V4) lanes are a power of two up to kMaxLanes; wide values that meet are equally
/// wide, and in a vector loop all are as
///      wide as it; nothing but the loop's variables decides lanes of an index;
/// (V5) stores are to buffers that may be written; locals are read and written by get and set
/// alone; (V6) loops have uniform bounds, a positive step, and own their variables; vector loops do
/// not nest; conditions are
///      uniform i1; bodies are at most kMaxDepth deep;
/// (V7) reduce has a combiner of its type; in a vector loop it, and extract of a lane but the
/// first, stand only where no
///      strip is masked, but reduce of i1 by or_ anywhere; moves of lanes (lanes.h) likewise, but
///      `behind` a uniform value;
/// (V8) known ranges are not empty.
Status verify(const Kernel& kernel);

}  // namespace strata::loop
