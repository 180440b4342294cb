#include "strata/compile/kernel/reduce/reduce_rows.h"

#include <algorithm>

#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reductions.h"

namespace strata::compile {
namespace {

class Rows : public Reductions {
 public:
  using Reductions::Reductions;

  Built build() {
    lies_in_runs() ? rows_in_runs() : rows();
    return std::move(out_);
  }

 private:
  /// Lanes along memory. Of rows that are here and there in a large array the next one is fetched
  /// meanwhile (64 x 1024 x 64 f32 over the first and the last dimension: 0.22 ms without, 0.12
  /// with). One phase when there are rows enough for the threads, else chunks first.
  void rows() {
    std::int64_t rows = split_.outer(), chunks = order_.chunks();
    bool two = rows < 16 && chunks > 4;
    BuiltKernel& built = kernel("reduce_rows");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial =
        two ? partial_results(context, rows * chunks) : std::vector<loop::Ref*>();
    std::int64_t per_point =
        two ? largest_divisor(chunks, 8)
            : largest_divisor(rows, rows_of_point(rows, split_.reduced(), kReducedAtPoint));
    built.kernel->grid = (two ? rows * chunks : rows) / per_point;
    const bool any = all_.size() == 1 && in_any_order(reduction_.combiner, dtype_) &&
                     !fusion_.inlined.count(op_.operand(0));
    auto chunk = [&](Index row, Index c) {
      std::vector<Total> totals = each_of([&](const Reduced& r, int) { return total(b, r); });
      auto piece = [&](Index begin, std::int64_t length) {
        int width = any ? lanes_in_any_order(length, dtype_) : order_.lanes;
        std::vector<LaneTotals> lanes = each_of(
            [&](const Reduced& r, int) { return LaneTotals(b, r.combiner, r.dtype, width); });
        b.vector(begin, begin + length, width, [&](Index k) {
          for (std::size_t i = 0; i < all_.size(); ++i) {
            Inst* x = all_[i].element(context, row, k, 0);
            if (all_[i].operand()->type().bytes() >= kBeyondL2) fetch_ahead(x, split_.apart());
            lanes[i].add(x);
          }
        });
        for (std::size_t i = 0; i < all_.size(); ++i) totals[i].add(lanes[i].total());
      };
      for_piece(b, c, order_.count, order_.chunk,
                [&](Index begin, std::int64_t length) { by_pieces(b, begin, length, piece); });
      return totals;
    };
    Index first = b.grid() * per_point;
    b.for_(0, per_point, 1, [&](Index i) {
      Index point = first + i;
      if (two) {
        std::vector<Total> parts = chunk(b.div(point, chunks), b.mod(point, chunks));
        for (std::size_t r = 0; r < all_.size(); ++r) b.store(partial[r], point, parts[r].get());
        return;
      }
      std::vector<Total> totals = each_of([&](const Reduced& r, int) { return total(b, r); });
      auto add = [&](Index c) {
        std::vector<Total> parts = chunk(point, c);
        for (std::size_t r = 0; r < all_.size(); ++r) totals[r].add(parts[r].get());
      };
      if (chunks == 1)
        add(0);
      else
        b.for_(0, chunks, 1, add);
      for (std::size_t r = 0; r < all_.size(); ++r)
        b.store(context.output(all_[r].result()), point,
                all_[r].finish(context, totals[r].rounded()));
    });
    if (two) combine_chunks(rows, chunks, 1);
  }

  // ---- rows that are in runs
  /// Whether a row is runs between which the runs of other rows are, and strips of lanes would read
  /// two of them at a time, element by element.
  bool lies_in_runs() const {
    return split_.run() != split_.reduced() && split_.outer() > 1 &&
           split_.run() % order_.lanes != 0 &&
           std::none_of(all_.begin(), all_.end(),
                        [](const Reduced& r) { return is_bool(r.dtype); });
  }

