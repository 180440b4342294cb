// What a group of maps reads for each of its elements: by how many elements of memory a step along each dimension moves.
#pragma once

#include "strata/compile/kernel_build.h"

namespace strata::compile {

struct Read {
  const ir::Value* value;
  std::vector<std::int64_t> steps;  // by which the place moves along each dimension; empty where it moves otherwise
  bool looked_up = false;           // whether the place depends on numbers that are read
  bool guarded = false;             // whether it is read under a condition
};

/// The reads of a group's element, whose number is taken apart by `sizes`, row-major (any whose product is the group's total).
std::vector<Read> reads_of(const Group& group, const Fusion& fusion, const std::vector<std::int64_t>& sizes);

/// Neighbouring dimensions that all reads pass as if they were one become one.
void join_dimensions(std::vector<std::int64_t>& sizes, std::vector<Read>& reads);

/// The dimensions of more than one element of the group's last root, those joined that all reads pass as if they were one.
struct JoinedDimensions {
  std::vector<std::int64_t> sizes;
  bool looked_up = false;  // whether there are reads where numbers say
};
JoinedDimensions joined_dimensions(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
