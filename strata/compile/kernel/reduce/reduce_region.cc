#include "strata/compile/kernel/reduce/reduce_region.h"

#include "strata/compile/kernel/reduce/reductions.h"
#include "strata/op/lower_region.h"

namespace strata::compile {
namespace {

constexpr std::int64_t kLongestWrittenOut =
    12;  // rows whose elements are written out one after the other

class Regions : public Reductions {
 public:
  using Reductions::Reductions;

  Built build() {
    const bool in_lanes =
        op::is_arg_extremum(op_.region(0)) || op::emission(op_.region(0)) == op::Emission::lanes;
    if (split_.inner() >= 8 && in_lanes)
      region_columns();
    else if (in_lanes && split_.reduced() <= kLongestWrittenOut &&
             split_.outer() * split_.inner() >= kMapLanes)
      region_written_out();
    else
      sequential();
    return std::move(out_);
  }

 private:
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
      b.for_(0, split_.reduced(), 1,
             [&](Index k) { step(context, state, b.div(out, inner), k, b.mod(out, inner)); });
      for (int a = 0; a < n; ++a)
        b.store(context.output(op_.result(a)), out, b.get(state[static_cast<std::size_t>(a)]));
    });
  }

  /// A general region without branches of short rows, with lanes along the outputs wherever these
  /// are.
  void region_written_out() {
    BuiltKernel& built = kernel("reduce_region");
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const std::int64_t inner = split_.inner(), outputs = split_.outer() * inner,
                       per_point = largest_divisor(outputs, 4096);
    built.kernel->grid = outputs / per_point;
    b.vector(0, per_point, kMapLanes, [&](Index i) {
      Index out = b.grid() * per_point + i;
      std::vector<Inst*> state;
      for (int a = 0; a < op_.num_results(); ++a)
        state.push_back(promoted(b, a, initial(context, a)));
      for (std::int64_t k = 0; k < split_.reduced(); ++k)
        state = combined(context, std::move(state), b.div(out, inner), k, b.mod(out, inner));
      for (int a = 0; a < op_.num_results(); ++a)
        b.store(context.output(op_.result(a)), out, state[static_cast<std::size_t>(a)]);
    });
  }

  /// A general region without branches, element after element with lanes along the outputs, as
  /// `columns` does.
  void region_columns() {
    const std::int64_t inner = split_.inner(), width = width_of_one_phase(),
                       blocks = (inner + width - 1) / width;
    const std::int64_t together = op::is_arg_extremum(op_.region(0)) ? 8 : 1;
    BuiltKernel& built = kernel("reduce_region");
    built.kernel->grid = split_.outer() * blocks;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    std::vector<loop::Ref*> rows;
    for (int a = 0; a < op_.num_results(); ++a)
      rows.push_back(b.scratch(op_.result(a)->dtype(), width));
    auto state = [&](Index x) {
      std::vector<Inst*> out;
      for (loop::Ref* row : rows) out.push_back(b.load(row, x));
      return out;
    };
    Index block = b.mod(b.grid(), blocks), o = b.div(b.grid(), blocks);
    for_piece(b, block, inner, width, [&](Index x0, std::int64_t columns) {
      b.vector(0, columns, 16, [&](Index x) {
        for (int a = 0; a < op_.num_results(); ++a)
          b.store(rows[static_cast<std::size_t>(a)], x, promoted(b, a, initial(context, a)));
      });
      for_pieces(b, 0, split_.reduced(), together, [&](Index k, std::int64_t n) {
        b.vector(0, columns, 16, [&](Index x) {
          std::vector<Inst*> now = state(x);
          for (std::int64_t u = 0; u < n; ++u)
            now = combined(context, std::move(now), o, k + u, x0 + x);
          for (std::size_t a = 0; a < rows.size(); ++a) b.store(rows[a], x, now[a]);
        });
      });
      b.vector(0, columns, 16, [&](Index x) {
        std::vector<Inst*> all = state(x);
        for (int a = 0; a < op_.num_results(); ++a)
          b.store(context.output(op_.result(a)), o * inner + x0 + x,
                  all[static_cast<std::size_t>(a)]);
      });
    });
  }

  void step(KernelContext& context, const std::vector<Inst*>& state, Index o, Index k, Index x) {
    std::vector<Inst*> now;
    for (Inst* local : state) now.push_back(context.b.get(local));
    std::vector<Inst*> next = combined(context, std::move(now), o, k, x);
    for (std::size_t a = 0; a < state.size(); ++a) context.b.set(state[a], next[a]);
  }

  std::vector<Inst*> combined(KernelContext& context, std::vector<Inst*> state, Index o, Index k,
                              Index x) {
    std::vector<Inst*> elements;
    for (int a = 0; a < op_.num_results(); ++a)
      elements.push_back(promoted(context.b, a, element(context, o, k, x, a)));
    return apply(context, std::move(state), elements);
  }

  std::vector<Inst*> apply(KernelContext& context, std::vector<Inst*> state,
                           const std::vector<Inst*>& elements) {
    if (op::is_arg_extremum(op_.region(0))) return better_place(context.b, state, elements);
    state.insert(state.end(), elements.begin(), elements.end());
    return op::lower_region(context, op_.region(0), state);
  }

  /// In the type that the region computes in.
  Inst* promoted(loop::Builder& b, int operand, Inst* x) {
    return b.convert(op_.result(operand)->dtype(), x);
  }
};

}  // namespace

Built reduce_region(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size) {
  return Regions(ops, fusion, any_size).build();
}

}  // namespace strata::compile
