#include "strata/compile/reduce_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "strata/compile/combine.h"
#include "strata/loop/lanes.h"
#include "strata/op/lower_region.h"
#include "strata/op/reduce.h"
#include "strata/op/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kPointElements = 16384;  // of the rows of one grid point, a few long rows apart
constexpr std::int64_t kShortestInLanes = 8;     // rows of which the place of the greatest is found in lanes along them
constexpr std::int64_t kBlockOfRow = 512;        // elements of a long row of which the best is kept, so that its place is looked for in few of them
constexpr std::int64_t kSquare = 8, kLongestBySquares = 24;  // a square's rows; rows that are turned by such
constexpr std::int64_t kLongestWrittenOut = 12;  // rows whose elements are written out one after the other

/// A reduction's dimensions as numbers: `outer` kept ones before the last reduced one, `inner` kept ones after it.
class Split {
 public:
  Split(const Op& op, std::vector<int> dims) : shape_(op.operand(0)->shape()) {
    std::erase_if(dims, [&](int d) { return shape_[d] == 1; });  // where they stand says nothing
    std::sort(dims.begin(), dims.end());
    int last = dims.empty() ? -1 : dims.back();
    for (int i = 0; i < shape_.rank(); ++i) {
      if (std::find(dims.begin(), dims.end(), i) != dims.end())
        reduced_.push_back(i);
      else
        (i < last ? outer_ : inner_).push_back(i);
    }
  }
  std::int64_t outer() const { return size(outer_); }
  std::int64_t reduced() const { return size(reduced_); }
  std::int64_t inner() const { return size(inner_); }
  bool is_inner(int d) const { return std::find(inner_.begin(), inner_.end(), d) != inner_.end(); }
  /// Elements behind the last kept dimension, where some reduced one lies before it: a row is as many elements here and there, and the next row's lie behind them. 0: it is not so.
  std::int64_t apart() const {
    if (outer_.empty() || reduced_.empty() || reduced_.front() > outer_.back()) return 0;
    std::int64_t out = 1;
    for (int d = outer_.back() + 1; d < shape_.rank(); ++d) out *= shape_[d];
    return out;
  }
  /// Elements of a row that lie behind each other: the reduced dimensions at the end of all.
  std::int64_t run() const { return size({run_begin(), reduced_.end()}); }
  /// Elements from a run to the next.
  std::int64_t runs_apart() const {
    std::int64_t out = 1;
    for (int d = *(run_begin() - 1) + 1; d < shape_.rank(); ++d) out *= shape_[d];
    return out;
  }
  /// The operand's index at outer place o and element j of run r of the reduced ones.
  std::vector<Index> index_in_run(loop::Builder& b, Index o, Index r, Index j) const {
    std::vector<Index> out(static_cast<std::size_t>(shape_.rank()));
    place(b, out, outer_, o);
    place(b, out, {reduced_.begin(), run_begin()}, r);
    place(b, out, {run_begin(), reduced_.end()}, j);
    return out;
  }
  /// The operand's index at outer place o, reduced element k, inner place x.
  std::vector<Index> index(loop::Builder& b, Index o, Index k, Index x) const {
    std::vector<Index> out(static_cast<std::size_t>(shape_.rank()));
    place(b, out, outer_, o);
    place(b, out, reduced_, k);
    place(b, out, inner_, x);
    return out;
  }

 private:
  std::vector<int>::const_iterator run_begin() const {
    auto first = reduced_.end();
    while (first != reduced_.begin() && (first == reduced_.end() || *(first - 1) + 1 == *first)) --first;
    return first;
  }
  Shape part(const std::vector<int>& dims) const {
    std::vector<Dim> out;
    for (int d : dims) out.push_back(shape_.dim(d));
    return Shape(out);
  }
  std::int64_t size(const std::vector<int>& dims) const { return part(dims).count(); }
  /// Neighbouring dimensions first as one, so that an array which has them as neighbours is read without taking them apart.
  void place(loop::Builder& b, std::vector<Index>& out, const std::vector<int>& dims, Index offset) const {
    std::vector<std::vector<int>> runs;
    std::vector<Dim> sizes;
    for (int d : dims) {
      if (runs.empty() || runs.back().back() + 1 != d) runs.emplace_back();
      runs.back().push_back(d);
    }
    for (const std::vector<int>& run : runs) sizes.push_back(Dim(size(run)));
    const std::vector<Index> places = delinearize(b, Shape(sizes), offset);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const std::vector<Index> index = delinearize(b, part(runs[r]), places[r]);
      for (std::size_t i = 0; i < runs[r].size(); ++i) out[static_cast<std::size_t>(runs[r][i])] = index[i];
    }
  }
  const Shape& shape_;
  std::vector<int> outer_, reduced_, inner_;
};

/// Runs `body(begin, length)` for chunk c of [0, total) in pieces of `size`, the last of which may be shorter.
void for_chunk(loop::Builder& b, Index c, std::int64_t total, std::int64_t size, const std::function<void(Index, std::int64_t)>& body) {
  std::int64_t chunks = (total + size - 1) / size, tail = total - (chunks - 1) * size;
  if (tail == size || chunks == 1) return body(c * size, tail == size ? size : tail);
  b.if_(b.less(c, chunks - 1), [&] { body(c * size, size); }, [&] { body((chunks - 1) * size, tail); });
}

