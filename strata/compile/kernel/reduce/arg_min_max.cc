#include "strata/compile/kernel/reduce/arg_min_max.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reductions.h"
#include "strata/compile/kernel/row/transposed_rows.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

constexpr std::int64_t kShortestInLanes =
    8;  // rows of which the place of the greatest is found in lanes along them
constexpr std::int64_t kBlockOfRow = 512;  // elements of a long row of which the best is kept, so
                                           // that its place is looked for in few of them
constexpr std::int64_t kTransposeTile = loop::kQuickSquare,
                       kLongestByTransposeTiles = 24;  // rows that are turned by squares
static_assert(kShortestInLanes >= kTransposeTile);

class ArgMinMax : public Reductions {
 public:
  using Reductions::Reductions;

  /// Nothing where neither way suits.
  std::optional<Built> build() {
    if (!is_integer(op_.operand(1)->dtype()) || order_.lanes <= 1 ||
        split_.reduced() < kShortestInLanes)
      return {};
    uses_transpose_tiles() ? by_transpose_tiles() : lies_across() ? by_lines() : by_rows();
    return std::move(out_);
  }

 private:
  /// Short rows that are one behind the other in memory, of elements that fill a vector as they are
  /// compared. All of a row is written out: computed elements would be much code, and code for any
  /// size would be for this length alone.
  bool uses_transpose_tiles() const {
    return !any_size_ && !fusion_.inlined.count(op_.operand(0)) && split_.inner() == 1 &&
           split_.run() == split_.reduced() && split_.reduced() <= kLongestByTransposeTiles &&
           split_.outer() >= kTransposeTile && byte_width(accumulator(compared())) >= 4;
  }

