#include "strata/compile/kernel/gemm/gemm_kernel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "strata/compile/kernel/conv/conv_kernel.h"
#include "strata/compile/kernel/dot/amx_gemm.h"
#include "strata/compile/kernel/dot/batch_vectorized_dot.h"
#include "strata/compile/kernel/dot/batched_vector_dot.h"
#include "strata/compile/kernel/dot/gemm_kind.h"
#include "strata/compile/kernel/dot/gemv.h"
#include "strata/compile/kernel/dot/narrow_gemm.h"
#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_block_sparsity.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/gemm/gemm_packing.h"
#include "strata/compile/kernel/gemm/gemm_prefetch.h"
#include "strata/compile/kernel/gemm/gemm_tiling.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

class Product {
 public:
  Product(const Group& group, const op::Contraction& c, const Fusion& fusion,
          const CpuTarget& target)
      : plan_(group, c, fusion, target),
        group_(group),
        fusion_(fusion),
        value_(group.gemm_value()) {
    built_.kernel = std::make_unique<loop::Kernel>("gemm");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<GemmOutput>(*builder_, group, fusion, built_);
    if (plan_.keep_in_caches) context_->keep_in_caches();
    if (!plan_.swapped)
      context_->fetch_ahead(plan_.row_major_tiles ? plan_.tile.lanes : plan_.tile.rows * plan_.n);
  }

