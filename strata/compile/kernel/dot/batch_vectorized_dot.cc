#include "strata/compile/kernel/dot/batch_vectorized_dot.h"

#include <algorithm>
#include <optional>

#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/loop/pieces.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

/// The batch and what is free as one: rows or columns, then the batch.
GemmOperand with_batch(const Value* v, const std::vector<int>& batch,
                       const std::vector<int>& contract) {
  GemmOperand out(v, {}, contract);
  std::erase_if(out.free,
                [&](int d) { return std::find(batch.begin(), batch.end(), d) != batch.end(); });
  out.free.insert(out.free.end(), batch.begin(), batch.end());
  return out;
}

class BatchVectorizedDot {
 public:
  BatchVectorizedDot(const Group& group, const op::Contraction& c, const Fusion& fusion,
                     const CpuTarget& target)
      : op_(*group.roots.front()),
        left_(with_batch(op_.operand(0), c.lhs_batch, c.lhs_contract)),
        right_(with_batch(op_.operand(1), c.rhs_batch, c.rhs_contract)),
        acc_(op::product_accumulator(op_)),
        kind_(sums_bf16_pairs(op_, target) ? TermKind::pairs : TermKind::single) {
    const Shape& shape = op_.operand(0)->shape();
    const auto q = static_cast<std::size_t>(minor_batch_dim(op_, c));
    for (std::size_t i = 0; i < c.lhs_batch.size(); ++i)
      (i < q ? before_ : i > q ? behind_ : batch_) *= shape[c.lhs_batch[i]];
    const std::int64_t all = before_ * batch_ * behind_;
    m_ = left_.size(left_.free) / all;
    n_ = right_.size(right_.free) / all;
    k_ = left_.size(left_.contract);
    choose_strips();
    built_.kernel = std::make_unique<loop::Kernel>("batch_vectorized_dot");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<GemmOutput>(*builder_, group, fusion, built_);
  }

