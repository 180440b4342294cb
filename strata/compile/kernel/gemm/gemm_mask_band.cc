#include "strata/compile/kernel/gemm/gemm_mask_band.h"

#include "strata/pass/dot/mask_sparsity.h"

namespace strata::compile {

std::optional<GemmMaskBand> GemmMaskBand::of(const ir::Op& product, const op::Contraction& c,
                                             bool swapped) {
  const ir::Ints mark = product.attrs.get_or<ir::Ints>(pass::kMaskBand, {});
  if (mark.empty()) return std::nullopt;
  const Shape& shape = product.result()->shape();
  const auto batch = static_cast<std::int64_t>(c.lhs_batch.size());
  const std::int64_t rows_end =
      product.operand(0)->rank() - static_cast<std::int64_t>(c.lhs_contract.size());
  auto is_only = [&](std::int64_t d) {
    const std::int64_t begin = d < rows_end ? batch : rows_end,
                       end = d < rows_end ? rows_end : shape.rank();
    for (std::int64_t i = begin; i < end; ++i)
      if (i != d && shape[static_cast<int>(i)] != 1) return false;
    return d >= batch;
  };
  if (!is_only(mark[0]) || !is_only(mark[1]) || (mark[0] < rows_end) == (mark[1] < rows_end))
    return std::nullopt;
  if ((mark[0] >= rows_end) != swapped) return GemmMaskBand{-mark[3], -mark[2]};
  return GemmMaskBand{mark[2], mark[3]};
}

Inst* GemmMaskBand::meets(loop::Builder& b, const Index& row, const Index& rows,
                          const Index& column, const Index& columns) const {
  Inst* reaches = b.less(Index(low), column + columns - row);
  return b.binary(loop::Opcode::and_, reaches, b.less(column - row - rows, Index(high)));
}

}  // namespace strata::compile
