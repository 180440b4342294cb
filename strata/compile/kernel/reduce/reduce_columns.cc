#include "strata/compile/kernel/reduce/reduce_columns.h"

#include <algorithm>

#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reductions.h"

namespace strata::compile {
namespace {

using ir::Value;

class Columns : public Reductions {
 public:
  using Reductions::Reductions;

  Built build() {
    has_few_columns() ? few_columns() : columns();
    return std::move(out_);
  }

 private:
  /// As wide as may be, a part where threads would have none or too unequal a number (the maxima of
  /// 768 x 4096 bf16 over the first dimension: 0.121 ms in three pieces, 0.093 in 24).
  std::int64_t width_of_two_phases() const {
    constexpr std::int64_t kWidest = 4096, kPoints = 8;
    const std::int64_t chunks = split_.outer() * order_.chunks(), widest = width_of(kWidest);
    if (chunks * ((split_.inner() + widest - 1) / widest) >= kPoints) return widest;
    return width_of(std::clamp<std::int64_t>(kWidest * chunks / (2 * kPoints), 512, kWidest));
  }

  /// Lanes along the outputs: a block of inner places is accumulated in a scratch row, eight
  /// reduced elements a time. A few (windows, mostly) need no row (max_pool of 32 x 64 x 64 x 64
  /// f32: 2.1 ms with one, 1.5 without).
  void columns() {
    constexpr std::int64_t kSteps = 8, kFew = 12;
    std::int64_t outer = split_.outer(), inner = split_.inner(), chunks = order_.chunks();
    bool two = chunks > 1;
    std::int64_t width = two ? width_of_two_phases() : width_of_one_phase(),
                 blocks = (inner + width - 1) / width;
    BuiltKernel& built = kernel("reduce_columns");
    built.kernel->grid = outer * chunks * blocks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::vector<loop::Ref*> targets =
        two ? partial_results(context, outer * chunks * inner) : std::vector<loop::Ref*>();
    const bool few = !two && order_.count <= kFew;
    std::vector<loop::Ref*> lines, totals;
    if (!few)
      lines =
          each_of([&](const Reduced& r, int) { return b.scratch(accumulator(r.dtype), width); });
    if (order_.is_long())
      totals = each_of([&](const Reduced& r, int) { return b.scratch(total_type(r), width); });
    Index point = b.grid();
    using Sums = std::vector<Inst*>;
    auto neutral_elements = [&] {
      return each_of([&](const Reduced& r, int) { return r.neutral_element(b); });
    };
    auto loaded = [&](const Index& x) {
      return each_of(
          [&](const Reduced&, int i) { return b.load(lines[static_cast<std::size_t>(i)], x); });
    };
    auto with_elements = [&](Sums sums, Index k, std::int64_t n, Index o, Index x) {
      for (std::int64_t u = 0; u < n; ++u)
        for (std::size_t i = 0; i < all_.size(); ++i)
          sums[i] = b.binary(all_[i].code(), sums[i],
                             widen(b, all_[i].dtype, all_[i].element(context, o, k + u, x)));
      return sums;
    };
    auto store = [&](const Index& at, const Sums& sums) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        const Reduced& r = all_[i];
        b.store(context.output(r.result()), at,
                r.finish(context, b.binary(r.code(), r.neutral_element(b), sums[i])));
      }
    };
    auto each = [&](std::int64_t columns, const std::function<void(Index)>& one) {
      const std::int64_t line = line_of_lanes();
      if (line == 0 || columns % line != 0) return b.vector(0, columns, kMapLanes, one);
      b.for_(0, columns / line, 1,
             [&](Index r) { b.vector(0, line, kMapLanes, [&](Index x) { one(r * line + x); }); });
    };
    auto keep = [&](const Index& x, const Sums& sums) {
      for (std::size_t i = 0; i < all_.size(); ++i) b.store(lines[i], x, sums[i]);
    };
    Index block = b.mod(point, blocks), chunk = b.mod(b.div(point, blocks), chunks),
          o = b.div(point, blocks * chunks);
    for_piece(b, block, inner, width, [&](Index x0, std::int64_t columns) {
      if (few)
        return each(columns, [&](Index x) {
          store(o * inner + x0 + x, with_elements(neutral_elements(), 0, order_.count, o, x0 + x));
        });
      auto add = [&](const Index& k0, std::int64_t length) {
        for_pieces(b, k0, length, kSteps, [&](Index k, std::int64_t n) {
          each(columns, [&](Index x) { keep(x, with_elements(loaded(x), k, n, o, x0 + x)); });
        });
      };
      auto add_to_totals = [&](const Index& x, const Sums& sums) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
          Total sum = total(b, all_[i], x.lanes());
          sum.set(b.load(totals[i], x));
          sum.add(sums[i]);
          b.store(totals[i], x, sum.get());
        }
      };
      auto each_total = [&](const std::function<void(const Index& x, std::size_t i)>& body) {
        b.vector(0, columns, 16, [&](Index x) {
          for (std::size_t i = 0; i < all_.size(); ++i) body(x, i);
        });
      };
      if (order_.is_long())
        each_total([&](const Index& x, std::size_t i) {
          b.store(totals[i], x, total(b, all_[i], x.lanes()).get());
        });
      else
        b.vector(0, columns, 16, [&](Index x) { keep(x, neutral_elements()); });
      for_piece(b, chunk, order_.count, order_.chunk, [&](Index begin, std::int64_t length) {
        if (!order_.is_long()) return add(begin, length);
        for_pieces(b, begin, length, order_.piece, [&](Index k0, std::int64_t some) {
          const std::int64_t last = (some - 1) / kSteps * kSteps;
          auto take = [&](const Index& k, std::int64_t n, bool begins, bool ends) {
            each(columns, [&](Index x) {
              const Sums sums =
                  with_elements(begins ? neutral_elements() : loaded(x), k, n, o, x0 + x);
              ends ? add_to_totals(x, sums) : keep(x, sums);
            });
          };
          if (last > 0) take(k0, kSteps, true, false);
          b.for_(1, last / kSteps, 1,
                 [&](Index s) { take(k0 + s * kSteps, kSteps, false, false); });
          take(k0 + last, some - last, last == 0, true);
        });
      });
      if (!two)
        return b.vector(0, columns, 16, [&](Index x) { store(o * inner + x0 + x, loaded(x)); });
      each_total([&](const Index& x, std::size_t i) {
        b.store(targets[i], (o * chunks + chunk) * inner + x0 + x,
                b.load(order_.is_long() ? totals[i] : lines[i], x));
      });
    });
    if (two) combine_chunks(outer, chunks, inner);
  }

  // ---- columns of which a strip would be short
  static constexpr std::int64_t kFewColumns = 32, kInterleavedRows = 8;

  /// Whether an array's reduced elements are a few columns apart, and there are rows enough beside
  /// them.
  bool has_few_columns() const {
    const bool narrow = split_.inner() > 1 && split_.inner() <= kFewColumns &&
                        split_.outer() >= 8 * kInterleavedRows;
    return narrow && !any_size_ && std::all_of(all_.begin(), all_.end(), [&](const Reduced& r) {
             int few = 4;
             return !is_bool(r.dtype) && is_light(*r.operand(), few);
           });
  }

  /// Whether computing an element takes no more than `left` operations: their code stands as often
  /// as rows are abreast.
  bool is_light(const Value& v, int& left) const {
    if (!v.op() || !fusion_.inlined.count(&v)) return true;
    const bool maps =
        op::def(*v.op()).traits.elementwise || v.op()->name() == "stablehlo.broadcast_in_dim";
    return maps && --left >= 0 &&
           std::all_of(v.op()->operands.begin(), v.op()->operands.end(),
                       [&](const Value* operand) { return is_light(*operand, left); });
  }

  /// Lanes along the few columns, several rows abreast, whose chains do not wait for each other
  /// (512 x 512 x 8 f32 over the middle: products 0.23 ms row by row, 0.04 so).
  void few_columns() {
    const std::int64_t outer = split_.outer(), inner = split_.inner();
    const std::int64_t per_point =
        kInterleavedRows *
        std::max<std::int64_t>(
            1, rows_of_point(outer, inner * split_.reduced(), kReducedAtPoint) / kInterleavedRows);
    BuiltKernel& built = kernel("reduce_columns");
    built.kernel->grid = (outer + per_point - 1) / per_point;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    for_piece(b, b.grid(), outer, per_point, [&](Index first, std::int64_t rows) {
      for_pieces(b, first, rows, kInterleavedRows, [&](Index o, std::int64_t some) {
        b.vector(0, inner, loop::lanes_for(inner, kFewColumns),
                 [&](Index x) { rows_abreast(context, o, some, x); });
      });
    });
  }

  /// Column(s) x of `some` rows from `o` on.
  void rows_abreast(KernelContext& context, const Index& o, std::int64_t some, const Index& x) {
    loop::Builder& b = context.b;
    const int lanes = x.lanes();
    auto each_sum =
        [&](const std::function<void(const Reduced& r, std::size_t sum, const Index& row)>& body) {
          for (std::int64_t row = 0; row < some; ++row)
            for (std::size_t i = 0; i < all_.size(); ++i)
              body(all_[i], static_cast<std::size_t>(row) * all_.size() + i, o + row);
        };
    auto begin = [&] {
      std::vector<Inst*> out;
      each_sum([&](const Reduced& r, std::size_t, const Index&) {
        out.push_back(b.local(r.neutral_element(b), lanes));
      });
      return out;
    };
    auto begin_totals = [&] {
      std::vector<Total> out;
      each_sum(
          [&](const Reduced& r, std::size_t, const Index&) { out.push_back(total(b, r, lanes)); });
      return out;
    };
    std::vector<Total> totals = begin_totals();
    b.for_(0, order_.chunks(), 1, [&](Index c) {
      std::vector<Total> of_chunk = begin_totals();
      auto piece = [&](const Index& k0, std::int64_t length) {
        const std::vector<Inst*> sums = begin();
        b.for_(0, length, 1, [&](Index k) {
          each_sum([&](const Reduced& r, std::size_t i, const Index& row) {
            b.set(sums[i], b.binary(r.code(), b.get(sums[i]),
                                    widen(b, r.dtype, r.element(context, row, k0 + k, x))));
          });
        });
        each_sum(
            [&](const Reduced&, std::size_t i, const Index&) { of_chunk[i].add(b.get(sums[i])); });
      };
      for_piece(b, c, order_.count, order_.chunk,
                [&](Index k0, std::int64_t length) { by_pieces(b, k0, length, piece); });
      each_sum(
          [&](const Reduced&, std::size_t i, const Index&) { totals[i].add(of_chunk[i].get()); });
    });
    each_sum([&](const Reduced& r, std::size_t i, const Index& row) {
      b.store(context.output(r.result()), row * split_.inner() + x,
              r.finish(context, totals[i].rounded()));
    });
  }
};

}  // namespace

Built reduce_columns(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size) {
  return Columns(ops, fusion, any_size).build();
}

}  // namespace strata::compile
