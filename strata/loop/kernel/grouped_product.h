// Products of groups of rows with a matrix for each group, by the tiles of product.h: what layers
// of experts compute (MegaBlocks, Tokamax: gmm and tgmm).
//
// Rows [c[i-1], c[i]) belong to group i, where c are the running sums of the sizes (those below
// zero count as zero, and c ends at the number of rows). Every element is one chain of fused
// multiply-adds, over k = 0 .. K-1 or over the rows of its group, from zero on, and is rounded
// once: an order that does not depend on sizes of other groups, on threads or instructions.
//
// strata_gmm: buffers lhs (rows, in), rhs (groups, in, out) or turned (groups, out, in), sizes
// (groups), y (rows, out); y[r] = lhs[r] rhs[group of r], zero for rows of no group.
// strata_tgmm: buffers lhs (rows, in), rhs (rows, out), sizes (groups), y (groups, in, out);
// y[i] = the sum over the rows r of group i of lhs[r]^T rhs[r].
//
// With a batch every buffer has one more dimension in front, and all is done for each of them.
//
// The parameters of both are `GroupedParams::numbers`. A grid point is a block of columns of the
// result, and of gmm some rows of one group, of tgmm some rows of a group's matrix. Where a group
// has few rows, one point computes several blocks, and the others' have nothing to do.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/loop/kernel/product.h"
#include "strata/type/dtype.h"

namespace strata::loop::grouped {

struct GroupedParams {
  DType dtype, sizes;
  std::int64_t rows, in, out, groups;
  /// Of gmm: whether rhs is (groups, out, in).
  bool turned = false;
  std::int64_t batch = 1;

  /// Blocks of columns of the result.
  std::int64_t across() const;
  std::int64_t gmm_grid() const;
  std::int64_t tgmm_grid() const;
  /// Bytes of the sizes of one of the batch.
  std::int64_t sizes_bytes() const;
  std::vector<std::int64_t> numbers() const;
  static GroupedParams from(const std::int64_t* numbers);
};

/// Whether the kernels take elements and sizes of these types.
bool takes(DType dtype, DType sizes);

/// Where each group begins, and as the last number where all end. `at` holds `groups` sizes.
std::vector<std::int64_t> starts(const void* at, DType sizes, std::int64_t groups,
                                 std::int64_t rows);

/// The kernels, by a given instruction set.
void run_gmm(const product::InstructionSet& set, void* const* buffers, std::int64_t begin,
             std::int64_t end);
void run_tgmm(const product::InstructionSet& set, void* const* buffers, std::int64_t begin,
              std::int64_t end);

}  // namespace strata::loop::grouped
