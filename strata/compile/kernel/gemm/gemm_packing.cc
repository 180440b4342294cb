#include "strata/compile/kernel/gemm/gemm_packing.h"

#include "strata/loop/lanes.h"
#include "strata/loop/pieces.h"

namespace strata::compile {
namespace {

constexpr int kTransposeTile = loop::kQuickSquare;

/// Calls `step` for each tile and each of `steps` steps, a few steps of all tiles at a time: reads
/// follow rows that continue from tile to tile, writes stay contiguous.
void by_strips(loop::Builder& b, const GemmAxis& axis, std::int64_t steps,
               const std::function<void(const GemmAxisRange&, const Index&)>& step) {
  constexpr std::int64_t kSteps = 8;
  for_pieces(b, 0, steps, kSteps, [&](Index from, std::int64_t some) {
    each_tile(b, axis, [&](const GemmAxisRange& tile) {
      b.for_(0, some, 1, [&](Index u) { step(tile, from + u); });
    });
  });
}

}  // namespace

void OperandPacking::hold_all(loop::Ref* memory, Index batch, std::int64_t free, std::int64_t steps,
                              std::int64_t part_steps) {
  memory_ = memory;
  batch_ = std::move(batch);
  all_ = padded(free);
  steps_ = steps;
  part_steps_ = part_steps;
}

Index OperandPacking::at(const GemmAxisRange& tile, const Index& i, const Index& s,
                         const KSlice& part, std::int64_t count) const {
  Index begin = tile.local * count;
  if (holds_all())
    begin = batch_ * (steps_ * all_) + part.number * (part_steps_ * all_) + tile.place * count;
  return begin + (by_rows_ ? i * count + s : s * width_ + i);
}

void OperandPacking::fill_columns(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                                  const GemmAxis& columns, const KSlice& part) const {
  const std::int64_t count = terms.steps(part.kc);
  const bool pairs = terms.kind() == TermKind::pairs;
  const std::int64_t even = pairs ? part.kc / 2 : count;
  auto put = [&](const GemmAxisRange& n, const Index& s, const Index& x, bool odd_end) {
    b.store(memory_, at(n, x, s, part, count), terms.at(side, n.place + x, part, s, odd_end));
  };
  if (!side.contracts_minor()) {
    auto row = [&](const GemmAxisRange& n, const Index& s, bool odd_end) {
      b.vector(0, n.length, static_cast<int>(width_), [&](Index x) { put(n, s, x, odd_end); });
    };
    by_strips(b, columns, even, [&](const GemmAxisRange& n, const Index& s) { row(n, s, false); });
    if (even < count) each_tile(b, columns, [&](const GemmAxisRange& n) { row(n, even, true); });
    return;
  }
  each_tile(b, columns, [&](const GemmAxisRange& n) {
    if (!pairs && byte_width(terms.dtype()) == 4 && n.length % kTransposeTile == 0)
      return fill_transposed(b, terms, side, n, part);
    // A few steps of all columns at a time, so that the lines written stay in the first cache.
    for_pieces(b, 0, even, 16, [&](Index s, std::int64_t some) {
      b.for_(0, n.length, 1, [&](Index x) {
        for (std::int64_t u = 0; u < some; ++u) put(n, s + u, x, false);
      });
    });
    if (even < count) b.for_(0, n.length, 1, [&](Index x) { put(n, even, x, true); });
  });
}

/// Elements that run along k, read so, turned in registers by squares and written along the
/// columns.
void OperandPacking::fill_transposed(loop::Builder& b, const GemmTerms& terms,
                                     const GemmOperand& side, const GemmAxisRange& n,
                                     const KSlice& part) const {
  const std::int64_t count = terms.steps(part.kc), turned = count / kTransposeTile * kTransposeTile;
  auto term = [&](const Index& x, const Index& s) { return terms.at(side, n.place + x, part, s); };
  b.for_(0, n.length / kTransposeTile, 1, [&](Index square) {
    Index x = square * kTransposeTile;
    b.for_(0, count / kTransposeTile, 1, [&](Index strip) {
      b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) {
        std::vector<Inst*> columns;
        for (int i = 0; i < kTransposeTile; ++i)
          columns.push_back(term(x + i, strip * kTransposeTile + lane));
        std::vector<Inst*> steps = loop::transposed(b, columns);
        for (int i = 0; i < kTransposeTile; ++i)
          b.store(memory_, at(n, x + lane, strip * kTransposeTile + i, part, count),
                  steps[static_cast<std::size_t>(i)]);
      });
    });
    for (std::int64_t s = turned; s < count; ++s)
      b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) {
        b.store(memory_, at(n, x + lane, s, part, count), term(x + lane, s));
      });
  });
}

void OperandPacking::fill_rows(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                               const GemmAxis& rows, const KSlice& part) const {
  const std::int64_t count = terms.steps(part.kc);
  if (by_rows_) {
    b.for_(0, by_block(b, rows, rows.block, rows.last()), 1, [&](Index m) {
      const GemmAxisRange row{m, rows.begin() + m, 1};
      b.vector(0, count, 16, [&](Index s) {
        b.store(memory_, at(row, 0, s, part, count), terms.at(side, row.place, part, s));
      });
    });
    return;
  }
  const std::int64_t even = terms.kind() == TermKind::pairs ? part.kc / 2 : count;
  by_strips(b, rows, even, [&](const GemmAxisRange& m, const Index& s) {
    fill_step(b, terms, side, m, part, s, false);
  });
  if (even < count)
    each_tile(b, rows,
              [&](const GemmAxisRange& m) { fill_step(b, terms, side, m, part, even, true); });
}

/// One step of a tile's rows, by powers of two of them, so that no lane is masked.
void OperandPacking::fill_step(loop::Builder& b, const GemmTerms& terms, const GemmOperand& side,
                               const GemmAxisRange& m, const KSlice& part, const Index& s,
                               bool odd_end) const {
  const std::int64_t count = terms.steps(part.kc);
  for (std::int64_t done = 0; done < m.length;) {
    int lanes = 1;
    while (2 * lanes <= m.length - done) lanes *= 2;
    b.vector(done, done + lanes, lanes, [&](Index r) {
      b.store(memory_, at(m, r, s, part, count), terms.at(side, m.place + r, part, s, odd_end));
    });
    done += lanes;
  }
}

}  // namespace strata::compile
