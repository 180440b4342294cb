#include "strata/compile/kernel/reduce/reductions.h"

#include <algorithm>

#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

/// Inner places that a grid point accumulates in scratch rows, at most.
std::int64_t block_width(std::int64_t inner, std::int64_t most) {
  std::int64_t width = largest_divisor(inner, most);
  return width < 32 ? std::min<std::int64_t>(inner, 512) : width;
}

/// What all are combined in: that of the shortest pieces, which the others do not mind.
op::ReduceOrder order_of_all(std::span<const Op* const> ops) {
  if (reduction_of(*ops.front()).combiner == op::Combiner::region)
    return op::reduce_order(ops.front()->operand(0)->type(), reduction_of(*ops.front()).dims);
  op::ReduceOrder out = order_of(*ops.front());
  for (const Op* op : ops)
    if (const op::ReduceOrder order = order_of(*op); order.piece < out.piece) out = order;
  return out;
}

}  // namespace

ReduceSplit::ReduceSplit(const Op& op, std::vector<int> dims) : shape_(op.operand(0)->shape()) {
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

bool ReduceSplit::is_inner(int d) const {
  return std::find(inner_.begin(), inner_.end(), d) != inner_.end();
}

std::int64_t ReduceSplit::apart() const {
  if (outer_.empty() || reduced_.empty() || reduced_.front() > outer_.back()) return 0;
  std::int64_t out = 1;
  for (int d = outer_.back() + 1; d < shape_.rank(); ++d) out *= shape_[d];
  return out;
}

std::int64_t ReduceSplit::runs_apart() const {
  std::int64_t out = 1;
  for (int d = *(run_begin() - 1) + 1; d < shape_.rank(); ++d) out *= shape_[d];
  return out;
}

std::vector<Index> ReduceSplit::index_in_run(loop::Builder& b, const Index& o, const Index& r,
                                             const Index& j) const {
  std::vector<Index> out(static_cast<std::size_t>(shape_.rank()));
  place(b, out, outer_, o);
  place(b, out, {reduced_.begin(), run_begin()}, r);
  place(b, out, {run_begin(), reduced_.end()}, j);
  return out;
}

std::vector<Index> ReduceSplit::index(loop::Builder& b, const Index& o, const Index& k,
                                      const Index& x) const {
  std::vector<Index> out(static_cast<std::size_t>(shape_.rank()));
  place(b, out, outer_, o);
  place(b, out, reduced_, k);
  place(b, out, inner_, x);
  return out;
}

std::vector<int>::const_iterator ReduceSplit::run_begin() const {
  auto first = reduced_.end();
  while (first != reduced_.begin() && (first == reduced_.end() || *(first - 1) + 1 == *first))
    --first;
  return first;
}

Shape ReduceSplit::part(const std::vector<int>& dims) const {
  std::vector<Dim> out;
  for (int d : dims) out.push_back(shape_.dim(d));
  return Shape(out);
}

/// Neighbouring dimensions first as one, so that an array which has them as neighbours is read
/// without taking them apart.
void ReduceSplit::place(loop::Builder& b, std::vector<Index>& out, const std::vector<int>& dims,
                        const Index& offset) const {
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
    for (std::size_t i = 0; i < runs[r].size(); ++i)
      out[static_cast<std::size_t>(runs[r][i])] = index[i];
  }
}

Inst* Reduced::neutral_element(loop::Builder& b) const { return neutral(b, combiner, dtype); }

Inst* Reduced::element(KernelContext& context, const Index& o, const Index& k, const Index& x,
                       int operand) const {
  return context.at(op.operand(operand), split_.index(context.b, o, k, x));
}

Inst* Reduced::initial(KernelContext& context, int operand) const {
  return context.at(op.operand(operand + op.num_results()), {});
}

Inst* Reduced::finish(KernelContext& context, Inst* total) const {
  return context.b.convert(
      result()->dtype(),
      context.b.binary(code(), widen(context.b, dtype, initial(context)), total));
}

Reductions::Reductions(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size)
    : op_(*ops.front()),
      fusion_(fusion),
      any_size_(any_size),
      reduction_(reduction_of(op_)),
      split_(op_, reduction_.dims),
      order_(order_of_all(ops)),
      dtype_(op_.operand(0)->dtype()) {
  for (const ir::Op* op : ops) all_.emplace_back(*op, split_);
}

BuiltKernel& Reductions::kernel(const char* name) {
  out_.kernels.emplace_back();
  out_.kernels.back().kernel = std::make_unique<loop::Kernel>(name);
  out_.kernels.back().parallel =
      static_cast<double>(op_.operand(0)->shape().count()) * static_cast<double>(all_.size()) >
      kInlineWork;
  return out_.kernels.back();
}

