// What packings share: sequences of an element and rows to put them into. Private to this folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "strata/data/pipeline/node.h"

namespace strata::data::pipeline {

using LengthStruct = std::vector<std::pair<std::string, std::int64_t>>;

/// The feature's length along its first dimension; 1 for scalars.
std::int64_t sequence_length(const Element& feature);
/// A buffer of `rows` (none for no such dimension) times `length` places for sequences like
/// `feature`, filled with `padding`. Scalars are i64, f64 or i1 unless arrays of rank 0.
Literal sequence_buffer(const Element& feature, std::optional<std::int64_t> rows,
                        std::int64_t length, double padding);
/// Puts feature[begin:end] (all of it for a scalar) into places from `at` on of row `row`.
/// Throws Error when dtype or the shape of an item differs.
void put_sequence(Literal& buffer, std::int64_t row, std::int64_t at, const Element& feature,
                  std::int64_t begin, std::int64_t end);
/// Row `row` of an array.
Literal row_of(const Literal& array, std::int64_t row);
/// Throws Error unless every length is 1 or more and there is one.
void check_lengths(const char* operation, const LengthStruct& lengths);
inline bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace strata::data::pipeline
