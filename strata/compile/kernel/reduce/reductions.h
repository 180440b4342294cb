// What the kernels of reductions share: a reduction's dimensions as numbers, the operations that a
// kernel does side by side, and memory for the results of chunks. By rows (reduce_rows.h), by lines
// across rows (reduce_strided_rows.h), by columns (reduce_columns.h), with a general combiner
// (reduce_region.h), the place of an extremum (arg_min_max.h).
#pragma once

#include <span>
#include <vector>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/loop/pieces.h"
#include "strata/op/reduce/reduce.h"

namespace strata::compile {

constexpr std::int64_t kReducedAtPoint =
    16384;  // elements of the rows of one grid point, a few long rows apart

/// A reduction's dimensions as numbers: `outer` kept ones before the last reduced one, `inner` kept
/// ones after it.
class ReduceSplit {
 public:
  ReduceSplit(const ir::Op& op, std::vector<int> dims);

  std::int64_t outer() const { return size(outer_); }
  std::int64_t reduced() const { return size(reduced_); }
  std::int64_t inner() const { return size(inner_); }
  bool is_inner(int d) const;
  /// Kept dimensions before the last reduced one, and reduced ones; of more than one element, but
  /// where all have one.
  const std::vector<int>& kept() const { return outer_; }
  const std::vector<int>& reduced_dims() const { return reduced_; }
  /// Elements behind the last kept dimension, where some reduced one is before it: a row is as
  /// many elements here and there, and the next row's are behind them. 0: it is not so.
  std::int64_t apart() const;
  /// Elements of a row that are behind each other: the reduced dimensions at the end of all.
  std::int64_t run() const { return size({run_begin(), reduced_.end()}); }
  /// Elements from a run to the next.
  std::int64_t runs_apart() const;
  /// The operand's index at outer place o and element j of run r of the reduced ones.
  std::vector<Index> index_in_run(loop::Builder& b, const Index& o, const Index& r,
                                  const Index& j) const;
  /// The operand's index at outer place o, reduced element k, inner place x.
  std::vector<Index> index(loop::Builder& b, const Index& o, const Index& k, const Index& x) const;
  std::int64_t size(const std::vector<int>& dims) const { return part(dims).count(); }
  /// Puts the place of element `offset` of these dimensions, row-major, into an index of the
  /// operand.
  void place(loop::Builder& b, std::vector<Index>& out, const std::vector<int>& dims,
             const Index& offset) const;

 private:
  std::vector<int>::const_iterator run_begin() const;
  Shape part(const std::vector<int>& dims) const;

  const Shape& shape_;
  std::vector<int> outer_, reduced_, inner_;
};

/// One of the reductions that a kernel does side by side.
class Reduced {
 public:
  Reduced(const ir::Op& op, const ReduceSplit& split)
      : op(op), combiner(reduction_of(op).combiner), dtype(op.operand(0)->dtype()), split_(split) {}

  const ir::Value* operand() const { return op.operand(0); }
  const ir::Value* result() const { return op.result(); }
  loop::Opcode code() const { return op::opcode(combiner, dtype); }
  Inst* neutral_element(loop::Builder& b) const;
  Inst* element(KernelContext& context, const Index& o, const Index& k, const Index& x,
                int operand = 0) const;
  Inst* initial(KernelContext& context, int operand = 0) const;
  /// init op total, rounded.
  Inst* finish(KernelContext& context, Inst* total) const;

  const ir::Op& op;
  const op::Combiner combiner;
  const DType dtype;

 private:
  const ReduceSplit& split_;
};

/// Operations of one shape over the same dimensions, and the kernels made for them. `any_size`: of
/// one structure there are to be few kernels.
class Reductions {
 public:
  Reductions(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size);
  Reductions(const Reductions&) = delete;

 protected:
  BuiltKernel& kernel(const char* name);
  Inst* element(KernelContext& context, const Index& o, const Index& k, const Index& x,
                int operand = 0) const {
    return all_[0].element(context, o, k, x, operand);
  }
  Inst* initial(KernelContext& context, int operand = 0) const {
    return all_[0].initial(context, operand);
  }
  /// One for each of the reductions.
  template <class F>
  auto each_of(F make) const {
    std::vector<decltype(make(all_[0], 0))> out;
    for (std::size_t i = 0; i < all_.size(); ++i) out.push_back(make(all_[i], static_cast<int>(i)));
    return out;
  }
  /// Whether all run over the same dimensions of arrays of one shape, each with a combiner that is
  /// known.
  bool are_alike() const;
  /// The type of what a chunk of a reduction comes to, and a local for it.
  DType total_type(const Reduced& r) const { return Total::type(r.combiner, r.dtype, order_); }
  Total total(loop::Builder& b, const Reduced& r, int lanes = 1) const {
    return {b, r.combiner, r.dtype, order_, lanes};
  }
  /// `body(begin, length)` for each piece of a chunk.
  void by_pieces(loop::Builder& b, const Index& begin, std::int64_t length,
                 const std::function<void(Index, std::int64_t)>& body) const {
    order_.is_long() ? for_pieces(b, begin, length, order_.piece, body) : body(begin, length);
  }
  /// Memory for `count` parts of each reduction, which `combine_chunks` reads.
  std::vector<loop::Ref*> partial_results(KernelContext& context, std::int64_t count);
  /// A kernel of its own: results of chunks in order, for each of outer x inner outputs.
  void combine_chunks(std::int64_t outer, std::int64_t chunks, std::int64_t inner);

  /// One step of the place of an extremum (op/reduce/reduce.h), which asks less where the reduced
  /// elements come in the order of their places, and the initial one before them.
  std::vector<Inst*> better_place(loop::Builder& b, std::span<Inst* const> state,
                                  std::span<Inst* const> element) const;

  /// Inner places of a grid point that has lanes along the outputs and goes over all reduced
  /// elements.
  std::int64_t width_of_one_phase() const;
  /// `most` inner places or fewer that divide all, whole lines where lanes must not cross their
  /// ends.
  std::int64_t width_of(std::int64_t most) const;
  /// Of windows that are read where they are: outputs after which these go on elsewhere, where
  /// lanes must not cross to, or only the place would be found anew for each strip. Else 0.
  std::int64_t line_of_lanes() const;

  const ir::Op& op_;  // the first of all
  const Fusion& fusion_;
  const bool any_size_;
  const op::Reduction reduction_;
  const ReduceSplit split_;
  const op::ReduceOrder order_;  // that of the shortest pieces
  const DType dtype_;
  std::vector<Reduced> all_;
  Built out_;

 private:
  /// Whether the second operand counts along the one reduced dimension, from the initial place on
  /// or later.
  bool places_ascend() const;
};

}  // namespace strata::compile
