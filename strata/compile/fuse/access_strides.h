// What a group of maps reads for each of its elements: by how many elements of memory a step along
// each dimension moves.
#pragma once

#include <functional>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

struct Read {
  const ir::Value* value;
  std::vector<std::int64_t>
      steps;  // by which the place moves along each dimension; empty where it moves otherwise
  bool is_gather = false;  // whether the place depends on numbers that are read
  bool guarded = false;    // whether it is read under a condition
};

/// Whether a place is computed from numbers that a kernel reads.
bool depends_on_reads(const Index& at);

/// The reads of a group's element, whose number is taken apart by `sizes`, row-major (any whose
/// product is the group's total).
std::vector<Read> reads_of(const Group& group, const Fusion& fusion,
                           const std::vector<std::int64_t>& sizes);

/// Whether anything is read where numbers say.
bool has_gathers(const Group& group, const Fusion& fusion);

/// The dimensions of more than one element.
std::vector<std::int64_t> larger_than_one(const Shape& shape);

/// Neighbouring dimensions that all reads pass as if they were one become one, where `joins(d)`
/// allows that for d and the one before it.
void join_dimensions(std::vector<std::int64_t>& sizes, std::vector<Read>& reads,
                     const std::function<bool(std::size_t)>& joins = nullptr);

/// The shapes in which the group's elements, in their order, were before they were reshaped: the
/// last root's, and those of what reshapes read on the way to it.
std::vector<Shape> shapes_of(const Group& group, const Fusion& fusion);

/// The dimensions of more than one element of the group's last root, or of what was reshaped to it
/// where only along those each read moves by steps, and whole strips long; those joined that all
/// reads pass as if they were one.
struct JoinedDimensions {
  Shape shape;  // before
  std::vector<std::int64_t> sizes;
  bool is_gather = false;  // whether there are reads where numbers say
};
JoinedDimensions joined_dimensions(const Group& group, const Fusion& fusion);

/// The same, but of those that have joints each by itself: places, ascending and without the ends,
/// at which conditions on the place along this dimension alone change, as they do where arrays are
/// joined.
struct SegmentedDimensions : JoinedDimensions {
  std::vector<std::vector<std::int64_t>> joints;
};
SegmentedDimensions segmented_dimensions(const Group& group, const Fusion& fusion);

/// By how many elements lanes are apart: 0 at one place, 1 one after the other; kIrregularStride
/// for backwards, too far or not by one number.
constexpr std::int64_t kIrregularStride = 5;
std::int64_t lane_stride(const Index& index);
/// Whether a kernel's strips read and write nothing but what is one after the other, or at one
/// place.
bool has_contiguous_access(const loop::Kernel& kernel);

}  // namespace strata::compile
