#include "strata/compile/kernel/dot/batched_vector_dot.h"

#include <algorithm>
#include <optional>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_axis.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/gemm/gemm_packing.h"
#include "strata/compile/kernel/gemm/gemm_row_staging.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/loop/lanes.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr int kLanes =
    loop::kQuickSquare;  // more rows at once are more places of memory than it is fast at

/// Of which the batch is what is free, in the result's order.
GemmOperand side(const Value* v, const std::vector<int>& batch, const std::vector<int>& contract,
                 const Fusion& fusion) {
  GemmOperand out(v, {}, contract);
  std::vector<int> ones;
  for (int d : out.free)
    if (std::find(batch.begin(), batch.end(), d) == batch.end()) ones.push_back(d);
  out.free = batch;
  out.free.insert(out.free.end(), ones.begin(), ones.end());
  out.minor = minor_dimension(v, fusion);
  return out;
}

class RowDots {
 public:
  RowDots(const Group& group, const op::Contraction& c, const Fusion& fusion,
          const CpuTarget& target)
      : op_(*group.roots.front()),
        left_(side(op_.operand(0), c.lhs_batch, c.lhs_contract, fusion)),
        right_(side(op_.operand(1), c.rhs_batch, c.rhs_contract, fusion)),
        acc_(op::product_accumulator(op_)),
        kind_(sums_bf16_pairs(op_, target) ? TermKind::pairs : TermKind::single) {
    elements_ = left_.size(left_.free);
    k_ = left_.size(left_.contract);
    built_.kernel = std::make_unique<loop::Kernel>("batched_vector_dot");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<GemmOutput>(*builder_, group, fusion, built_);
  }

  Built build() {
    constexpr std::int64_t kPointTerms = 16 << 10;
    loop::Builder& b = *builder_;
    const std::int64_t tiles = (elements_ + kLanes - 1) / kLanes,
                       most = std::max<std::int64_t>(1, kPointTerms / (kLanes * k_));
    const std::int64_t block = std::min(tiles, most) * kLanes;
    built_.kernel->grid = (elements_ + block - 1) / block;
    built_.parallel = static_cast<double>(elements_) * static_cast<double>(k_) * 4 > kInlineWork;
    terms_.emplace(*context_, 0, acc_, kind_);
    each_tile(b, {b.grid(), elements_, std::min(block, elements_), kLanes},
              [&](const GemmAxisRange& piece) {
                if (piece.length < kLanes) return few(piece);
                sums(piece.place,
                     [&](Inst* sum, const Index& lane) { store(piece.place + lane, sum); });
              });
    Built out;
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  void store(const Index& place, Inst* sum) { context_->store(place, place, sum); }

  /// The last few elements of the batch: those before them, or the last one where there are none,
  /// are computed again and not stored.
  void few(const GemmAxisRange& piece) {
    loop::Builder& b = *builder_;
    const std::int64_t before = std::min(elements_, std::int64_t{kLanes}) - piece.length;
    loop::Ref* all = b.scratch(acc_, kLanes);
    sums(piece.place - before, [&](Inst* sum, const Index& lane) { b.store(all, lane, sum); });
    b.vector(0, piece.length, kLanes,
             [&](Index lane) { store(piece.place + lane, b.load(all, lane + before)); });
  }

  /// `done` with the sums of the kLanes elements from `place` on.
  void sums(const Index& place, const std::function<void(Inst*, const Index&)>& done) {
    loop::Builder& b = *builder_;
    const std::int64_t steps = terms_->steps(k_),
                       whole_steps = kind_ == TermKind::pairs ? k_ / 2 : k_,
                       squares = whole_steps / kLanes;
    const KSlice all{0, 0, k_, 1};
    loop::Ref *left_rows = stage_rows(b, *terms_, left_, place, kLanes, all),
              *right_rows = stage_rows(b, *terms_, right_, place, kLanes, all);
    b.vector(0, kLanes, kLanes, [&](Index lane) {
      Inst* sum = b.local(b.constant(acc_, 0.0), kLanes);
      auto add = [&](Inst* x, Inst* y) {
        b.set(sum, multiply_add(b, kind_, acc_, x, y, b.get(sum)));
      };
      auto step = [&](const GemmOperand& side, const Index& s, bool odd_end) {
        return terms_->at(side,
                          elements_ < kLanes
                              ? b.index_of(b.binary(Opcode::min, b.value(lane),
                                                    b.constant_int(DType::i64, elements_ - 1)),
                                           0, elements_ - 1)
                              : place + lane,
                          all, s, odd_end);
      };
      auto along = [&](const GemmOperand& side, std::int64_t i, const Index& s) {
        return terms_->at(side, place + std::min(i, elements_ - 1), all, s);
      };
      auto square = [&](const GemmOperand& side, loop::Ref* rows, const Index& s) {
        std::vector<Inst*> out;
        for (std::int64_t i = 0; i < kLanes; ++i)
          out.push_back(rows                     ? b.load(rows, s + i * k_ + lane)
                        : side.contracts_minor() ? along(side, i, s + lane)
                                                 : step(side, s + i, false));
        return side.contracts_minor() ? loop::transposed(b, out) : out;
      };
      auto add_transpose_tile = [&](const Index& s) {
        const std::vector<Inst*> x = square(left_, left_rows, s), y = square(right_, right_rows, s);
        for (std::size_t at = 0; at < x.size(); ++at) add(x[at], y[at]);
      };
      if (const auto chains = op::sum_chains(op_)) {
        accumulate_chains(
            b, *chains, {sum}, kLanes, kind_, k_, [&](const Index& first, std::int64_t n) {
              const std::int64_t whole = kind_ == TermKind::pairs ? n / 2 : n;
              for (std::int64_t s = 0; s + kLanes <= whole; s += kLanes)
                add_transpose_tile(first + s);
              for (std::int64_t s = whole / kLanes * kLanes; s < terms_->steps(n); ++s)
                add(step(left_, first + s, s >= whole), step(right_, first + s, s >= whole));
            });
        return done(b.get(sum), lane);
      }
      const std::int64_t line = squares % 2 == 0 ? 2 : 1;
      b.for_(0, squares / line, 1, [&](Index i) {
        for (std::int64_t q = 0; q < line; ++q) add_transpose_tile((i * line + q) * kLanes);
      });
      for (std::int64_t s = squares * kLanes; s < steps; ++s)
        add(step(left_, s, s >= whole_steps), step(right_, s, s >= whole_steps));
      done(b.get(sum), lane);
    });
  }

  const Op& op_;
  GemmOperand left_, right_;
  DType acc_;
  TermKind kind_;
  std::int64_t elements_ = 1, k_ = 1;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<GemmOutput> context_;
  std::optional<GemmTerms> terms_;
};

}  // namespace

bool is_batched_vector_dot(const Op& product, const op::Contraction& c) {
  constexpr std::int64_t kFewest = 2;
  if (given_sums(product)) return false;
  const GemmOperand lhs(product.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(product.operand(1), c.rhs_batch, c.rhs_contract);
  return lhs.size(lhs.free) == 1 && rhs.size(rhs.free) == 1 && lhs.size(lhs.batch) >= kFewest &&
         lhs.size(lhs.contract) > 0;
}

Built build_batched_vector_dot(const Group& group, const op::Contraction& c, const Fusion& fusion,
                               const CpuTarget& target) {
  return RowDots(group, c, fusion, target).build();
}

}  // namespace strata::compile