  Built build() {
    loop::Builder& b = *builder_;
    const std::int64_t width = vectors_ * kBatchLanes,
                       strips = batch_ / width + (batch_ % width ? 1 : 0);
    built_.kernel->grid = before_ * behind_ * strips;
    built_.parallel =
        2.0 * static_cast<double>(before_ * behind_ * batch_) * static_cast<double>(m_ * n_ * k_) >
        kInlineWork;
    terms_.emplace(*context_, 0, acc_, kind_);
    const Index strip = b.mod(b.grid(), strips), others = b.div(b.grid(), strips);
    outer_ = b.div(others, behind_);
    inner_ = b.mod(others, behind_);
    if (batch_ % width == 0) {
      whole(strip * width, vectors_);
    } else if (strips == 1) {
      part(0, batch_);
    } else {
      b.if_(
          b.less(strip, strips - 1), [&] { whole(strip * width, vectors_); },
          [&] { part((strips - 1) * width, batch_ % width); });
    }
    Built out;
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  /// Of one result a lane, of many terms, sums wait in the first cache while memory is read in
  /// pieces of 1 or 2 KB (columns' dots of 4096 x 1024 f32, Zen 3, two threads: 1.7 ms by strips of
  /// 128 lanes, 1.2 in pieces of 1 KB, 0.96 of 2 KB). Otherwise as many accumulators as registers:
  /// vectors side by side where a strip has a result or two, which are longer pieces of memory,
  /// else rows and columns; and strips enough for the threads.
  void choose_strips() {
    constexpr std::int64_t kSums = 16, kPoints = 8, kLongPiece = 32, kFewPoints = 4,
                           kManyTerms = 64;
    columns_ = std::min<std::int64_t>(n_, m_ == 1 ? 8 : 4);
    rows_ = std::min(m_, std::max<std::int64_t>(1, kSums / columns_ / (columns_ == 1 ? 2 : 1)));
    vectors_ = std::clamp<std::int64_t>(kSums / (rows_ * columns_), 1, 8);
    const auto far = [](const GemmOperand& side) {
      return side.value->type().bytes() >= kBeyondL2;
    };
    const auto fits = [&](std::int64_t vectors, std::int64_t points) {
      return vectors * kBatchLanes <= batch_ &&
             before_ * behind_ * batch_ >= points * vectors * kBatchLanes;
    };
    waits_ = m_ * n_ == 1 && behind_ == 1 && !op::sum_chains(op_) && k_ >= kManyTerms &&
             far(left_) && far(right_) && fits(kLongPiece / 2, kFewPoints);
    if (waits_)
      vectors_ = fits(kLongPiece, kFewPoints) ? kLongPiece : kLongPiece / 2;
    else
      while (vectors_ > 1 && !fits(vectors_, kPoints)) vectors_ /= 2;
  }

  /// Lanes from `first` on: whole vectors, then those that are left, at most one of them shorter.
  void whole(const Index& first, std::int64_t vectors) {
    waits_ ? one_sum(first, vectors * kBatchLanes) : all_tiles(first, vectors, kBatchLanes);
  }
  void part(const Index& first, std::int64_t length) {
    if (waits_) return one_sum(first, length);
    if (length >= kBatchLanes) whole(first, length / kBatchLanes);
    if (length % kBatchLanes)
      all_tiles(first + length / kBatchLanes * kBatchLanes, 1, length % kBatchLanes);
  }

  void all_tiles(const Index& first, std::int64_t vectors, std::int64_t lanes) {
    loop::Builder& b = *builder_;
    for_pieces(b, 0, m_, rows_, [&](const Index& m, std::int64_t rows) {
      for_pieces(b, 0, n_, columns_, [&](const Index& n, std::int64_t columns) {
        b.vector(0, lanes, kBatchLanes,
                 [&](Index lane) { tile(first + lane, vectors, m, rows, n, columns); });
      });
    });
  }
  /// A result a lane, of arrays that are in memory: a few terms of all lanes at a time, sums
  /// waiting in the first cache, so that memory is read in long pieces.
  void one_sum(const Index& first, std::int64_t length) {
    constexpr std::int64_t kTerms = 8;
    loop::Builder& b = *builder_;
    loop::Ref* sums = b.scratch(acc_, length);
    const std::int64_t steps = terms_->steps(k_), even = even_steps(),
                       grouped = even / kTerms * kTerms;
    b.vector(0, length, kBatchLanes, [&](Index x) { b.store(sums, x, b.constant(acc_, 0.0)); });
    auto add = [&](const Index& begin, std::int64_t count, bool odd_end) {
      b.vector(0, length, kBatchLanes, [&](Index x) {
        Inst* sum = b.load(sums, x);
        for (std::int64_t u = 0; u < count; ++u) {
          Inst *lhs = term(left_, 0, first + x, begin + u, odd_end),
               *rhs = term(right_, 0, first + x, begin + u, odd_end);
          sum = multiply_add(b, kind_, acc_, lhs, rhs, sum);
        }
        b.store(sums, x, sum);
      });
    };
    b.for_(0, grouped, kTerms, [&](Index s) { add(s, kTerms, false); });
    if (grouped < even) add(grouped, even - grouped, false);
    if (even < steps) add(even, 1, true);
    b.vector(0, length, kBatchLanes, [&](Index x) { store(first + x, 0, 0, b.load(sums, x)); });
  }

  void tile(const Index& lane, std::int64_t vectors, const Index& m, std::int64_t rows,
            const Index& n, std::int64_t columns) {
    loop::Builder& b = *builder_;
    std::vector<Inst*> sums;
    for (std::int64_t i = 0; i < rows * columns * vectors; ++i)
      sums.push_back(b.local(b.constant(acc_, 0.0), kBatchLanes));
    const std::int64_t steps = terms_->steps(k_), even = even_steps();
    auto step = [&](const Index& s, bool odd_end) {
      auto read = [&](const GemmOperand& side, std::int64_t of, const Index& free, std::int64_t v) {
        Inst* x = term(side, free, lane + v * kBatchLanes, s, odd_end);
        if (side.value->type().bytes() >= kBeyondL2 && of == 0)
          fetch_ahead(x, kStepsAhead * step_of(side));
        return x;
      };
      std::vector<Inst*> rhs;
      for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t c = 0; c < columns; ++c) rhs.push_back(read(right_, c, n + c, v));
      std::size_t at = 0;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t v = 0; v < vectors; ++v) {
          Inst* lhs = read(left_, r, m + r, v);
          for (std::int64_t c = 0; c < columns; ++c, ++at)
            b.set(sums[at],
                  multiply_add(b, kind_, acc_, lhs, rhs[static_cast<std::size_t>(v * columns + c)],
                               b.get(sums[at])));
        }
    };
    if (const auto chains = op::sum_chains(op_)) {
      accumulate_chains(b, *chains, sums, kBatchLanes, kind_, k_,
                        [&](const Index& first, std::int64_t n) {
                          const std::int64_t whole = kind_ == TermKind::pairs ? n / 2 : n;
                          b.for_(0, whole, 1, [&](Index s) { step(first + s, false); });
                          if (whole < terms_->steps(n)) step(first + whole, true);
                        });
    } else {
      b.for_(0, even, 1, [&](Index s) { step(s, false); });
      if (even < steps) step(even, true);
    }
    std::size_t at = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t c = 0; c < columns; ++c, ++at)
          store(lane + v * kBatchLanes, m + r, n + c, b.get(sums[at]));
  }

  /// Steps of the sum without the odd one at the end.
  std::int64_t even_steps() const { return kind_ == TermKind::pairs ? k_ / 2 : k_; }
  /// What row or column `free` has of a lane at a step of the sum.
  Inst* term(const GemmOperand& side, const Index& free, const Index& lane, const Index& step,
             bool odd_end) {
    return terms_->at(side, ((free * before_ + outer_) * batch_ + lane) * behind_ + inner_,
                      KSlice{0, 0, k_, 1}, step, odd_end);
  }

  static constexpr std::int64_t kStepsAhead = 8;
  /// Elements of memory from a step of the sum to the next.
  static std::int64_t step_of(const GemmOperand& side) {
    if (side.contract.empty()) return 0;
    std::int64_t out = 1;
    for (int d = side.contract.back() + 1; d < side.value->rank(); ++d)
      out *= side.value->shape()[d];
    return out;
  }

  void store(const Index& lane, const Index& m, const Index& n, Inst* sum) {
    const Index batch = (outer_ * batch_ + lane) * behind_ + inner_;
    context_->store((batch * m_ + m) * n_ + n, lane, sum);
  }

  const Op& op_;
  GemmOperand left_, right_;
  DType acc_;
  TermKind kind_;
  std::int64_t before_ = 1, batch_ = 1, behind_ = 1, m_ = 1, n_ = 1,
               k_ = 1;  // batch_: that lanes run along, among the others of the batch
  std::int64_t rows_ = 1, columns_ = 1, vectors_ = 1;  // of a tile
  bool waits_ = false;                                 // sums wait in memory
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<GemmOutput> context_;
  std::optional<GemmTerms> terms_;
  Index outer_, inner_;
};

}  // namespace

Built build_batch_vectorized_dot(const Group& group, const op::Contraction& c, const Fusion& fusion,
                                 const CpuTarget& target) {
  return BatchVectorizedDot(group, c, fusion, target).build();
}

}  // namespace strata::compile
