#include "strata/compile/kernel/reduce/reduce_strided_rows.h"

#include <algorithm>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reductions.h"

namespace strata::compile {
namespace {

class Lines : public Reductions {
 public:
  Lines(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size)
      : Reductions(ops, fusion, any_size) {
    find_line();
  }

  /// Whether lines are worth it: a strip or more, of all reductions alike.
  bool any() const { return columns_ * run_ >= kShortest; }

  Built build() {
    const std::int64_t outer = split_.size(outer_), chunks = order_.chunks(),
                       width = block_width(outer * chunks), blocks = (columns_ + width - 1) / width;
    BuiltKernel& built = kernel("reduce_strided_rows");
    built.kernel->grid = outer * chunks * blocks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial =
        chunks > 1 ? partial_results(context, outer * chunks * columns_)
                   : std::vector<loop::Ref*>();
    const std::int64_t stride = width * run_;
    const std::vector<loop::Ref*> lines = each_of([&](const Reduced& r, int) {
      return b.scratch(accumulator(r.dtype), turns() * stride);
    }),
                                  totals = each_of([&](const Reduced& r, int) {
                                    return order_.is_long() ? b.scratch(total_type(r), width)
                                                            : nullptr;
                                  });
    const Index block = b.mod(b.grid(), blocks), chunk = b.mod(b.div(b.grid(), blocks), chunks),
                o = b.div(b.grid(), blocks * chunks);
    for_piece(b, block, columns_, width, [&](Index first, std::int64_t columns) {
      auto piece = [&](const Index& begin, std::int64_t length) {
        each_line(b, turns(), columns, stride, [&](const Index& at, std::size_t i) {
          b.store(lines[i], at, all_[i].neutral_element(b));
        });
        const Index first_step = b.div(begin, run_);
        const std::int64_t steps = length / run_;
        auto take = [&](const Index& step, const Index& turn) {
          b.vector(0, columns * run_, kMapLanes, [&](Index x) {
            const std::vector<Index> index = place(b, o, step, first * run_ + x);
            for (std::size_t i = 0; i < all_.size(); ++i) {
              const Index at = turn * stride + x;
              b.store(lines[i], at,
                      b.binary(all_[i].code(), b.load(lines[i], at),
                               widen(b, all_[i].dtype, context.at(all_[i].operand(), index))));
            }
          });
        };
        b.for_(0, steps / turns(), 1, [&](Index period) {
          b.for_(0, turns(), 1,
                 [&](Index turn) { take(first_step + period * turns() + turn, turn); });
        });
        b.for_(0, steps % turns(), 1,
               [&](Index turn) { take(first_step + steps / turns() * turns() + turn, turn); });
        for (std::int64_t half = turns() / 2; half >= 1; half /= 2)
          each_line(b, half, columns, stride, [&](const Index& at, std::size_t i) {
            b.store(lines[i], at,
                    b.binary(all_[i].code(), b.load(lines[i], at),
                             b.load(lines[i], at + half * stride)));
          });
      };
      /// What a piece has come to in row(s) x.
      auto come_to = [&](std::size_t i, const Index& x) {
        std::vector<Inst*> lanes;
        for (std::int64_t j = 0; j < run_; ++j) lanes.push_back(b.load(lines[i], x * run_ + j));
        return by_halves(b, all_[i].code(), std::move(lanes));
      };
      auto each_row = [&](const std::function<void(const Index& x, std::size_t i)>& body) {
        b.vector(0, columns, kMapLanes, [&](Index x) {
          for (std::size_t i = 0; i < all_.size(); ++i) body(x, i);
        });
      };
      if (order_.is_long())
        each_row([&](const Index& x, std::size_t i) {
          b.store(totals[i], x, total(b, all_[i], x.lanes()).get());
        });
      for_piece(b, chunk, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
        by_pieces(b, begin, length, [&](Index from, std::int64_t some) {
          piece(from, some);
          if (order_.is_long())
            each_row([&](const Index& x, std::size_t i) {
              Total sum = total(b, all_[i], x.lanes());
              sum.set(b.load(totals[i], x));
              sum.add(come_to(i, x));
              b.store(totals[i], x, sum.get());
            });
        });
      });
      each_row([&](const Index& x, std::size_t i) {
        Total sum = total(b, all_[i], x.lanes());
        sum.add(order_.is_long() ? b.load(totals[i], x) : come_to(i, x));
        if (chunks > 1)
          b.store(partial[i], (o * chunks + chunk) * columns_ + first + x, sum.get());
        else
          b.store(context.output(all_[i].result()), o * columns_ + first + x,
                  all_[i].finish(context, sum.rounded()));
      });
    });
    if (chunks > 1) combine_chunks(outer, chunks, columns_);
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kShortest = 32, kLongest = 512, kEnough = 64,
                                kPoints = 8;  // elements of a line; grid points

