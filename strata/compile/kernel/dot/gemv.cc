#include "strata/compile/kernel/dot/gemv.h"

#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_row_staging.h"

namespace strata::compile {

std::int64_t gemv_columns(loop::Builder& b, const GemmTerms& terms, const GemmOperand& rhs,
                          const GemmAxisRange& piece, const KSlice& part, const GemvRow& row) {
  constexpr std::int64_t kTransposeTile = kGemvColumns, kLine = 2 * kTransposeTile, kBehind = 256;
  const std::int64_t lines = part.kc / kLine, groups = piece.length / kTransposeTile,
                     behind = groups > 1 && part.kc >= 4 * kBehind ? kBehind / kLine : 0;
  if (!groups) return 0;
  loop::Ref* rows = stage_rows(b, terms, rhs, piece.place, groups * kTransposeTile, part);
  b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) {
    std::vector<Inst*> sums;
    auto column = [&](std::int64_t g) { return piece.place + g * kTransposeTile; };
    for (std::int64_t g = 0; g < groups; ++g)
      sums.push_back(b.local(row.initial(column(g) + lane), kTransposeTile));
    auto add = [&](std::int64_t g, Index s, Inst* element) {
      Inst*& sum = sums[static_cast<std::size_t>(g)];
      b.set(sum, multiply_add(b, terms.kind(), row.accumulator, row.lhs(s), element, b.get(sum)));
    };
    auto line = [&](std::int64_t g, Index at) {
      for (Index s = at * kLine; Index square : {s, s + kTransposeTile}) {
        std::vector<Inst*> columns;
        for (int i = 0; i < kTransposeTile; ++i)
          columns.push_back(rows ? b.load(rows, square + lane + (g * kTransposeTile + i) * part.kc)
                                 : terms.at(rhs, column(g) + i, part, square + lane));
        std::vector<Inst*> steps = loop::transposed(b, columns);
        for (int i = 0; i < kTransposeTile; ++i)
          add(g, square + i, steps[static_cast<std::size_t>(i)]);
      }
    };
    auto one = [&](std::int64_t g, const Index& s) {
      add(g, s, terms.at(rhs, column(g) + lane, part, s));
    };
    auto store = [&](std::int64_t g) {
      row.store(column(g) + lane, b.get(sums[static_cast<std::size_t>(g)]));
    };
    for (std::int64_t g = 0; row.chains && g < groups; ++g) {
      accumulate_chains(b, *row.chains, {sums[static_cast<std::size_t>(g)]}, kTransposeTile,
                        terms.kind(), part.kc, [&](const Index& first, std::int64_t n) {
                          for (std::int64_t i = 0; i < n / kLine; ++i)
                            line(g, b.div(first, kLine) + i);
                          for (std::int64_t i = n / kLine * kLine; i < n; ++i) one(g, first + i);
                        });
      store(g);
    }
    if (row.chains) return;
    if (behind) b.for_(0, behind, 1, [&](Index i) { line(0, i); });
    b.for_(behind, lines, 1, [&](Index i) {
      for (std::int64_t g = 0; g < groups; ++g) line(g, g ? i - behind : i);
    });
    if (behind) b.for_(lines - behind, lines, 1, [&](Index i) { line(1, i); });
    for (std::int64_t s = lines * kLine; s < part.kc; ++s)
      for (std::int64_t g = 0; g < groups; ++g) one(g, s);
    for (std::int64_t g = 0; g < groups; ++g) store(g);
  });
  return groups * kTransposeTile;
}

}  // namespace strata::compile
