#include "strata/compile/turned_columns.h"

#include "strata/compile/product_chains.h"
#include "strata/compile/product_rows.h"

namespace strata::compile {

std::int64_t turned_columns(loop::Builder& b, const ProductTerms& terms, const ProductSide& right,
                            const ProductPiece& piece, const ProductPart& part,
                            const TurnedRow& row) {
  constexpr std::int64_t kSquare = kTurnedColumns, kLine = 2 * kSquare, kBehind = 256;
  const std::int64_t lines = part.depth / kLine, groups = piece.length / kSquare,
                     behind = groups > 1 && part.depth >= 4 * kBehind ? kBehind / kLine : 0;
  if (!groups) return 0;
  loop::Ref* rows = bring_rows(b, terms, right, piece.place, groups * kSquare, part);
  b.vector(0, kSquare, kSquare, [&](Index lane) {
    std::vector<Inst*> sums;
    auto column = [&](std::int64_t g) { return piece.place + g * kSquare; };
    for (std::int64_t g = 0; g < groups; ++g)
      sums.push_back(b.local(row.initial(column(g) + lane), kSquare));
    auto add = [&](std::int64_t g, Index s, Inst* element) {
      Inst*& sum = sums[static_cast<std::size_t>(g)];
      b.set(sum, multiply_add(b, terms.kind(), row.accumulator, row.left(s), element, b.get(sum)));
    };
    auto line = [&](std::int64_t g, Index at) {
      for (Index s = at * kLine; Index square : {s, s + kSquare}) {
        std::vector<Inst*> columns;
        for (int i = 0; i < kSquare; ++i)
          columns.push_back(rows ? b.load(rows, square + lane + (g * kSquare + i) * part.depth)
                                 : terms.at(right, column(g) + i, part, square + lane));
        std::vector<Inst*> steps = loop::transposed(b, columns);
        for (int i = 0; i < kSquare; ++i) add(g, square + i, steps[static_cast<std::size_t>(i)]);
      }
    };
    auto one = [&](std::int64_t g, const Index& s) {
      add(g, s, terms.at(right, column(g) + lane, part, s));
    };
    auto store = [&](std::int64_t g) {
      row.store(column(g) + lane, b.get(sums[static_cast<std::size_t>(g)]));
    };
    for (std::int64_t g = 0; row.chains && g < groups; ++g) {
      add_by_chains(b, *row.chains, {sums[static_cast<std::size_t>(g)]}, kSquare, terms.kind(),
                    part.depth, [&](const Index& first, std::int64_t n) {
                      for (std::int64_t i = 0; i < n / kLine; ++i) line(g, b.div(first, kLine) + i);
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
    for (std::int64_t s = lines * kLine; s < part.depth; ++s)
      for (std::int64_t g = 0; g < groups; ++g) one(g, s);
    for (std::int64_t g = 0; g < groups; ++g) store(g);
  });
  return groups * kSquare;
}

}  // namespace strata::compile