bool Reductions::are_alike() const {
  return std::all_of(all_.begin(), all_.end(), [&](const Reduced& r) {
    return r.operand()->shape() == op_.operand(0)->shape() &&
           reduction_of(r.op).dims == reduction_.dims && r.combiner != op::Combiner::region;
  });
}

std::vector<loop::Ref*> Reductions::partial_results(KernelContext& context, std::int64_t count) {
  return each_of([&](const Reduced& r, int i) {
    out_.temporaries.push_back(count * static_cast<std::int64_t>(byte_width(total_type(r))));
    return context.temporary(i, total_type(r), count, loop::Ref::Mode::inout);
  });
}

void Reductions::combine_chunks(std::int64_t outer, std::int64_t chunks, std::int64_t inner) {
  BuiltKernel& built = kernel("reduce_chunks");
  const std::int64_t width = largest_divisor(inner, 1024);
  built.kernel->grid = outer * (inner / width);
  built.parallel =
      static_cast<double>(outer * chunks * inner) * static_cast<double>(all_.size()) > kInlineWork;
  loop::Builder b(*built.kernel);
  KernelContext context(b, fusion_, built);
  const std::vector<loop::Ref*> partial = each_of([&](const Reduced& r, int i) {
    return context.temporary(i, total_type(r), outer * chunks * inner, loop::Ref::Mode::in);
  });
  Index o = b.div(b.grid(), inner / width), x0 = b.mod(b.grid(), inner / width) * width;
  int lanes = width >= 16 ? 16 : 1;
  auto column = [&](Index x) {
    std::vector<Total> totals = each_of([&](const Reduced& r, int) { return total(b, r, lanes); });
    b.for_(0, chunks, 1, [&](Index c) {
      for (std::size_t i = 0; i < all_.size(); ++i)
        totals[i].add(b.load(partial[i], (o * chunks + c) * inner + x0 + x));
    });
    for (std::size_t i = 0; i < all_.size(); ++i)
      b.store(context.output(all_[i].result()), o * inner + x0 + x,
              all_[i].finish(context, totals[i].rounded()));
  };
  if (lanes > 1)
    b.vector(0, width, lanes, column);
  else
    b.for_(0, width, 1, column);
}

std::vector<Inst*> Reductions::better_place(loop::Builder& b, std::span<Inst* const> state,
                                            std::span<Inst* const> element) const {
  const bool maximum = op::arg_extremum(op_.region(0))->maximum;
  return places_ascend() ? op::lower_later_extremum(b, maximum, state, element)
                         : op::lower_extremum(b, maximum, state, element);
}

bool Reductions::places_ascend() const {
  if (reduction_.dims.size() != 1) return false;
  const Op *counts = op_.operand(1)->op(), *first = op_.operand(op_.num_results() + 1)->op();
  const Literal* place = first ? constant_literal(*first) : nullptr;
  if (!counts || !place || place->integer(0) > 0) return false;
  if (counts->name() == "stablehlo.iota")
    return counts->attr<std::int64_t>("iota_dimension") == reduction_.dims[0];
  if (counts->name() != "stablehlo.broadcast_in_dim" ||
      counts->attr<ir::Ints>("broadcast_dimensions") != ir::Ints{reduction_.dims[0]})
    return false;
  return counts->operand(0)->op() && counts->operand(0)->op()->name() == "stablehlo.iota";
}

std::int64_t Reductions::width_of_one_phase() const {
  return width_of(std::clamp<std::int64_t>(split_.outer() * split_.inner() / 8, 64, 2048));
}

std::int64_t Reductions::width_of(std::int64_t most) const {
  const std::int64_t line = line_of_lanes();
  return line > 0 && line <= most ? line * largest_divisor(split_.inner() / line, most / line)
                                  : block_width(split_.inner(), most);
}

std::int64_t Reductions::line_of_lanes() const {
  constexpr std::int64_t kShortest = 6, kEnough = 64;
  const Value* v = op_.operand(0);
  if (!fusion_.inlined.count(v) || !v->op()) return 0;
  const std::optional<op::WindowDims> dims = op::window_dims(*v->op());
  if (!dims) return 0;
  const Shape &counts = v->shape(), &array = v->op()->operand(0)->shape();
  std::int64_t line = 1;
  bool goes_on = true;
  for (int d = counts.rank(); d-- > dims->rank() && split_.is_inner(d) &&
                              (goes_on || (line % kMapLanes == 0 && line < kEnough));) {
    const int of = d - dims->rank();
    line *= counts[d];
    goes_on = goes_on && dims->stride[static_cast<std::size_t>(of)] == 1 && counts[d] == array[of];
  }
  return line >= kShortest && line < split_.inner() ? line : 0;
}

}  // namespace strata::compile