/// One of the reductions that a kernel does side by side.
class Reduced {
 public:
  Reduced(const Op& op, const Split& split) : op(op), combiner(reduction_of(op).combiner), dtype(op.operand(0)->dtype()), split_(split) {}

  const Value* operand() const { return op.operand(0); }
  const Value* result() const { return op.result(); }
  loop::Opcode code() const { return op::opcode(combiner, dtype); }
  Inst* neutral_element(loop::Builder& b) const { return neutral(b, combiner, dtype); }
  Inst* element(KernelContext& context, const Index& o, const Index& k, const Index& x, int operand = 0) const {
    return context.at(op.operand(operand), split_.index(context.b, o, k, x));
  }
  Inst* initial(KernelContext& context, int operand = 0) const { return context.at(op.operand(operand + op.num_results()), {}); }
  /// init op total, rounded.
  Inst* finish(KernelContext& context, Inst* total) const {
    return context.b.convert(result()->dtype(), context.b.binary(code(), widen(context.b, dtype, initial(context)), total));
  }

  const Op& op;
  const op::Combiner combiner;
  const DType dtype;

 private:
  const Split& split_;
};

class Reduce {
 public:
  Reduce(std::span<const Op* const> ops, const Fusion& fusion, bool any_size) : op_(*ops.front()), fusion_(fusion), any_size_(any_size), reduction_(reduction_of(op_)), split_(op_, reduction_.dims) {
    order_ = op::reduce_order(op_.operand(0)->type(), reduction_.dims);
    dtype_ = op_.operand(0)->dtype();
    for (const Op* op : ops) all_.emplace_back(*op, split_);
  }

  Built build() {
    if (op_.result()->shape().count() == 0) return {};
    if (reduction_.combiner == op::Combiner::region) {
      bool numbers = is_integer(op_.operand(op_.num_results() - 1)->dtype());
      bool extremum = op::is_arg_extremum(op_.region(0));
      bool in_lanes = extremum || op::emission(op_.region(0)) == op::Emission::lanes;
      if (extremum && numbers && goes_by_squares())
        extremum_by_squares();
      else if (extremum && numbers && order_.lanes > 1 && split_.reduced() >= kShortestInLanes)
        arg_extremum();
      else if (split_.inner() >= 8 && in_lanes)
        region_columns();
      else if (in_lanes && split_.reduced() <= kLongestWrittenOut && split_.outer() * split_.inner() >= kMapLanes)
        region_written_out();
      else
        sequential();
    } else if (split_.reduced() == 0) {
      only_initial();
    } else if (order_.lanes > 1) {
      lies_in_runs() ? rows_in_runs() : rows();
    } else if (has_few_columns()) {
      few_columns();
    } else {
      columns();
    }
    return std::move(out_);
  }

 private:
  BuiltKernel& kernel(const char* name) {
    out_.kernels.emplace_back();
    out_.kernels.back().kernel = std::make_unique<loop::Kernel>(name);
    out_.kernels.back().parallel = static_cast<double>(op_.operand(0)->shape().count()) * static_cast<double>(all_.size()) > kInlineWork;
    return out_.kernels.back();
  }
  Inst* element(KernelContext& context, Index o, Index k, Index x, int operand = 0) { return all_[0].element(context, o, k, x, operand); }
  Inst* initial(KernelContext& context, int operand = 0) { return all_[0].initial(context, operand); }
  /// One for each of the reductions.
  template <class F>
  auto each_of(F make) const {
    std::vector<decltype(make(all_[0], 0))> out;
    for (std::size_t i = 0; i < all_.size(); ++i) out.push_back(make(all_[i], static_cast<int>(i)));
    return out;
  }
  /// Memory for `count` parts of each reduction, which `combine_chunks` reads.
  std::vector<loop::Ref*> partial_results(KernelContext& context, std::int64_t count) {
    return each_of([&](const Reduced& r, int i) {
      out_.temporaries.push_back(count * static_cast<std::int64_t>(byte_width(accumulator(r.dtype))));
      return context.temporary(i, accumulator(r.dtype), count, loop::Ref::Mode::inout);
    });
  }

  void only_initial() {
    BuiltKernel& built = kernel("reduce_none");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    for (const Reduced& r : all_) {
      Inst* value = r.finish(context, r.neutral_element(b));
      b.vector(0, r.result()->shape().count(), 16, [&](Index j) { b.store(context.output(r.result()), j, value); });
    }
  }

