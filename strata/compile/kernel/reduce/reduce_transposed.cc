#include "strata/compile/kernel/reduce/reduce_transposed.h"

#include <algorithm>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reductions.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

constexpr std::int64_t kTransposeTile = loop::kQuickSquare;

class GemvColumns : public Reductions {
 public:
  GemvColumns(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size)
      : Reductions(ops, fusion, any_size), turns_(lie_along()) {
    for (std::size_t d = 1; d < split_.reduced_dims().size(); ++d)
      beside_ *= op_.operand(0)->shape()[split_.reduced_dims()[d]];
    const std::int64_t along = order_.count / beside_;
    turns_ = turns_ && along >= kShortest &&
             (beside_ == 1 ||
              (along % kTransposeTile == 0 && order_.piece % (kTransposeTile * beside_) == 0));
  }

  bool turns() const { return turns_; }

  Built build() {
    const std::int64_t outer = split_.outer(), inner = split_.inner(), chunks = order_.chunks(),
                       groups = (inner + kTransposeTile - 1) / kTransposeTile;
    const bool by_chunks = chunks > 1 && outer * groups < kManyGroups;
    const std::int64_t elements = kTransposeTile * (by_chunks ? order_.chunk : order_.count),
                       some = std::clamp<std::int64_t>(kPointElements / elements, 1, groups),
                       blocks = (groups + some - 1) / some;
    BuiltKernel& built = kernel("reduce_transposed");
    built.kernel->grid = outer * blocks * (by_chunks ? chunks : 1);
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial =
        by_chunks ? partial_results(context, outer * chunks * inner) : std::vector<loop::Ref*>();
    const std::vector<loop::Ref*> few = each_of([&](const Reduced& r, int) {
      return inner % kTransposeTile
                 ? b.scratch(by_chunks ? total_type(r) : accumulator(r.dtype), kTransposeTile)
                 : nullptr;
    });
    if (beside_ > 1)
      squares_ = each_of([&](const Reduced& r, int) {
        return b.scratch(accumulator(r.dtype), kTransposeTile * beside_ * kTransposeTile);
      });
    const Index block = b.mod(b.grid(), blocks),
                chunk = by_chunks ? b.mod(b.div(b.grid(), blocks), chunks) : Index(0),
                o = b.div(b.grid(), by_chunks ? blocks * chunks : blocks);
    auto store = [&](std::size_t i, const Index& x, Inst* total) {
      if (by_chunks) return b.store(partial[i], (o * chunks + chunk) * inner + x, total);
      b.store(context.output(all_[i].result()), o * inner + x, all_[i].finish(context, total));
    };
    /// `done` with the totals of eight columns from x on.
    auto totals_of =
        [&](const Index& x,
            const std::function<void(std::size_t i, const Index& lane, Inst* total)>& done) {
          b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) {
            std::vector<Total> totals = neutral_totals(b);
            auto add_chunk = [&](const Index& c, std::vector<Total>& into) {
              for_piece(b, c, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
                by_pieces(b, begin, length, [&](Index k, std::int64_t some) {
                  const std::vector<Inst*> sums = neutral_locals(b);
                  add_elements(context, sums, o, k, some, x, lane);
                  for (std::size_t i = 0; i < all_.size(); ++i) into[i].add(b.get(sums[i]));
                });
              });
            };
            if (by_chunks)
              add_chunk(chunk, totals);
            else
              b.for_(0, chunks, 1, [&](Index c) {
                std::vector<Total> of_chunk = neutral_totals(b);
                add_chunk(c, of_chunk);
                for (std::size_t i = 0; i < all_.size(); ++i) totals[i].add(of_chunk[i].get());
              });
            for (std::size_t i = 0; i < all_.size(); ++i)
              done(i, lane, by_chunks ? totals[i].get() : totals[i].rounded());
          });
        };
    for_piece(b, block, inner, some * kTransposeTile, [&](Index first, std::int64_t columns) {
      for_pieces(b, first, columns, kTransposeTile, [&](Index x, std::int64_t n) {
        if (n == kTransposeTile)
          return totals_of(
              x, [&](std::size_t i, const Index& lane, Inst* total) { store(i, x + lane, total); });
        // The last few: those before them are computed again and not stored.
        const std::int64_t before = kTransposeTile - n;
        totals_of(x - before, [&](std::size_t i, const Index& lane, Inst* total) {
          b.store(few[i], lane, total);
        });
        b.vector(0, n, kTransposeTile, [&](Index lane) {
          for (std::size_t i = 0; i < all_.size(); ++i)
            store(i, x + lane, b.load(few[i], lane + before));
        });
      });
    });
    if (by_chunks) combine_chunks(outer, chunks, inner);
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kShortest = 16, kManyGroups = 32;

  /// Whether neighbours along the first reduced dimension are neighbours in memory, and those along
  /// the last kept one are not.
  bool lie_along() const {
    if (any_size_ || order_.lanes != 1 || split_.inner() < kTransposeTile ||
        split_.reduced_dims().empty() || !are_alike())
      return false;
    const ir::Value* v = op_.operand(0);
    if (std::any_of(all_.begin(), all_.end(),
                    [](const Reduced& r) { return is_bool(r.dtype) || is_complex(r.dtype); }))
      return false;
    int last = v->rank() - 1;
    while (last > 0 && v->shape()[last] == 1) --last;
    const std::vector<std::int64_t> strides = strides_of_largest(v, fusion_);
    return strides[static_cast<std::size_t>(split_.reduced_dims().front())] == 1 &&
           strides[static_cast<std::size_t>(last)] > 1;
  }

  std::vector<Inst*> neutral_locals(loop::Builder& b) const {
    return each_of(
        [&](const Reduced& r, int) { return b.local(r.neutral_element(b), kTransposeTile); });
  }
  std::vector<Total> neutral_totals(loop::Builder& b) const {
    return each_of([&](const Reduced& r, int) { return total(b, r, kTransposeTile); });
  }
  void combine(loop::Builder& b, std::size_t i, Inst* local, Inst* more) const {
    b.set(local, b.binary(all_[i].code(), b.get(local), more));
  }

  /// Elements k, k + step, ... of eight columns: a value of eight columns for each.
  std::vector<Inst*> square(KernelContext& context, const Reduced& r, const Index& o,
                            const Index& k, std::int64_t step, const Index& x,
                            const Index& lane) const {
    std::vector<Inst*> columns;
    for (std::int64_t j = 0; j < kTransposeTile; ++j)
      columns.push_back(widen(context.b, r.dtype, r.element(context, o, k + lane * step, x + j)));
    return loop::transposed(context.b, std::move(columns));
  }

  /// Combines a chunk's elements with `sums`, in their order.
  void add_elements(KernelContext& context, const std::vector<Inst*>& sums, const Index& o,
                    const Index& first, std::int64_t length, const Index& x, const Index& lane) {
    loop::Builder& b = context.b;
    const std::int64_t step = kTransposeTile * beside_, whole = length / step;
    b.for_(0, whole, 1, [&](Index s) {
      const Index k = first + s * step;
      if (beside_ == 1) {
        for (std::size_t i = 0; i < all_.size(); ++i)
          for (Inst* element : square(context, all_[i], o, k, 1, x, lane))
            combine(b, i, sums[i], element);
        return;
      }
      b.for_(0, beside_, 1, [&](Index at) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
          const std::vector<Inst*> elements = square(context, all_[i], o, k + at, beside_, x, lane);
          for (std::int64_t u = 0; u < kTransposeTile; ++u)
            b.store(squares_[i], (at + u * beside_) * kTransposeTile + lane,
                    elements[static_cast<std::size_t>(u)]);
        }
      });
      b.for_(0, step, 1, [&](Index u) {
        for (std::size_t i = 0; i < all_.size(); ++i)
          combine(b, i, sums[i], b.load(squares_[i], u * kTransposeTile + lane));
      });
    });
    for (std::int64_t k = whole * step; k < length; ++k)
      for (std::size_t i = 0; i < all_.size(); ++i)
        combine(b, i, sums[i],
                widen(b, all_[i].dtype, all_[i].element(context, o, first + k, x + lane)));
  }

  bool turns_ = false;
  std::int64_t beside_ =
      1;  // reduced elements between neighbours in memory, in the order of the sum
  std::vector<loop::Ref*> squares_;  // those of a square of neighbours, in that order
};

}  // namespace

std::optional<Built> reduce_transposed(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                       bool any_size) {
  GemvColumns columns(ops, fusion, any_size);
  if (!columns.turns()) return std::nullopt;
  return columns.build();
}

}  // namespace strata::compile
