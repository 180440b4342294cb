// The lanes of a vector that a mask chooses, brought together in order, and how many they are:
// calls of functions that every reader of the loop form knows, `%7 = call @compress(%mask, %x) :
// f32x16`, `%8 = call @chosen(%mask) : i64`.
//
//   compress: the x of the lanes whose mask (i1) holds, the first of them in lane 0; zeros in the
//   lanes that are left
//
// Not under a mask of their own: in vector loops of whole strips. AVX-512 has an instruction for
// the first (vpcompressd), and counts bits of masks.
#pragma once

#include <string>
#include <string_view>

#include "strata/loop/loop.h"

namespace strata::loop {

inline constexpr std::string_view kCompress = "compress", kChosen = "chosen";

/// Whether an instruction is such a call.
inline bool is_compress(const Inst& inst) {
  return inst.code == Opcode::call && inst.callee == kCompress;
}
inline bool is_chosen(const Inst& inst) {
  return inst.code == Opcode::call && inst.callee == kChosen;
}

/// `x` where `mask` holds; either may be the same in all of `lanes`.
inline Inst* compressed(Builder& b, Inst* mask, Inst* x, int lanes) {
  return b.call(std::string(kCompress), {x->type.dtype, lanes}, {mask, x});
}
/// In how many lanes `mask` holds, an i64.
inline Inst* chosen(Builder& b, Inst* mask) {
  return b.call(std::string(kChosen), {DType::i64, 1}, {mask});
}

}  // namespace strata::loop
