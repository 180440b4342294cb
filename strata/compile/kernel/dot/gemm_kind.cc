#include "strata/compile/kernel/dot/gemm_kind.h"

#include <algorithm>

#include "strata/compile/kernel/conv/conv_tiling.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

bool is_windows(const Value* v) { return v->op() && op::window_dims(*v->op()); }

}  // namespace

bool is_narrow(const Op& product) {
  constexpr std::int64_t kFew = 8, kManyTerms = 1024;
  if (!is_windows(product.operand(0)) && !is_windows(product.operand(1))) return false;
  op::Contraction c = op::contraction_of(product);
  GemmOperand lhs(product.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(product.operand(1), c.rhs_batch, c.rhs_contract);
  bool of_left = is_windows(lhs.value);
  const GemmOperand &windows = of_left ? lhs : rhs, &columns = of_left ? rhs : lhs;
  std::int64_t n = columns.size(columns.free);
  const std::int64_t terms = lhs.size(lhs.contract);
  if (lhs.size(lhs.batch) == 1 || n >= kFew || terms == 0) return false;
  // Long sums of what is no neighbour along the batch (the gradient of a few filters) are one
  // lane's work each, read here and there (2 x 64 x 64 x 48 by 3 x 3 to 3: 12.5 ms so, 0.63 by
  // tiles).
  int last = windows.value->rank() - 1;
  while (last > 0 && windows.value->shape()[last] == 1) --last;
  if (terms >= kManyTerms &&
      (n > 1 || std::find(windows.batch.begin(), windows.batch.end(), last) == windows.batch.end()))
    return false;
  op::WindowDims dims = *op::window_dims(*windows.value->op());
  std::int64_t features = 1;  // that are summed over at one place
  for (int d : windows.contract)
    if (d >= dims.rank()) features *= windows.value->shape()[d];
  // Sums over many features use tiles of few columns: lanes across the result would read the
  // features of two groups (two groups of 128 to 4, 8 x 8 places: 1.06 ms so, 0.08 by tiles).
  return n * features < kFew ||
         (features < kFew &&
          !few_columns_of_long_rows(
              windows, dims, n,
              /*wide_registers=*/true));  // is_narrow is the same on each processor
}

int minor_batch_dim(const Op& product, const op::Contraction& c) {
  for (std::size_t q = 0; q < c.lhs_batch.size(); ++q)
    if (c.lhs_batch[q] == product.operand(0)->rank() - 1 &&
        c.rhs_batch[q] == product.operand(1)->rank() - 1)
      return static_cast<int>(q);
  return -1;
}

bool is_batch_vectorized_dot(const Op& product) {
  constexpr std::int64_t
      kMostTerms = 8192,
      kFew = 4;  // terms that are read again for another tile, 64 bytes each in a strip
  if (given_sums(product)) return false;
  const op::Contraction c = op::contraction_of(product);
  const int q = minor_batch_dim(product, c);
  if (q < 0 || product.operand(0)->shape()[c.lhs_batch[static_cast<std::size_t>(q)]] < kBatchLanes)
    return false;
  const GemmOperand lhs(product.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(product.operand(1), c.rhs_batch, c.rhs_contract);
  const std::int64_t m = lhs.size(lhs.free), n = rhs.size(rhs.free), k = lhs.size(lhs.contract);
  const std::int64_t again = n <= kFew ? n : m <= kFew ? m : m + n;
  return k > 0 && m > 0 && n > 0 && (m * n == 1 || again * k <= kMostTerms);
}

}  // namespace strata::compile