  /// Chunks of a few rows are read as they are in memory and put behind each other first, row by
  /// row (256 x 512 x 7 x 7 f32 over all but the second dimension: 2.5 ms element by element, 0.55
  /// so). They are not a power of two apart, which would be one set of a cache.
  void rows_in_runs() {
    constexpr std::int64_t kTileRows = 16, kPoints = 32;
    const std::int64_t rows = split_.outer(), chunks = order_.chunks(),
                       tile = std::clamp<std::int64_t>(rows * chunks / kPoints, 1, kTileRows);
    const std::int64_t tiles = (rows + tile - 1) / tile,
                       stride = std::min(order_.count, order_.chunk) + order_.lanes;
    BuiltKernel& built = kernel("reduce_runs");
    built.kernel->grid = tiles * chunks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial =
        chunks > 1 ? partial_results(context, rows * chunks) : std::vector<loop::Ref*>();
    const std::vector<loop::Ref*> together =
        each_of([&](const Reduced& r, int) { return b.scratch(r.dtype, tile * stride); });
    const Index c = b.mod(b.grid(), chunks);
    for_piece(b, b.div(b.grid(), chunks), rows, tile, [&](Index first, std::int64_t n) {
      for_piece(b, c, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
        put_together(context, first, n, begin, length, together, stride);
        b.for_(0, n, 1, [&](Index t) {
          std::vector<Total> totals = each_of([&](const Reduced& r, int) { return total(b, r); });
          by_pieces(b, 0, length, [&](Index from, std::int64_t some) {
            std::vector<LaneTotals> lanes = each_of([&](const Reduced& r, int) {
              return LaneTotals(b, r.combiner, r.dtype, order_.lanes);
            });
            b.vector(from, from + some, order_.lanes, [&](Index k) {
              for (std::size_t i = 0; i < all_.size(); ++i)
                lanes[i].add(b.load(together[i], t * stride + k));
            });
            for (std::size_t i = 0; i < all_.size(); ++i) totals[i].add(lanes[i].total());
          });
          for (std::size_t i = 0; i < all_.size(); ++i) {
            if (chunks > 1)
              b.store(partial[i], (first + t) * chunks + c, totals[i].get());
            else
              b.store(context.output(all_[i].result()), first + t,
                      all_[i].finish(context, totals[i].rounded()));
          }
        });
      });
    });
    if (chunks > 1) combine_chunks(rows, chunks, 1);
  }

  /// Elements [begin, begin + length) of n rows, each behind the other.
  void put_together(KernelContext& context, const Index& first, std::int64_t n, const Index& begin,
                    std::int64_t length, const std::vector<loop::Ref*>& together,
                    std::int64_t stride) {
    loop::Builder& b = context.b;
    const std::int64_t run = split_.run();
    const bool whole = order_.chunks() == 1 || order_.chunk % run == 0;
    auto bound = [&](loop::Opcode code, const Index& x, std::int64_t limit) {
      return whole ? Index(limit)
                   : b.index_of(b.binary(code, b.value(x), b.constant_int(DType::i64, limit)), 0,
                                run);
    };
    b.for_(b.div(begin, run), b.div(begin + (length + run - 1), run), 1, [&](Index r) {
      const Index low = bound(loop::Opcode::max, begin - r * run, 0),
                  high = bound(loop::Opcode::min, begin + length - r * run, run);
      b.for_(0, n, 1, [&](Index t) {
        b.vector(low, high, kMapLanes, [&](Index j) {
          const std::vector<Inst*> values = each_of([&](const Reduced& reduced, int) {
            Inst* x = context.at(reduced.operand(), split_.index_in_run(b, first + t, r, j));
            if (reduced.operand()->type().bytes() >= kBeyondL2) fetch_ahead(x, split_.runs_apart());
            return x;
          });
          for (std::size_t i = 0; i < all_.size(); ++i)
            b.store(together[i], t * stride + r * run + j - begin, values[i]);
        });
      });
    });
  }
};

}  // namespace

Built reduce_rows(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size) {
  return Rows(ops, fusion, any_size).build();
}

}  // namespace strata::compile
