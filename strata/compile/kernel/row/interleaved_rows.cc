#include "strata/compile/kernel/row/interleaved_rows.h"

#include <algorithm>
#include <array>

#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kInterleavedRows = kRowsTogether, kShortest = 33, kLongest = 256;
constexpr int kLanes = 32;  // of a row, of which two registers are one column of a square
/// Longer rows of which whole strips are written stay in registers from pass to pass, one by one
/// (softmax of 18750 x 128: 0.50 ms, 0.55 abreast; of 37500 x 64 0.68, 0.52).
constexpr std::int64_t kLongestStored = 100;

class InterleavedRows {
 public:
  InterleavedRows(RowPasses& rows, int lanes, TransposedRows* turned)
      : rows_(rows), lanes_(lanes), transposed_(turned) {}

  void build(const std::function<void(Index)>& one_row) {
    each_block_of_rows(rows_, [&](Index first) { block(first); }, one_row);
  }

 private:
  void block(const Index& first) {
    rows_.context.next_row();
    if (transposed_) {
      transposed_->bring(rows_, first);
      transposed_->keep(rows_.context, first, rows_.length);
    }
    for (int pass = 0; pass <= rows_.last(); ++pass) {
      row_values(first, pass);
      const auto [reductions, wanted] = rows_.of_pass(pass);
      const std::size_t begin = rows_.b.kernel().arena.size();
      if (!reductions.empty() || !wanted.empty()) run_pass(first, reductions, wanted);
      if (pass == 0 && !reductions.empty()) fetch_a_page_ahead(rows_.b.kernel(), begin);
      if (pass == rows_.last()) row_values(first, pass + 1);
    }
  }

  /// Computes the roots of one element per row that belong to this pass, as lanes.
  void row_values(const Index& first, int pass) {
    for (const Value* v : rows_.row_values(pass)) {
      rows_.b.vector(0, kInterleavedRows, kInterleavedRows, [&](Index lane) {
        row_value(v, first, lane, rows_.context.at_offset(v, first + lane));
      });
      rows_.context.keep(v, rows_.scratch(v, kInterleavedRows), first);
    }
  }
  void row_value(const Value* v, const Index& first, const Index& lane, Inst* value) {
    rows_.b.store(rows_.scratch(v, kInterleavedRows), lane, value);
    if (rows_.is_output(v)) rows_.context.store_result(v, first + lane, std::array{value});
  }

  void run_pass(const Index& first, const std::vector<const Op*>& reductions,
                const std::vector<const Value*>& wanted) {
    loop::Builder& b = rows_.b;
    const Index origin = first * rows_.length;
    const RowPasses::Targets targets = rows_.targets_of(wanted, kInterleavedRows * rows_.length);
    std::vector<loop::Ref*> parts;
    for (const Op* op : reductions)
      parts.push_back(b.scratch(accumulator(op->operand(0)->dtype()), kInterleavedRows * kLanes));
    b.for_(0, kInterleavedRows, 1, [&](Index i) {
      const Index base = (first + i) * rows_.length;
      if (reductions.empty())
        return b.vector(0, rows_.length, lanes_,
                        [&](Index j) { rows_.store_targets(targets, base, origin, j); });
      std::vector<LaneTotals> lanes;
      for (const Op* op : reductions)
        lanes.emplace_back(b, reduction_of(*op).combiner, op->operand(0)->dtype(), kLanes);
      b.vector(0, rows_.length, kLanes, [&](Index j) {
        for (std::size_t n = 0; n < reductions.size(); ++n)
          lanes[n].add(rows_.context.at_offset(reductions[n]->operand(0), base + j));
        rows_.store_targets(targets, base, origin, j);
      });
      b.vector(0, kLanes, kLanes, [&](Index lane) {
        for (std::size_t n = 0; n < reductions.size(); ++n)
          b.store(parts[n], i * kLanes + lane, lanes[n].lane_totals());
      });
    });
    for (std::size_t n = 0; n < reductions.size(); ++n) {
      const Op& op = *reductions[n];
      b.vector(0, kInterleavedRows, kInterleavedRows,
               [&](Index lane) { row_value(op.result(), first, lane, total(op, parts[n], lane)); });
      rows_.context.keep(op.result(), rows_.scratch(op.result(), kInterleavedRows), first);
    }
    rows_.keep_targets(targets, origin);
  }

  /// Of `part`, where row i's lanes begin at i * 32: their total, of row `lane`, in the order in
  /// which the lanes of one row are combined.
  Inst* total(const Op& op, loop::Ref* part, const Index& lane) {
    loop::Builder& b = rows_.b;
    const DType dtype = op.operand(0)->dtype();
    const op::Combiner combiner = reduction_of(op).combiner;
    const loop::Opcode code = op::opcode(combiner, dtype);
    std::vector<Inst*> lanes;
    for (std::int64_t i = 0; i < kInterleavedRows; ++i)
      lanes.push_back(b.binary(code, b.load(part, lane + i * kLanes),
                               b.load(part, lane + (i * kLanes + kLanes / 2))));
    Inst* all = b.binary(code, neutral(b, combiner, dtype),
                         by_halves(b, code, loop::transposed(b, std::move(lanes))));
    return finished(
        b, op, rows_.context.at(op.operand(static_cast<int>(op.operands.size()) / 2), {}), all);
  }

  RowPasses& rows_;
  const int lanes_;
  TransposedRows* const transposed_;
};

}  // namespace

bool can_interleave_rows(const RowPasses& rows) {
  if (rows.length < kShortest || rows.length > kLongest || rows.rows < 4 * kInterleavedRows)
    return false;
  int sums = 0, extrema = 0;
  bool stores_wide = false, halves = false;
  for (const Op* op : rows.group.roots) {
    for (const Value* v : op->results()) {
      if (is_complex(v->dtype())) return false;
      stores_wide |=
          count(v) == rows.group.total && rows.is_output(v) && byte_width(v->dtype()) > 2;
      halves |= count(v) == rows.group.total && rows.is_output(v) && byte_width(v->dtype()) == 2;
    }
    if (!is_reduction(*op)) continue;
    const DType dtype = op->operand(0)->dtype();
    const op::Combiner combiner = reduction_of(*op).combiner;
    if (byte_width(accumulator(dtype)) > 4) return false;
    (is_float(dtype) && (combiner == op::Combiner::min || combiner == op::Combiner::max) ? extrema
                                                                                         : sums) +=
        1;
  }
  if (stores_wide && rows.length > kLongestStored) return false;
  return extrema > 0 || sums > 1 ||
         (sums > 0 && halves);  // one sum's lanes are soon brought together
}

void build_interleaved_rows(RowPasses& rows, int lanes, TransposedRows* turned,
                            const std::function<void(Index)>& one_row) {
  InterleavedRows(rows, lanes, turned).build(one_row);
}

}  // namespace strata::compile