  /// As many rows at a time as a square has, turned in registers so that each lane walks along its
  /// own. The last square of a row ends with it, and gives what those before it have not.
  void by_transpose_tiles() {
    BuiltKernel& built = kernel("arg_extremum");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::int64_t rows = split_.outer(), n = split_.reduced(), squares = rows / kTransposeTile,
                       per_point = largest_divisor(squares, kReducedAtPoint / kTransposeTile / n);
    built.kernel->grid = squares / per_point;
    auto better = [&](const std::vector<Inst*>& state, Inst* value, const Index& row,
                      const Index& k) {
      return better_place(b, state, std::array{value, element(context, row, k, 0, 1)});
    };
    b.for_(0, per_point, 1, [&](Index i) {
      const Index top = (b.grid() * per_point + i) * kTransposeTile;
      b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) {
        std::vector<Inst*> state = initial_pair(context);
        for (std::int64_t k = 0; k < n; k += kTransposeTile) {
          const std::int64_t left = std::min(k, n - kTransposeTile);
          std::vector<Inst*> square;
          for (std::int64_t r = 0; r < kTransposeTile; ++r)
            square.push_back(
                as_compared(b, element(context, top + Index(r), Index(left) + lane, 0)));
          square = loop::transposed(b, std::move(square));
          for (std::int64_t c = k - left; c < kTransposeTile; ++c)
            state = better(state, square[static_cast<std::size_t>(c)], top + lane, Index(left + c));
        }
        store_pair(context, top + lane, state);
      });
    });
    if (rows % kTransposeTile == 0) return;
    b.if_(b.less(b.grid(), 1), [&] {
      b.vector(squares * kTransposeTile, rows, kTransposeTile, [&](Index row) {
        std::vector<Inst*> state = initial_pair(context);
        for (std::int64_t k = 0; k < n; ++k)
          state = better(state, as_compared(b, element(context, row, k, 0)), row, k);
        store_pair(context, row, state);
      });
    });
  }

  /// Whether rows' neighbours are beside them in memory, and their next elements do not: of a
  /// transposed array.
  bool lies_across() const {
    return !any_size_ && split_.outer() >= 2 * kMapLanes &&
           TransposedRows::are_strided(op_.operand(0), split_.reduced(), fusion_);
  }

  /// Lanes along the rows: some lines of neighbours, each of which takes the next element of its
  /// row (4096 x 512 f32, transposed, over the last dimension: 7.0 ms row by row, 0.4 so).
  void by_lines() {
    constexpr std::int64_t kWidest = 128, kPoints = 8;
    BuiltKernel& built = kernel("arg_extremum");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::int64_t rows = split_.outer(),
                       width = std::clamp<std::int64_t>(
                           (rows / kPoints + kMapLanes - 1) / kMapLanes * kMapLanes, kMapLanes,
                           kWidest);
    built.kernel->grid = (rows + width - 1) / width;
    loop::Ref *bests = b.scratch(accumulator(compared()), width),
              *places = b.scratch(op_.operand(1)->dtype(), width);
    for_piece(b, b.grid(), rows, width, [&](Index first, std::int64_t some) {
      auto each = [&](const std::function<std::vector<Inst*>(const Index& x)>& pair) {
        b.vector(0, some, kMapLanes, [&](Index x) {
          const std::vector<Inst*> now = pair(x);
          b.store(bests, x, now[0]), b.store(places, x, now[1]);
        });
      };
      auto state = [&](const Index& x) {
        return std::vector<Inst*>{b.load(bests, x), b.load(places, x)};
      };
      each([&](const Index&) { return initial_pair(context); });
      b.for_(0, split_.reduced(), 1, [&](Index k) {
        each([&](const Index& x) {
          return better_place(b, state(x),
                              std::array{as_compared(b, element(context, first + x, k, 0)),
                                         element(context, first + x, k, 0, 1)});
        });
      });
      b.vector(0, some, kMapLanes, [&](Index x) { store_pair(context, first + x, state(x)); });
    });
  }

  /// An argument maximum or minimum has one result in any order (op/reduce/reduce.h): the best
  /// value first, in lanes that know of no place; then the least place that has it, in those blocks
  /// of the row whose own best value it is.
  void by_rows() {
    BuiltKernel& built = kernel("arg_extremum");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    std::int64_t rows = split_.outer(),
                 per_point =
                     largest_divisor(rows, rows_of_point(rows, split_.reduced(), kReducedAtPoint));
    built.kernel->grid = rows / per_point;
    // What is computed is kept, what is in memory is read again.
    loop::Ref* computed = fusion_.inlined.count(op_.operand(0))
                              ? b.scratch(accumulator(compared()), split_.reduced())
                              : nullptr;
    loop::Ref* bests = blocks() > 1 ? b.scratch(accumulator(compared()), blocks()) : nullptr;
    b.for_(0, per_point, 1, [&](Index i) {
      Index row = b.grid() * per_point + i;
      store_pair(context, row,
                 op::lower_extremum(b, maximum(), initial_pair(context),
                                    best_of_row(context, row, computed, bests)));
    });
  }

  /// A long row's elements in blocks, of which the last may begin within the one before it.
  std::int64_t block() const {
    return split_.reduced() >= 2 * kBlockOfRow ? kBlockOfRow : split_.reduced();
  }

  std::int64_t blocks() const { return (split_.reduced() + block() - 1) / block(); }

  void for_blocks(loop::Builder& b, const std::function<void(Index number, Index begin)>& f) const {
    b.for_(0, split_.reduced() / block(), 1, [&](Index i) { f(i, i * block()); });
    if (split_.reduced() % block() > 0) f(blocks() - 1, split_.reduced() - block());
  }

  std::vector<Inst*> best_of_row(KernelContext& context, const Index& row, loop::Ref* computed,
                                 loop::Ref* bests) {
    loop::Builder& b = context.b;
    const std::int64_t n = block();
    const int lanes = n >= 32 ? 32 : n >= 16 ? 16 : 8;
    op::Combiner better = maximum() ? op::Combiner::max : op::Combiner::min;
    loop::Compare beats = maximum() ? loop::Compare::gt : loop::Compare::lt;
    bool has_nan = is_float(dtype_);
    auto is_nan = [&](Inst* x) { return b.compare(loop::Compare::ne, x, x); };
    Inst *lowest = neutral(b, better, compared()), *no = b.constant_int(DType::i32, 0),
         *yes = b.constant_int(DType::i32, 1);
    Inst *top = b.local(lowest), *nans = b.local(no, lanes);
    for_blocks(b, [&](Index number, Index begin) {
      Inst* best = b.local(lowest, lanes);
      b.vector(begin, begin + n, lanes, [&](Index k) {
        Inst *x = as_compared(b, element(context, row, k, 0)), *so_far = b.get(best);
        if (computed) b.store(computed, k, x);
        b.set(best, b.select(b.compare(beats, x, so_far), x, so_far));
        if (has_nan) b.set(nans, b.select(is_nan(x), yes, b.get(nans)));
      });
      Inst* of_block = b.reduce(op::opcode(better, compared()), b.get(best));
      if (bests) b.store(bests, number, of_block);
      b.set(top, b.select(b.compare(beats, of_block, b.get(top)), of_block, b.get(top)));
    });
    fetch_a_page_ahead(b.kernel());  // what follows reads the row again

    DType place = op_.operand(1)->dtype();
    Inst *none = neutral(b, op::Combiner::min, place), *first = b.local(none);
    auto is_top = [&](Inst* x) { return b.compare(loop::Compare::eq, x, b.get(top)); };
    auto again = [&](const std::function<Inst*(Inst*)>& found_in,
                     const std::function<void(Index, Inst*)>& f) {
      for_blocks(b, [&](Index number, Index begin) {
        auto walk = [&] {
          b.vector(begin, begin + n, lanes, [&](Index k) {
            f(k, computed ? b.load(computed, k) : as_compared(b, element(context, row, k, 0)));
          });
        };
        bests&& found_in ? b.if_(found_in(b.load(bests, number)), walk) : walk();
      });
    };
    auto find = [&](const std::function<Inst*(Inst*)>& found_in,
                    const std::function<Inst*(Inst*)>& wins) {
      Inst* least = b.local(none, lanes);
      again(found_in, [&](Index k, Inst* x) {
        Inst* at = b.select(wins(x), element(context, row, k, 0, 1), none);
        b.set(least, b.binary(loop::Opcode::min, b.get(least), at));
      });
      b.set(first, b.reduce(loop::Opcode::min, b.get(least)));
    };
    if (!has_nan) {
      find(is_top, is_top);
      return {b.get(top), b.get(first)};
    }
    b.if_(
        b.compare(loop::Compare::ne, b.reduce(loop::Opcode::or_, b.get(nans)), no),
        [&] {
          find(nullptr, is_nan);
          b.set(top, b.constant(top->type.dtype, std::numeric_limits<double>::quiet_NaN()));
        },
        [&] { find(is_top, is_top); });
    // Zeros of both signs are equal: the sign is that of the first.
    b.if_(b.compare(loop::Compare::eq, b.get(top), b.constant(top->type.dtype, 0)), [&] {
      Inst* sign = b.local(neutral(b, op::Combiner::add, dtype_), lanes);
      again(is_top, [&](Index k, Inst* x) {
        Inst* is_first = b.compare(loop::Compare::eq, element(context, row, k, 0, 1), b.get(first));
        b.set(sign, b.select(b.binary(loop::Opcode::and_, is_top(x), is_first), x, b.get(sign)));
      });
      b.set(top, b.reduce(loop::Opcode::add, b.get(sign)));
    });
    return {b.get(top), b.get(first)};
  }

  /// Truth values are compared as numbers.
  DType compared() const { return is_bool(dtype_) ? DType::ui8 : dtype_; }

  Inst* as_compared(loop::Builder& b, Inst* x) const {
    return widen(b, compared(), is_bool(dtype_) ? b.convert(DType::ui8, x) : x);
  }

  /// A value as it is compared, and its place: the reduction's initial one, and a row's result.
  std::vector<Inst*> initial_pair(KernelContext& context) {
    return {as_compared(context.b, initial(context, 0)), initial(context, 1)};
  }

  void store_pair(KernelContext& context, const Index& row, const std::vector<Inst*>& pair) {
    context.b.store(context.output(op_.result(0)), row, context.b.convert(dtype_, pair[0]));
    context.b.store(context.output(op_.result(1)), row, pair[1]);
  }

  bool maximum() const { return op::arg_extremum(op_.region(0))->maximum; }
};

}  // namespace

std::optional<Built> build_arg_min_max(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                       bool any_size) {
  if (!op::is_arg_extremum(ops.front()->region(0))) return {};
  return ArgMinMax(ops, fusion, any_size).build();
}

}  // namespace strata::compile
