// Tables of a few numbers: a call of a function that every reader of the loop form knows, lane by
// lane,
// `%7 = call @lookup(%i, %c0, ..., %c31) : f32x16`.
//
//   c_j for the j in the low bits of i, as many as number the constants: 2, 4, 8, 16 or 32 of them,
//   f32; i is an i32
//
// AVX-512 has instructions for 16 and 32 entries (vpermps, vpermi2ps), AVX2 for 8; single numbers
// read theirs from memory.
#pragma once

#include <bit>
#include <string_view>

#include "strata/loop/loop.h"

namespace strata::loop {

inline constexpr std::string_view kLookup = "lookup";

/// Whether an instruction is such a call.
inline bool is_lookup(const Inst& inst) {
  return inst.code == Opcode::call && inst.callee == kLookup;
}

/// Whether there may be as many entries.
constexpr bool is_lookup_size(std::size_t entries) {
  return entries >= 2 && entries <= 32 && std::has_single_bit(entries);
}

/// Which argument of the call an index chooses, of `arguments` in all.
constexpr std::size_t lookup_argument(std::uint64_t index, std::size_t arguments) {
  return 1 + (index & (arguments - 2));
}

}  // namespace strata::loop