  Built build() {
    Built out;
    if (plan_.rhs_prepacked) out.kernels.push_back(lay_out(plan_.rhs, plan_.n, laid_right_, out));
    if (plan_.lhs_prepacked) out.kernels.push_back(lay_out(plan_.lhs, plan_.m, laid_left_, out));
    loop::Builder& b = *builder_;
    const std::int64_t row_blocks = plan_.row_blocks(), column_blocks = plan_.column_blocks();
    built_.kernel->grid = plan_.batch * row_blocks * column_blocks;
    built_.parallel = plan_.is_parallel();
    if (plan_.parts() > 1 &&
        (parts_type_ != value_->dtype() || group_.epilogue > 0 || context_->streams_results()))
      sums_ = b.scratch(parts_type_, plan_.mc * plan_.padded(plan_.nc));
    if (context_->loops_over_rows()) done_ = b.scratch(acc_, plan_.tile.rows * plan_.tile.lanes);
    Index point = b.grid();
    batch_at_ = b.div(point, column_blocks * row_blocks);
    rows_ = {b.mod(b.div(point, column_blocks), row_blocks), plan_.m, plan_.mc, plan_.tile.rows};
    columns_ = {b.mod(point, column_blocks), plan_.n, plan_.nc, plan_.tile.lanes};
    terms_.emplace(*context_, batch_at_, acc_, plan_.kind);
    if (plan_.rhs_prepacked)
      hold_all(laid_right_, *context_, batch_at_, plan_.n, 0, loop::Ref::Mode::in);
    else if (plan_.k > 0 && plan_.pack_rhs)
      laid_right_.hold_block(
          b.scratch(terms_->dtype(), plan_.part_steps() * laid_right_.padded(plan_.nc)));
    if (plan_.lhs_prepacked)
      hold_all(laid_left_, *context_, batch_at_, plan_.m, plan_.rhs_prepacked, loop::Ref::Mode::in);
    else if (plan_.pack_lhs)
      laid_left_.hold_block(
          b.scratch(terms_->dtype(), plan_.part_steps() * laid_left_.padded(plan_.mc)));
    block();
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  void hold_all(OperandPacking& layout, KernelContext& context, const Index& batch,
                std::int64_t free, int temporary, loop::Ref::Mode mode) const {
    const std::int64_t elements = plan_.laid_out_elements(layout.padded(free));
    layout.hold_all(
        context.temporary(temporary, plan_.is(TermKind::pairs) ? DType::i32 : acc_, elements, mode),
        batch, free, plan_.all_steps(), plan_.steps(plan_.kc));
  }

  /// A kernel that lays a side out, in the next of the build's temporaries.
  BuiltKernel lay_out(const GemmOperand& side, std::int64_t free, OperandPacking layout,
                      Built& out) const {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>("pack");
    built.parallel = true;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const bool columns = &side == &plan_.rhs;
    const std::int64_t parts = plan_.parts(), depth = plan_.kc;
    const std::int64_t tile = layout.width(), tiles = layout.padded(free) / tile;
    std::int64_t block = std::min<std::int64_t>(tiles, (256 + tile - 1) / tile);
    while (block > 4 && plan_.batch * parts * ((tiles + block - 1) / block) < 16)
      block = (block + 1) / 2;
    const std::int64_t blocks = (tiles + block - 1) / block, whole = plan_.k / depth,
                       tail = plan_.k % depth;
    built.kernel->grid = plan_.batch * parts * blocks;
    const Index point = b.grid(), batch = b.div(point, blocks * parts),
                number = b.mod(b.div(point, blocks), parts);
    const GemmAxis axis{b.mod(point, blocks), free, blocks == 1 ? free : block * tile, tile};
    const GemmTerms terms(context, batch, acc_, plan_.kind);
    hold_all(layout, context, batch, free, static_cast<int>(out.temporaries.size()),
             loop::Ref::Mode::out);
    out.temporaries.push_back(plan_.laid_out_elements(layout.padded(free)) *
                              static_cast<std::int64_t>(byte_width(terms.dtype())));
    auto fill = [&](const KSlice& part) {
      columns ? layout.fill_columns(b, terms, side, axis, part)
              : layout.fill_rows(b, terms, side, axis, part);
    };
    auto fill_whole = [&](const Index& at) { fill({at, at * depth, depth, parts}); };
    auto fill_tail = [&] { fill({whole, whole * depth, tail, parts}); };
    if (whole == 0)
      fill_tail();
    else if (tail == 0)
      fill_whole(number);
    else
      b.if_(
          b.less(number, whole),
          [&] {
            fill_whole(b.index_of(
                b.binary(Opcode::min, b.value(number), b.constant_int(DType::i64, whole - 1)), 0,
                whole - 1));
          },
          fill_tail);
    return built;
  }

  void each_tile(const GemmAxis& axis, const std::function<void(const GemmAxisRange&)>& body) {
    compile::each_tile(*builder_, axis, body);
  }

  /// All of k for one block, in parts; a shorter last one is code of its own.
  void block() {
    const std::int64_t k = plan_.k, depth = plan_.kc;
    if (k <= depth) return plan_.band ? banded_block() : part({0, 0, k, 1});
    const std::int64_t whole = k / depth, tail = k % depth, parts = plan_.parts();
    builder_->for_(0, whole, 1, [&](Index i) { part({i, i * depth, depth, parts}); });
    if (tail) part({whole, whole * depth, tail, parts});
  }

  void part(const KSlice& p) {
    if (laid_right_.memory() && !plan_.rhs_prepacked)
      laid_right_.fill_columns(*builder_, *terms_, plan_.rhs, columns_, p);
    if (laid_left_.memory() && !plan_.lhs_prepacked)
      laid_left_.fill_rows(*builder_, *terms_, plan_.lhs, rows_, p);
    note_next(p);
    if (plan_.lhs.flips) each_tile(columns_, [&](const GemmAxisRange& n) { sum_column(n, p); });
    auto compute = [&](const GemmAxisRange& m, const GemmAxisRange& n) {
      plan_.transpose_in_registers ? transposed_tile(m, n, p)
      : plan_.band&& p.parts == 1  ? banded_tile(m, n, p)
                                   : tile(m, n, p);
    };
    if (plan_.row_major_tiles)
      each_tile(rows_, [&](const GemmAxisRange& m) {
        each_tile(columns_, [&](const GemmAxisRange& n) { compute(m, n); });
      });
    else
      each_tile(columns_, [&](const GemmAxisRange& n) {
        each_tile(rows_, [&](const GemmAxisRange& m) { compute(m, n); });
      });
  }

  // ---- bytes of one sign
  /// What the other signs of the left side change in a column's sums, the same in all rows: (a +
  /// 128) b is 128 b more than a b.
  void sum_column(const GemmAxisRange& n, const KSlice& p) {
    loop::Builder& b = *builder_;
    if (!shift_) shift_ = b.scratch(DType::i32, plan_.padded(plan_.nc));
    const bool is_signed = plan_.lhs.value->dtype() == DType::i8;
    Inst* ones = b.constant_int(DType::i32, 0x01010101);
    b.vector(0, n.length, plan_.tile.lanes, [&](Index x) {
      Inst* sum = b.local(b.constant_int(DType::i32, 0), plan_.tile.lanes);
      b.for_(0, plan_.steps(p.kc), 1, [&](Index s) {
        Inst* rhs = load_right(n, x, s, p);
        b.set(sum, is_signed ? b.dot4(b.get(sum), ones, rhs) : b.dot4(b.get(sum), rhs, ones));
      });
      b.store(
          shift_, n.local + x,
          b.binary(Opcode::mul, b.get(sum), b.constant_int(DType::i32, is_signed ? -128 : 128)));
    });
  }
  Inst* add_gemm(Inst* lhs, Inst* rhs, Inst* sum) const {
    const bool right_is_unsigned =
        plan_.is(TermKind::quads) && plan_.rhs.value->dtype() == DType::ui8;
    return multiply_add(*builder_, plan_.kind, acc_, right_is_unsigned ? rhs : lhs,
                        right_is_unsigned ? lhs : rhs, sum);
  }

  // ---- what is laid out next (gemm_prefetch.h)
  struct Next {
    OperandPrefetch side;
    loop::Ref* memory;
    Index begin;
  };

  /// What is fetched while the tiles of a part are computed: the next part of the block, or the
  /// first one of the next block, which mostly is this thread's (base/thread_pool.h).
  void note_next(const KSlice& p) {
    next_.clear();
    if (plan_.is(TermKind::halves) || plan_.is(TermKind::quads) || plan_.transpose_in_registers ||
        p.kc == 0)
      return;
    loop::Builder& b = *builder_;
    const Index there = b.grid() + 1;
    Inst* stays = p.parts > 1 ? b.less(p.number, p.parts - 1) : nullptr;
    auto next = [&](const Index& here, const Index& in_other, std::int64_t most) {
      return stays ? b.index_of(b.select(stays, b.value(here), b.value(in_other)), 0, most)
                   : in_other;
    };
    auto note = [&](const GemmOperand& side, const GemmAxis& axis, const Index& in_other) {
      auto found =
          OperandPrefetch::of(side, fusion_, axis.block, plan_.row_tiles() * plan_.column_tiles(),
                              turn(p) * per_step(plan_.kind));
      if (!found) return;
      const Index batch = next(batch_at_, b.div(there, rows_.blocks() * columns_.blocks()),
                               plan_.batch),
                  block = next(axis.at, in_other, axis.blocks() - 1);
      const Index k = stays ? next(p.k0 + p.kc, 0, plan_.k) : Index(0);
      next_.push_back(
          {*found, context_->input(found->array()), found->begin(b, batch, block * axis.block, k)});
    };
    if (laid_left_.memory() ? !plan_.lhs_prepacked : !plan_.lhs.contracts_minor())
      note(plan_.lhs, rows_, b.mod(b.div(there, columns_.blocks()), rows_.blocks()));
    if (laid_right_.memory() && !plan_.rhs_prepacked)
      note(plan_.rhs, columns_, b.mod(there, columns_.blocks()));
  }

  // ---- a band of needed elements (gemm_mask_band.h)
  void banded_block() {
    loop::Builder& b = *builder_;
    Inst* needed =
        plan_.band->meets(b, rows_.begin(), by_block(b, rows_, rows_.block, rows_.last()),
                          columns_.begin(), by_block(b, columns_, columns_.block, columns_.last()));
    b.if_(
        needed, [&] { part({0, 0, plan_.k, 1}); },
        [&] {
          each_tile(columns_, [&](const GemmAxisRange& n) {
            each_tile(rows_, [&](const GemmAxisRange& m) { put_zeros(m, n); });
          });
        });
  }
  void banded_tile(const GemmAxisRange& m, const GemmAxisRange& n, const KSlice& p) {
    loop::Builder& b = *builder_;
    b.if_(
        plan_.band->meets(b, m.place, m.length, n.place, n.length), [&] { tile(m, n, p); },
        [&] { put_zeros(m, n); });
  }
  /// And what follows from zeros, where the product has an epilogue.
  void put_zeros(const GemmAxisRange& m, const GemmAxisRange& n) {
    loop::Builder& b = *builder_;
    b.vector(0, n.length, plan_.tile.lanes, [&](Index x) {
      b.for_(0, m.length, 1,
             [&](Index r) { store(m.place + r, n.place + x, b.constant(acc_, 0.0)); });
    });
  }

  Inst* load_left(const GemmAxisRange& m, const Index& r, const Index& s, const KSlice& p) {
    return builder_->load(laid_left_.memory(), laid_left_.at(m, r, s, p, plan_.steps(p.kc)));
  }
  Inst* load_right(const GemmAxisRange& n, const Index& x, const Index& s, const KSlice& p) {
    return builder_->load(laid_right_.memory(), laid_right_.at(n, x, s, p, plan_.steps(p.kc)));
  }
  /// The left element(s) of row r of the tile at m, at step s.
  Inst* lhs(const GemmAxisRange& m, const Index& r, const KSlice& p, const Index& s) {
    return laid_left_.memory() ? load_left(m, r, s, p) : terms_->at(plan_.lhs, m.place + r, p, s);
  }

  /// Whether a tile looks which terms of this part are zeros (gemm_block_sparsity.h).
  bool looks(const KSlice& p) const {
    const std::int64_t count = plan_.steps(p.kc);
    return !plan_.chains &&
           (plan_.lhs_is_sparse || (plan_.rhs_is_sparse && laid_right_.memory())) &&
           !(plan_.is(TermKind::pairs) && (p.kc % 2 != 0 || given_sums(plan_.product))) &&
           is_float(acc_) && count % kSparseBlockSteps == 0 && count >= 4 * kSparseBlockSteps;
  }
  SparseTileRange terms_of(const GemmAxisRange& m, const GemmAxisRange& n, const KSlice& p) {
    return {.lhs = [&](const Index& r, const Index& s) { return lhs(m, r, p, s); },
            .rhs = [&](const Index& x, const Index& s) { return load_right(n, x, s, p); },
            .rows = m.length,
            .columns = n.length,
            .lanes = plan_.tile.lanes,
            .rows_are_neighbours =
                laid_left_.memory() ? !laid_left_.by_rows() : !plan_.lhs.contracts_minor()};
  }

  /// Steps of the sum whose code is written out.
  std::int64_t turn(const KSlice& p) const {
    std::int64_t count = plan_.steps(p.kc);
    if (plan_.chains)
      count = std::gcd(plan_.steps(plan_.chains->chain), plan_.steps(p.kc % plan_.chains->chain));
    return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
  }

  void tile(const GemmAxisRange& m, const GemmAxisRange& n, const KSlice& p) {
    loop::Builder& b = *builder_;
    const std::int64_t count = p.kc ? plan_.steps(p.kc) : 0;
    const std::int64_t unroll = turn(p);
    const Index row_tile = b.div(m.local, plan_.tile.rows),
                column_tile = b.div(n.local, plan_.tile.lanes);
    const Index number = plan_.row_major_tiles ? row_tile * plan_.column_tiles() + column_tile
                                               : column_tile * plan_.row_tiles() + row_tile;
    Index first = 0, last = count / unroll;
    if (looks(p)) {
      std::tie(first, last) = steps_with_terms(b, terms_of(m, n, p), plan_.lhs_is_sparse,
                                               terms_->dtype(), count / kSparseBlockSteps);
      first = first * (kSparseBlockSteps / unroll), last = last * (kSparseBlockSteps / unroll);
    }
    b.vector(0, n.length, plan_.tile.lanes, [&](Index x) {
      std::vector<Inst*> sums;
      auto begin = [&](std::int64_t r) { return initial(m.place + r, n.place + x); };
      const bool given = given_sums(plan_.product) != nullptr;
      for (std::int64_t r = 0; r < m.length; ++r)
        sums.push_back(
            b.local(given && p.parts == 1 ? begin(r) : b.constant(acc_, 0.0), plan_.tile.lanes));
      auto each_set = [&](const std::function<Inst*(std::int64_t)>& value) {
        for (std::int64_t r = 0; r < m.length; ++r)
          b.set(sums[static_cast<std::size_t>(r)], value(r));
      };
      auto go_on = [&] { each_set([&](std::int64_t r) { return previous(m, r, n, x); }); };
      if (p.parts > 1 && given) b.if_(b.less(0, p.number), go_on, [&] { each_set(begin); });
      if (p.parts > 1 && !given && !plan_.chains) b.if_(b.less(0, p.number), go_on);
      if (shift_) {
        Inst* shift = b.load(shift_, n.local + x);
        each_set([&](std::int64_t r) {
          return b.binary(Opcode::add, b.get(sums[static_cast<std::size_t>(r)]), shift);
        });
      }
      auto step = [&](Index s) {
        Inst* rhs =
            plan_.pack_rhs ? load_right(n, x, s, p) : terms_->at(plan_.rhs, n.place + x, p, s);
        for (std::int64_t r = 0; r < m.length; ++r) {
          Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
          b.set(sums[static_cast<std::size_t>(r)], add_gemm(lhs(m, r, p, s), rhs, sum));
        }
      };
      auto steps = [&](const Index& begin, const Index& end) {
        b.for_(begin, end, 1, [&](Index i) {
          for (std::int64_t u = 0; u < unroll; ++u) step(i * unroll + u);
          for (const Next& next : next_) next.side.fetch(b, next.memory, next.begin, number, i);
        });
      };
      if (count && plan_.chains) {
        accumulate_chains(b, *plan_.chains, sums, plan_.tile.lanes, plan_.kind, p.kc,
                          [&](const Index& s, std::int64_t n) {
                            const Index begin = b.div(s, unroll);
                            steps(begin, begin + plan_.steps(n) / unroll);
                          });
        if (parts_type_ != acc_ && p.parts > 1)
          for (Inst*& sum : sums)
            sum = b.local(b.convert(parts_type_, b.get(sum)), plan_.tile.lanes);
        if (p.parts > 1)
          b.if_(b.less(0, p.number), [&] {
            each_set([&](std::int64_t r) {
              return b.binary(Opcode::add, previous(m, r, n, x),
                              b.get(sums[static_cast<std::size_t>(r)]));
            });
          });
      } else if (count) {
        steps(first, last);
      }
      auto each_sum = [&](const std::function<void(std::int64_t, Inst*)>& store) {
        for (std::int64_t r = 0; r < m.length; ++r)
          store(r, b.get(sums[static_cast<std::size_t>(r)]));
      };
      auto finish = [&] {
        auto store_row = [&](const Index& row, Inst* sum) {
          store(m.place + row, n.place + x, b.convert(acc_, sum));
        };
        if (!done_ || m.length == 1) return each_sum(store_row);
        each_sum([&](std::int64_t r, Inst* sum) {
          b.store(done_, Index(r * plan_.tile.lanes) + x, b.convert(acc_, sum));
        });
        b.for_(0, m.length, 1,
               [&](Index r) { store_row(r, b.load(done_, r * plan_.tile.lanes + x)); });
      };
      if (!sums_) return finish();
      b.if_(
          b.less(p.number, p.parts - 1),
          [&] {
            each_sum([&](std::int64_t r, Inst* sum) { b.store(sums_, sum_at(m, r, n, x), sum); });
          },
          finish);
    });
  }

  /// A row of results by squares of the right side; columns that fill no square as others do.
  void transposed_tile(const GemmAxisRange& m, const GemmAxisRange& n, const KSlice& p) {
    const GemvRow row{
        .accumulator = acc_,
        .lhs = [&](const Index& s) { return lhs(m, 0, p, s); },
        .chains = plan_.chains,
        .initial = [&](const Index& column) { return initial(m.place, column); },
        .store = [&](const Index& column, Inst* sum) { store(m.place, column, sum); }};
    const std::int64_t done = gemv_columns(*builder_, *terms_, plan_.rhs, n, p, row);
    if (done < n.length) tile(m, {n.local + done, n.place + done, n.length - done}, p);
  }

  /// What a chain begins from: zero, or the sum that the operation was given.
  Inst* initial(Index m, Index n) {
    const Value* sums = given_sums(plan_.product);
    if (!sums) return builder_->constant(acc_, 0.0);
    return context_->beside(sums, gemm_offset(m, n));
  }
  Index sum_at(const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n, Index x) const {
    return (m.local + r) * plan_.padded(plan_.nc) + n.local + x;
  }
  /// What the parts before this one have summed.
  Inst* previous(const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n, Index x) {
    if (sums_) return builder_->load(sums_, sum_at(m, r, n, x));
    return builder_->load(context_->output(value_), result_offset(m.place + r, n.place + x));
  }
  void store(const Index& m, const Index& n, Inst* sum) {
    context_->store(gemm_offset(m, n), n, sum);
  }
  Index gemm_offset(Index m, Index n) const {
    return plan_.swapped ? (batch_at_ * plan_.n + n) * plan_.m + m
                         : (batch_at_ * plan_.m + m) * plan_.n + n;
  }
  Index result_offset(Index m, Index n) {
    return output_offset(*builder_, group_.moves(), gemm_offset(m, n), n);
  }

  const GemmTiling plan_;
  const Group& group_;
  const Fusion& fusion_;
  const Value* value_;
  const DType acc_ = plan_.accumulator,
              parts_type_ = plan_.chains && plan_.chains->wide ? op::pieces_type(acc_) : acc_;
  GemmAxis rows_, columns_;
  Index batch_at_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<GemmOutput> context_;
  loop::Ref *sums_ = nullptr, *done_ = nullptr, *shift_ = nullptr;
  std::optional<GemmTerms> terms_;
  std::vector<Next> next_;
  // Of a side that is not laid out there is no memory.
  OperandPacking laid_left_{plan_.tile.rows,
                            !plan_.is(TermKind::pairs) && plan_.lhs.contracts_minor()},
      laid_right_{plan_.tile.lanes, false};
};

}  // namespace

Built build_gemm(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& op = *group.roots.front();
  if (op.result()->shape().count() == 0) return {};
  if (!given_sums(op) && is_narrow(op)) return build_narrow_gemm(group, fusion);
  if (!given_sums(op) && is_conv(op, fusion)) return build_conv(group, fusion, target);
  op::Contraction c = op::contraction_of(op);
  if (is_batch_vectorized_dot(op)) return build_batch_vectorized_dot(group, c, fusion, target);
  if (is_amx_gemm(op, c, target)) return build_amx_gemm(group, c, fusion);
  if (is_batched_vector_dot(op, c)) return build_batched_vector_dot(group, c, fusion, target);
  return Product(group, c, fusion, target).build();
}

}  // namespace strata::compile