  /// Lanes along memory. Of rows that lie here and there in a large array the next one is fetched meanwhile (64 x 1024 x 64 f32 over the first and the last dimension: 0.22 ms
  /// without, 0.12 with). One phase when there are rows enough for the threads, else chunks first.
  void rows() {
    std::int64_t rows = split_.outer(), chunks = order_.chunks();
    bool two = rows < 16 && chunks > 4;
    BuiltKernel& built = kernel("reduce_rows");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial = two ? partial_results(context, rows * chunks) : std::vector<loop::Ref*>();
    std::int64_t per_point = two ? largest_divisor(chunks, 8) : largest_divisor(rows, rows_of_point(rows, split_.reduced(), kPointElements));
    built.kernel->grid = (two ? rows * chunks : rows) / per_point;
    const bool any = all_.size() == 1 && in_any_order(reduction_.combiner, dtype_) && !fusion_.inlined.count(op_.operand(0));
    auto chunk = [&](Index row, Index c) {
      std::vector<Inst*> locals = each_of([&](const Reduced& r, int) { return b.local(r.neutral_element(b)); });
      for_chunk(b, c, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
        int width = any ? lanes_in_any_order(length, dtype_) : order_.lanes;
        std::vector<LaneTotals> lanes = each_of([&](const Reduced& r, int) { return LaneTotals(b, r.combiner, r.dtype, width); });
        b.vector(begin, begin + length, width, [&](Index k) {
          for (std::size_t i = 0; i < all_.size(); ++i) {
            Inst* x = all_[i].element(context, row, k, 0);
            if (all_[i].operand()->type().bytes() >= kFarArray) fetch_ahead(x, split_.apart());
            lanes[i].add(x);
          }
        });
        for (std::size_t i = 0; i < all_.size(); ++i) b.set(locals[i], lanes[i].total());
      });
      return each_of([&](const Reduced&, int i) { return b.get(locals[static_cast<std::size_t>(i)]); });
    };
    Index first = b.grid() * per_point;
    b.for_(0, per_point, 1, [&](Index i) {
      Index point = first + i;
      if (two) {
        const std::vector<Inst*> parts = chunk(b.div(point, chunks), b.mod(point, chunks));
        for (std::size_t r = 0; r < all_.size(); ++r) b.store(partial[r], point, parts[r]);
        return;
      }
      std::vector<Inst*> totals = each_of([&](const Reduced& r, int) { return b.local(r.neutral_element(b)); });
      auto add = [&](Index c) {
        const std::vector<Inst*> parts = chunk(point, c);
        for (std::size_t r = 0; r < all_.size(); ++r) b.set(totals[r], b.binary(all_[r].code(), b.get(totals[r]), parts[r]));
      };
      if (chunks == 1)
        add(0);
      else
        b.for_(0, chunks, 1, add);
      for (std::size_t r = 0; r < all_.size(); ++r) b.store(context.output(all_[r].result()), point, all_[r].finish(context, b.get(totals[r])));
    });
    if (two) combine_chunks(rows, chunks, 1);
  }

  // ---- rows that lie in runs
  /// Whether a row is runs between which the runs of other rows lie, and strips of lanes would read two of them at a time, element by element.
  bool lies_in_runs() const {
    return split_.run() != split_.reduced() && split_.outer() > 1 && split_.run() % order_.lanes != 0 && std::none_of(all_.begin(), all_.end(), [](const Reduced& r) { return is_bool(r.dtype); });
  }

  /// Chunks of a few rows are read as they lie in memory and put behind each other first, row by row (256 x 512 x 7 x 7 f32 over all but the second dimension: 2.5 ms
  /// element by element, 0.55 so). They do not lie a power of two apart, which would be one set of a cache.
  void rows_in_runs() {
    constexpr std::int64_t kTileRows = 16, kPoints = 32;
    const std::int64_t rows = split_.outer(), chunks = order_.chunks(), tile = std::clamp<std::int64_t>(rows * chunks / kPoints, 1, kTileRows);
    const std::int64_t tiles = (rows + tile - 1) / tile, stride = std::min(order_.count, order_.chunk) + order_.lanes;
    BuiltKernel& built = kernel("reduce_runs");
    built.kernel->grid = tiles * chunks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial = chunks > 1 ? partial_results(context, rows * chunks) : std::vector<loop::Ref*>();
    const std::vector<loop::Ref*> together = each_of([&](const Reduced& r, int) { return b.scratch(r.dtype, tile * stride); });
    const Index c = b.mod(b.grid(), chunks);
    for_chunk(b, b.div(b.grid(), chunks), rows, tile, [&](Index first, std::int64_t n) {
      for_chunk(b, c, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
        put_together(context, first, n, begin, length, together, stride);
        b.for_(0, n, 1, [&](Index t) {
          std::vector<LaneTotals> lanes = each_of([&](const Reduced& r, int) { return LaneTotals(b, r.combiner, r.dtype, order_.lanes); });
          b.vector(0, length, order_.lanes, [&](Index k) {
            for (std::size_t i = 0; i < all_.size(); ++i) lanes[i].add(b.load(together[i], t * stride + k));
          });
          for (std::size_t i = 0; i < all_.size(); ++i) {
            Inst* total = lanes[i].total();
            if (chunks > 1)
              b.store(partial[i], (first + t) * chunks + c, total);
            else
              b.store(context.output(all_[i].result()), first + t, all_[i].finish(context, b.binary(all_[i].code(), all_[i].neutral_element(b), total)));
          }
        });
      });
    });
    if (chunks > 1) combine_chunks(rows, chunks, 1);
  }
  /// Elements [begin, begin + length) of n rows, each behind the other.
  void put_together(KernelContext& context, const Index& first, std::int64_t n, const Index& begin, std::int64_t length, const std::vector<loop::Ref*>& together, std::int64_t stride) {
    loop::Builder& b = context.b;
    const std::int64_t run = split_.run();
    const bool whole = order_.chunks() == 1 || order_.chunk % run == 0;
    auto bound = [&](loop::Opcode code, const Index& x, std::int64_t limit) {
      return whole ? Index(limit) : b.index_of(b.binary(code, b.value(x), b.constant_int(DType::i64, limit)), 0, run);
    };
    b.for_(b.div(begin, run), b.div(begin + (length + run - 1), run), 1, [&](Index r) {
      const Index low = bound(loop::Opcode::max, begin - r * run, 0), high = bound(loop::Opcode::min, begin + length - r * run, run);
      b.for_(0, n, 1, [&](Index t) {
        b.vector(low, high, kMapLanes, [&](Index j) {
          const std::vector<Inst*> values = each_of([&](const Reduced& reduced, int) {
            Inst* x = context.at(reduced.operand(), split_.index_in_run(b, first + t, r, j));
            if (reduced.operand()->type().bytes() >= kFarArray) fetch_ahead(x, split_.runs_apart());
            return x;
          });
          for (std::size_t i = 0; i < all_.size(); ++i) b.store(together[i], t * stride + r * run + j - begin, values[i]);
        });
      });
    });
  }

  /// Inner places that a grid point accumulates in scratch rows, at most.
  std::int64_t block_width(std::int64_t most) const {
    std::int64_t width = largest_divisor(split_.inner(), most);
    return width < 32 ? std::min<std::int64_t>(split_.inner(), 512) : width;
  }
  std::int64_t width_of_one_phase() const { return width_of(std::clamp<std::int64_t>(split_.outer() * split_.inner() / 8, 64, 2048)); }
  /// As wide as may be, a part where threads would have none or too unequal a number (the maxima of 768 x 4096 bf16 over the first dimension: 0.121 ms in three pieces, 0.093 in 24).
  std::int64_t width_of_two_phases() const {
    constexpr std::int64_t kWidest = 4096, kPoints = 8;
    const std::int64_t chunks = split_.outer() * order_.chunks(), widest = width_of(kWidest);
    if (chunks * ((split_.inner() + widest - 1) / widest) >= kPoints) return widest;
    return width_of(std::clamp<std::int64_t>(kWidest * chunks / (2 * kPoints), 512, kWidest));
  }
  /// The same, whole lines where lanes must not cross their ends.
  std::int64_t width_of(std::int64_t most) const {
    const std::int64_t line = line_of_lanes();
    return line > 0 && line <= most ? line * largest_divisor(split_.inner() / line, most / line) : block_width(most);
  }
  /// Of windows that are read where they lie: outputs after which these go on elsewhere, where lanes must not cross to, or only the place would be found anew for each strip. Else 0.
  std::int64_t line_of_lanes() const {
    constexpr std::int64_t kShortest = 6, kEnough = 64;
    const Value* v = op_.operand(0);
    if (!fusion_.inlined.count(v) || !v->op()) return 0;
    const std::optional<op::WindowDims> dims = op::window_dims(*v->op());
    if (!dims) return 0;
    const Shape &counts = v->shape(), &array = v->op()->operand(0)->shape();
    std::int64_t line = 1;
    bool goes_on = true;
    for (int d = counts.rank(); d-- > dims->rank() && split_.is_inner(d) && (goes_on || (line % kMapLanes == 0 && line < kEnough));) {
      const int of = d - dims->rank();
      line *= counts[d];
      goes_on = goes_on && dims->stride[static_cast<std::size_t>(of)] == 1 && counts[d] == array[of];
    }
    return line >= kShortest && line < split_.inner() ? line : 0;
  }
  /// `steps(k, n)` for n elements from k on, `most` a time.
  static void for_steps(loop::Builder& b, Index begin, std::int64_t length, std::int64_t most, const std::function<void(Index, std::int64_t)>& steps) {
    if (length >= most) b.for_(0, length / most, 1, [&](Index i) { steps(begin + i * most, most); });
    if (length % most) steps(begin + length / most * most, length % most);
  }

  /// Lanes along the outputs: a block of inner places is accumulated in a scratch row, eight reduced elements a time. A few (windows, mostly) need
  /// no row (max_pool of 32 x 64 x 64 x 64 f32: 2.1 ms with one, 1.5 without).
  void columns() {
    constexpr std::int64_t kSteps = 8, kFew = 12;
    std::int64_t outer = split_.outer(), inner = split_.inner(), chunks = order_.chunks();
    bool two = chunks > 1;
    std::int64_t width = two ? width_of_two_phases() : width_of_one_phase(), blocks = (inner + width - 1) / width;
    BuiltKernel& built = kernel("reduce_columns");
    built.kernel->grid = outer * chunks * blocks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> targets = two ? partial_results(context, outer * chunks * inner) : std::vector<loop::Ref*>();
    const bool few = !two && order_.count <= kFew;
    std::vector<loop::Ref*> lines;
    if (!few) lines = each_of([&](const Reduced& r, int) { return b.scratch(accumulator(r.dtype), width); });
    Index point = b.grid();
    using Sums = std::vector<Inst*>;
    auto neutral_elements = [&] { return each_of([&](const Reduced& r, int) { return r.neutral_element(b); }); };
    auto loaded = [&](const Index& x) { return each_of([&](const Reduced&, int i) { return b.load(lines[static_cast<std::size_t>(i)], x); }); };
    auto with_elements = [&](Sums sums, Index k, std::int64_t n, Index o, Index x) {
      for (std::int64_t u = 0; u < n; ++u)
        for (std::size_t i = 0; i < all_.size(); ++i) sums[i] = b.binary(all_[i].code(), sums[i], widen(b, all_[i].dtype, all_[i].element(context, o, k + u, x)));
      return sums;
    };
    auto store = [&](const Index& at, const Sums& sums) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        const Reduced& r = all_[i];
        b.store(context.output(r.result()), at, r.finish(context, b.binary(r.code(), r.neutral_element(b), sums[i])));
      }
    };
    auto each = [&](std::int64_t columns, const std::function<void(Index)>& one) {
      const std::int64_t line = line_of_lanes();
      if (line == 0 || columns % line != 0) return b.vector(0, columns, kMapLanes, one);
      b.for_(0, columns / line, 1, [&](Index r) { b.vector(0, line, kMapLanes, [&](Index x) { one(r * line + x); }); });
    };
    auto keep = [&](const Index& x, const Sums& sums) {
      for (std::size_t i = 0; i < all_.size(); ++i) b.store(lines[i], x, sums[i]);
    };
    Index block = b.mod(point, blocks), chunk = b.mod(b.div(point, blocks), chunks), o = b.div(point, blocks * chunks);
    for_chunk(b, block, inner, width, [&](Index x0, std::int64_t columns) {
      if (few) return each(columns, [&](Index x) { store(o * inner + x0 + x, with_elements(neutral_elements(), 0, order_.count, o, x0 + x)); });
      b.vector(0, columns, 16, [&](Index x) { keep(x, neutral_elements()); });
      for_chunk(b, chunk, order_.count, order_.chunk, [&](Index k0, std::int64_t length) {
        for_steps(b, k0, length, kSteps, [&](Index k, std::int64_t n) {
          each(columns, [&](Index x) { keep(x, with_elements(loaded(x), k, n, o, x0 + x)); });
        });
      });
      b.vector(0, columns, 16, [&](Index x) {
        const Sums sums = loaded(x);
        if (!two) return store(o * inner + x0 + x, sums);
        for (std::size_t i = 0; i < all_.size(); ++i) b.store(targets[i], (o * chunks + chunk) * inner + x0 + x, sums[i]);
      });
    });
    if (two) combine_chunks(outer, chunks, inner);
  }

  // ---- columns of which a strip would be short
  static constexpr std::int64_t kFewColumns = 32, kAbreast = 8;

  /// Whether an array's reduced elements lie a few columns apart, and there are rows enough beside them.
  bool has_few_columns() const {
    const bool narrow = split_.inner() > 1 && split_.inner() <= kFewColumns && split_.outer() >= 8 * kAbreast;
    return narrow && !any_size_ && std::all_of(all_.begin(), all_.end(), [&](const Reduced& r) {
      int few = 4;
      return !is_bool(r.dtype) && is_light(*r.operand(), few);
    });
  }
  /// Whether computing an element takes no more than `left` operations: their code stands as often as rows are abreast.
  bool is_light(const Value& v, int& left) const {
    if (!v.op() || !fusion_.inlined.count(&v)) return true;
    const bool maps = op::def(*v.op()).traits.elementwise || v.op()->name() == "stablehlo.broadcast_in_dim";
    return maps && --left >= 0 && std::all_of(v.op()->operands.begin(), v.op()->operands.end(), [&](const Value* operand) { return is_light(*operand, left); });
  }
  /// Lanes along the few columns, several rows abreast, whose chains do not wait for each other (512 x 512 x 8 f32 over the middle: products 0.23 ms row by row, 0.04 so).
  void few_columns() {
    const std::int64_t outer = split_.outer(), inner = split_.inner();
    const std::int64_t per_point = kAbreast * std::max<std::int64_t>(1, rows_of_point(outer, inner * split_.reduced(), kPointElements) / kAbreast);
    BuiltKernel& built = kernel("reduce_columns");
    built.kernel->grid = (outer + per_point - 1) / per_point;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    for_chunk(b, b.grid(), outer, per_point, [&](Index first, std::int64_t rows) {
      for_steps(b, first, rows, kAbreast, [&](Index o, std::int64_t some) {
        b.vector(0, inner, static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(inner))), [&](Index x) { rows_abreast(context, o, some, x); });
      });
    });
  }
  /// Column(s) x of `some` rows from `o` on.
  void rows_abreast(KernelContext& context, const Index& o, std::int64_t some, const Index& x) {
    loop::Builder& b = context.b;
    const int lanes = x.lanes();
    auto each_sum = [&](const std::function<void(const Reduced& r, std::size_t sum, const Index& row)>& body) {
      for (std::int64_t row = 0; row < some; ++row)
        for (std::size_t i = 0; i < all_.size(); ++i) body(all_[i], static_cast<std::size_t>(row) * all_.size() + i, o + row);
    };
    auto begin = [&] {
      std::vector<Inst*> out;
      each_sum([&](const Reduced& r, std::size_t, const Index&) { out.push_back(b.local(r.neutral_element(b), lanes)); });
      return out;
    };
    const std::vector<Inst*> totals = begin();
    b.for_(0, order_.chunks(), 1, [&](Index c) {
      for_chunk(b, c, order_.count, order_.chunk, [&](Index k0, std::int64_t length) {
        const std::vector<Inst*> sums = begin();
        b.for_(0, length, 1, [&](Index k) {
          each_sum([&](const Reduced& r, std::size_t i, const Index& row) { b.set(sums[i], b.binary(r.code(), b.get(sums[i]), widen(b, r.dtype, r.element(context, row, k0 + k, x)))); });
        });
        each_sum([&](const Reduced& r, std::size_t i, const Index&) { b.set(totals[i], b.binary(r.code(), b.get(totals[i]), b.get(sums[i]))); });
      });
    });
    each_sum([&](const Reduced& r, std::size_t i, const Index& row) { b.store(context.output(r.result()), row * split_.inner() + x, r.finish(context, b.get(totals[i]))); });
  }

  /// Second phase: results of chunks in order, for each of outer x inner outputs.
  void combine_chunks(std::int64_t outer, std::int64_t chunks, std::int64_t inner) {
    BuiltKernel& built = kernel("reduce_chunks");
    std::int64_t width = largest_divisor(inner, 1024);
    built.kernel->grid = outer * (inner / width);
    built.parallel = static_cast<double>(outer * chunks * inner) * static_cast<double>(all_.size()) > kInlineWork;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> partial = each_of([&](const Reduced& r, int i) { return context.temporary(i, accumulator(r.dtype), outer * chunks * inner, loop::Ref::Mode::in); });
    Index o = b.div(b.grid(), inner / width), x0 = b.mod(b.grid(), inner / width) * width;
    int lanes = width >= 16 ? 16 : 1;
    auto column = [&](Index x) {
      std::vector<Inst*> totals = each_of([&](const Reduced& r, int) { return b.local(r.neutral_element(b), lanes); });
      b.for_(0, chunks, 1, [&](Index c) {
        for (std::size_t i = 0; i < all_.size(); ++i) b.set(totals[i], b.binary(all_[i].code(), b.get(totals[i]), b.load(partial[i], (o * chunks + c) * inner + x0 + x)));
      });
      for (std::size_t i = 0; i < all_.size(); ++i) b.store(context.output(all_[i].result()), o * inner + x0 + x, all_[i].finish(context, b.get(totals[i])));
    };
    if (lanes > 1)
      b.vector(0, width, lanes, column);
    else
      b.for_(0, width, 1, column);
  }

  std::vector<Inst*> apply(KernelContext& context, std::vector<Inst*> state, const std::vector<Inst*>& elements) {
    if (auto extremum = op::arg_extremum(op_.region(0))) return op::lower_extremum(context.b, extremum->maximum, state, elements);
    state.insert(state.end(), elements.begin(), elements.end());
    return op::lower_region(context, op_.region(0), state);
  }
  /// In the type that the region computes in.
  Inst* promoted(loop::Builder& b, int operand, Inst* x) { return b.convert(op_.result(operand)->dtype(), x); }

  /// A general region, element after element.
  void sequential() {
    BuiltKernel& built = kernel("reduce_region");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    std::int64_t inner = split_.inner();
    int n = op_.num_results();
    std::int64_t outputs = split_.outer() * inner, per_point = largest_divisor(outputs, 64);
    built.kernel->grid = outputs / per_point;
    b.for_(0, per_point, 1, [&](Index i) {
      Index out = b.grid() * per_point + i;
      std::vector<Inst*> state;
      for (int a = 0; a < n; ++a) state.push_back(b.local(promoted(b, a, initial(context, a))));
      b.for_(0, split_.reduced(), 1, [&](Index k) { step(context, state, b.div(out, inner), k, b.mod(out, inner)); });
      for (int a = 0; a < n; ++a) b.store(context.output(op_.result(a)), out, b.get(state[static_cast<std::size_t>(a)]));
    });
  }

  /// A general region without branches of short rows, with lanes along the outputs wherever these lie.
  void region_written_out() {
    BuiltKernel& built = kernel("reduce_region");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::int64_t inner = split_.inner(), outputs = split_.outer() * inner, per_point = largest_divisor(outputs, 4096);
    built.kernel->grid = outputs / per_point;
    b.vector(0, per_point, kMapLanes, [&](Index i) {
      Index out = b.grid() * per_point + i;
      std::vector<Inst*> state;
      for (int a = 0; a < op_.num_results(); ++a) state.push_back(promoted(b, a, initial(context, a)));
      for (std::int64_t k = 0; k < split_.reduced(); ++k) state = combined(context, std::move(state), b.div(out, inner), k, b.mod(out, inner));
      for (int a = 0; a < op_.num_results(); ++a) b.store(context.output(op_.result(a)), out, state[static_cast<std::size_t>(a)]);
    });
  }

  void step(KernelContext& context, const std::vector<Inst*>& state, Index o, Index k, Index x) {
    std::vector<Inst*> now;
    for (Inst* local : state) now.push_back(context.b.get(local));
    std::vector<Inst*> next = combined(context, std::move(now), o, k, x);
    for (std::size_t a = 0; a < state.size(); ++a) context.b.set(state[a], next[a]);
  }
  std::vector<Inst*> combined(KernelContext& context, std::vector<Inst*> state, Index o, Index k, Index x) {
    std::vector<Inst*> elements;
    for (int a = 0; a < op_.num_results(); ++a) elements.push_back(promoted(context.b, a, element(context, o, k, x, a)));
    return apply(context, std::move(state), elements);
  }

  /// A general region without branches, element after element with lanes along the outputs, as `columns` does.
  void region_columns() {
    const std::int64_t inner = split_.inner(), width = width_of_one_phase(), blocks = (inner + width - 1) / width;
    const std::int64_t together = op::is_arg_extremum(op_.region(0)) ? 8 : 1;
    BuiltKernel& built = kernel("reduce_region");
    built.kernel->grid = split_.outer() * blocks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    std::vector<loop::Ref*> rows;
    for (int a = 0; a < op_.num_results(); ++a) rows.push_back(b.scratch(op_.result(a)->dtype(), width));
    auto state = [&](Index x) {
      std::vector<Inst*> out;
      for (loop::Ref* row : rows) out.push_back(b.load(row, x));
      return out;
    };
    Index block = b.mod(b.grid(), blocks), o = b.div(b.grid(), blocks);
    for_chunk(b, block, inner, width, [&](Index x0, std::int64_t columns) {
      b.vector(0, columns, 16, [&](Index x) {
        for (int a = 0; a < op_.num_results(); ++a) b.store(rows[static_cast<std::size_t>(a)], x, promoted(b, a, initial(context, a)));
      });
      for_steps(b, 0, split_.reduced(), together, [&](Index k, std::int64_t n) {
        b.vector(0, columns, 16, [&](Index x) {
          std::vector<Inst*> now = state(x);
          for (std::int64_t u = 0; u < n; ++u) now = combined(context, std::move(now), o, k + u, x0 + x);
          for (std::size_t a = 0; a < rows.size(); ++a) b.store(rows[a], x, now[a]);
        });
      });
      b.vector(0, columns, 16, [&](Index x) {
        std::vector<Inst*> all = state(x);
        for (int a = 0; a < op_.num_results(); ++a) b.store(context.output(op_.result(a)), o * inner + x0 + x, all[static_cast<std::size_t>(a)]);
      });
    });
  }

  /// An argument maximum or minimum has one result in any order (op/reduce.h): the best value first, in lanes that know of no place; then the
  /// least place that has it, in those blocks of the row whose own best value it is.
  void arg_extremum() {
    BuiltKernel& built = kernel("arg_extremum");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    std::int64_t rows = split_.outer(), per_point = largest_divisor(rows, rows_of_point(rows, split_.reduced(), kPointElements));
    built.kernel->grid = rows / per_point;
    // What is computed is kept, what lies in memory is read again.
    loop::Ref* computed = fusion_.inlined.count(op_.operand(0)) ? b.scratch(accumulator(compared()), split_.reduced()) : nullptr;
    loop::Ref* bests = blocks() > 1 ? b.scratch(accumulator(compared()), blocks()) : nullptr;
    b.for_(0, per_point, 1, [&](Index i) {
      Index row = b.grid() * per_point + i;
      store_pair(context, row, op::lower_extremum(b, maximum(), initial_pair(context), best_of_row(context, row, computed, bests)));
    });
  }
  /// Short rows that lie one behind the other in memory, of elements that fill a vector as they are compared. All of a row is written out: computed elements would be much code, and code for any size would be for this length
  /// alone.
  bool goes_by_squares() const {
    return !any_size_ && !fusion_.inlined.count(op_.operand(0)) && order_.lanes > 1 && split_.inner() == 1 && split_.run() == split_.reduced() && split_.reduced() >= kSquare && split_.reduced() <= kLongestBySquares && split_.outer() >= kSquare &&
           byte_width(accumulator(compared())) >= 4;
  }
  /// As many rows at a time as a square has, turned in registers so that each lane walks along its own. The last square of a row ends with it, and gives what those before it have not.
  void extremum_by_squares() {
    BuiltKernel& built = kernel("arg_extremum");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::int64_t rows = split_.outer(), n = split_.reduced(), squares = rows / kSquare, per_point = largest_divisor(squares, kPointElements / kSquare / n);
    built.kernel->grid = squares / per_point;
    auto better = [&](const std::vector<Inst*>& state, Inst* value, const Index& row, const Index& k) {
      return op::lower_extremum(b, maximum(), state, std::array{value, element(context, row, k, 0, 1)});
    };
    b.for_(0, per_point, 1, [&](Index i) {
      const Index top = (b.grid() * per_point + i) * kSquare;
      b.vector(0, kSquare, kSquare, [&](Index lane) {
        std::vector<Inst*> state = initial_pair(context);
        for (std::int64_t k = 0; k < n; k += kSquare) {
          const std::int64_t left = std::min(k, n - kSquare);
          std::vector<Inst*> square;
          for (std::int64_t r = 0; r < kSquare; ++r) square.push_back(as_compared(b, element(context, top + Index(r), Index(left) + lane, 0)));
          square = loop::transposed(b, std::move(square));
          for (std::int64_t c = k - left; c < kSquare; ++c) state = better(state, square[static_cast<std::size_t>(c)], top + lane, Index(left + c));
        }
        store_pair(context, top + lane, state);
      });
    });
    if (rows % kSquare == 0) return;
    b.if_(b.less(b.grid(), 1), [&] {
      b.vector(squares * kSquare, rows, kSquare, [&](Index row) {
        std::vector<Inst*> state = initial_pair(context);
        for (std::int64_t k = 0; k < n; ++k) state = better(state, as_compared(b, element(context, row, k, 0)), row, k);
        store_pair(context, row, state);
      });
    });
  }
  /// Truth values are compared as numbers.
  DType compared() const { return is_bool(dtype_) ? DType::ui8 : dtype_; }
  Inst* as_compared(loop::Builder& b, Inst* x) const { return widen(b, compared(), is_bool(dtype_) ? b.convert(DType::ui8, x) : x); }
  /// A value as it is compared, and its place: the reduction's initial one, and a row's result.
  std::vector<Inst*> initial_pair(KernelContext& context) { return {as_compared(context.b, initial(context, 0)), initial(context, 1)}; }
  void store_pair(KernelContext& context, const Index& row, const std::vector<Inst*>& pair) {
    context.b.store(context.output(op_.result(0)), row, context.b.convert(dtype_, pair[0]));
    context.b.store(context.output(op_.result(1)), row, pair[1]);
  }
  bool maximum() const { return op::arg_extremum(op_.region(0))->maximum; }

  /// A long row's elements in blocks, of which the last may begin within the one before it.
  std::int64_t block() const { return split_.reduced() >= 2 * kBlockOfRow ? kBlockOfRow : split_.reduced(); }
  std::int64_t blocks() const { return (split_.reduced() + block() - 1) / block(); }
  void for_blocks(loop::Builder& b, const std::function<void(Index number, Index begin)>& f) const {
    b.for_(0, split_.reduced() / block(), 1, [&](Index i) { f(i, i * block()); });
    if (split_.reduced() % block() > 0) f(blocks() - 1, split_.reduced() - block());
  }

  std::vector<Inst*> best_of_row(KernelContext& context, const Index& row, loop::Ref* computed, loop::Ref* bests) {
    loop::Builder& b = context.b;
    const std::int64_t n = block();
    const int lanes = n >= 32 ? 32 : n >= 16 ? 16 : 8;
    op::Combiner better = maximum() ? op::Combiner::max : op::Combiner::min;
    loop::Compare beats = maximum() ? loop::Compare::gt : loop::Compare::lt;
    bool has_nan = is_float(dtype_);
    auto is_nan = [&](Inst* x) { return b.compare(loop::Compare::ne, x, x); };
    Inst *lowest = neutral(b, better, compared()), *no = b.constant_int(DType::i32, 0), *yes = b.constant_int(DType::i32, 1);
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
    auto again = [&](const std::function<Inst*(Inst*)>& found_in, const std::function<void(Index, Inst*)>& f) {
      for_blocks(b, [&](Index number, Index begin) {
        auto walk = [&] { b.vector(begin, begin + n, lanes, [&](Index k) { f(k, computed ? b.load(computed, k) : as_compared(b, element(context, row, k, 0))); }); };
        bests && found_in ? b.if_(found_in(b.load(bests, number)), walk) : walk();
      });
    };
    auto find = [&](const std::function<Inst*(Inst*)>& found_in, const std::function<Inst*(Inst*)>& wins) {
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

  const Op& op_;  // the first of all
  const Fusion& fusion_;
  const bool any_size_;
  op::Reduction reduction_;
  Split split_;
  std::vector<Reduced> all_;
  op::ReduceOrder order_;
  DType dtype_ = DType::f32;
  Built out_;
};

}  // namespace

Built build_reductions(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size) { return Reduce(ops, fusion, any_size).build(); }

}  // namespace strata::compile
