// Rotary positions of published decoders: stretched frequencies, part of a head, both pairings.
//
//   decoder::RotaryTable t = decoder::rotary_table(rope, positions_BS, 2048);
//   Array q = decoder::rotate(q_BSHd, t, decoder::Pairing::halves);
#pragma once

#include <vector>

#include "strata/api/array.h"
#include "strata/model/decoder/options.h"

namespace strata::model::decoder {

/// What a position turns by: the frequencies of the width / 2 pairs, in f32, and the factor of cos
/// and sin.
struct Frequencies {
  std::vector<float> values;
  double factor = 1;
};
/// Of sequences that get at most `length` long (only dynamic and longrope ask for it). Source:
/// modeling_rope_utils.py of transformers, computed in f32 as there.
Frequencies frequencies(const Rope& rope, std::int64_t length);

/// cos and sin of the angles, (..., B, S, width / 2) f32.
struct RotaryTable {
  Array cos, sin;
  STRATA_FIELDS(cos, sin)
};
/// Of positions (B, S) of i32, traced or not.
RotaryTable rotary_table(const Rope& rope, const Array& positions_BS, std::int64_t length);
/// The tables of several, which have the same width, one behind the other along a new first axis;
/// `and_none` adds one that turns nothing.
RotaryTable stacked_tables(const std::vector<Rope>& ropes, const Array& positions_BS,
                           std::int64_t length, bool and_none);
/// Turns the first elements of each head of x (B, S, H, d) in f32; dtype of x.
Array rotate(const Array& x_BSHd, const RotaryTable& table, Pairing pairing);

}  // namespace strata::model::decoder