  /// Lines that are taken in turn: as many as make all lanes of a row.
  std::int64_t turns() const { return order_.lanes / run_; }

  /// What is behind each other in memory: kept dimensions, the last ones, and behind them a run
  /// of reduced ones that is a part of the lanes.
  void find_line() {
    if (any_size_ || order_.lanes == 1 || split_.outer() == 1 || !are_alike()) return;
    const ir::Value* v = op_.operand(0);
    std::vector<int> kept = split_.kept();
    std::erase_if(kept, [&](int d) { return v->shape()[d] == 1; });
    const std::vector<std::int64_t> strides = strides_of_largest(v, fusion_);
    auto apart = [&](int d) { return strides[static_cast<std::size_t>(d)]; };
    const bool across = apart(kept.back()) == 1, along = !across &&
                                                         split_.run() != split_.reduced() &&
                                                         apart(split_.reduced_dims().back()) == 1;
    const std::int64_t run = across ? 1 : split_.run();
    if ((!across && !along) || order_.lanes % run != 0 || run == order_.lanes ||
        apart(kept.back()) != run)
      return;
    auto begin = kept.end() - 1;
    while (begin != kept.begin() && *(begin - 1) + 1 == *begin &&
           apart(*(begin - 1)) == apart(*begin) * v->shape()[*begin])
      --begin;
    outer_.assign(kept.begin(), begin);
    line_.assign(begin, kept.end());
    columns_ = split_.size(line_);
    for (int d : split_.reduced_dims()) (along && d > kept.back() ? line_ : steps_).push_back(d);
    run_ = run;
  }

  /// Columns of a grid point.
  std::int64_t block_width(std::int64_t others) const {
    auto blocks = [&](std::int64_t width) { return others * ((columns_ + width - 1) / width); };
    std::int64_t most = kLongest / run_;
    while (most * run_ > kEnough && blocks(std::min(most, columns_)) < kPoints) most /= 2;
    const std::int64_t width = largest_divisor(columns_, most);
    return width * run_ < kEnough ? std::min(columns_, most) : width;
  }

  std::vector<Index> place(loop::Builder& b, const Index& o, const Index& step,
                           const Index& x) const {
    std::vector<Index> out(static_cast<std::size_t>(op_.operand(0)->rank()));
    split_.place(b, out, outer_, o);
    split_.place(b, out, steps_, step);
    split_.place(b, out, line_, x);
    return out;
  }

  void each_line(loop::Builder& b, std::int64_t lines, std::int64_t columns, std::int64_t stride,
                 const std::function<void(const Index& at, std::size_t i)>& body) const {
    b.for_(0, lines, 1, [&](Index line) {
      b.vector(0, columns * run_, kMapLanes, [&](Index x) {
        for (std::size_t i = 0; i < all_.size(); ++i) body(line * stride + x, i);
      });
    });
  }

  std::vector<int> outer_, steps_,
      line_;  // kept dimensions before the line's; reduced ones, from line to line; of a line
  std::int64_t columns_ = 0,
               run_ = 0;  // of a line: kept places, and reduced elements of each; 0: there is none
};

}  // namespace

std::optional<Built> reduce_strided_rows(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                         bool any_size) {
  Lines lines(ops, fusion, any_size);
  if (!lines.any()) return std::nullopt;
  return lines.build();
}

}  // namespace strata::compile
