#include "strata/compile/kernel/dot/narrow_gemm.h"

#include "strata/compile/kernel/gemm/gemm_accumulation.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kMostUnrolled = 64;  // terms of a sum that become code each

/// Reads the product's elements through the moves behind it, each as its sum.
class SumContext : public KernelContext {
 public:
  SumContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built)
      : KernelContext(b, fusion, built),
        group_(group),
        op_(*group.roots.front()),
        acc_(op::product_accumulator(op_)) {}
  /// Lanes of the loop under way.
  int lanes = 1;

 protected:
  bool inlined(const Value* v) override {
    for (std::size_t i = 1; i < group_.roots.size(); ++i)
      if (v == group_.roots[i]->result()) return true;
    return KernelContext::inlined(v);
  }
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    return v == op_.result() ? sum(index) : KernelContext::leaf(v, index, offset);
  }

 private:
  Inst* sum(std::span<const Index> index) {
    op::Contraction c = op::contraction_of(op_);
    GemmOperand lhs(op_.operand(0), c.lhs_batch, c.lhs_contract),
        rhs(op_.operand(1), c.rhs_batch, c.rhs_contract);
    std::vector<Index> of_left(static_cast<std::size_t>(lhs.value->rank())),
        of_right(static_cast<std::size_t>(rhs.value->rank()));
    std::size_t at = 0;
    for (std::size_t i = 0; i < lhs.batch.size(); ++i, ++at) {
      of_left[static_cast<std::size_t>(lhs.batch[i])] = index[at];
      of_right[static_cast<std::size_t>(rhs.batch[i])] = index[at];
    }
    for (int d : lhs.free) of_left[static_cast<std::size_t>(d)] = index[at++];
    for (int d : rhs.free) of_right[static_cast<std::size_t>(d)] = index[at++];
    Inst* total = b.local(b.constant(acc_, 0.0), lanes);
    Shape terms = lhs.part(lhs.contract);
    auto term = [&](std::span<const Index> k) {
      for (std::size_t i = 0; i < k.size(); ++i) {
        of_left[static_cast<std::size_t>(lhs.contract[i])] = k[i];
        of_right[static_cast<std::size_t>(rhs.contract[i])] = k[i];
      }
      Inst *x = b.convert(acc_, ElementalEmitter::at(lhs.value, of_left)),
           *y = b.convert(acc_, ElementalEmitter::at(rhs.value, of_right));
      b.set(total, multiply_add(b, TermKind::single, acc_, x, y, b.get(total)));
    };
    if (const auto chains = op::sum_chains(op_))
      by_chains(total, *chains, terms.sizes(), term);
    else
      nest(terms, terms.count() <= kMostUnrolled, term);
    return b.convert(op_.result()->dtype(), b.get(total));
  }

  using Terms = std::function<void(std::span<const Index>)>;

  /// The boxes of the chains, one after another (op/linalg/dot_general.h).
  void by_chains(Inst* total, const op::SumChains& chains, const ir::Ints& sizes,
                 const Terms& term) {
    const ir::Ints of_group = op::box_of(sizes, chains.group),
                   of_chain = op::box_of(sizes, chains.chain);
    auto counts = [](const ir::Ints& of, const ir::Ints& box) {
      std::vector<Dim> out;
      for (std::size_t i = 0; i < of.size(); ++i) out.emplace_back(of[i] / box[i]);
      return Shape(out);
    };
    const ir::Ints ones(sizes.size(), 1);
    add_parts(
        b, {total}, lanes, op::pieces_type(acc_), [&](const std::function<void()>& add_group) {
          nest(counts(sizes, of_group), false, [&](std::span<const Index> group) {
            add_parts(b, {total}, lanes, acc_, [&](const std::function<void()>& add_tile_pipeline) {
              nest(counts(of_group, of_chain), false, [&](std::span<const Index> chain) {
                b.set(total, b.constant(acc_, 0.0));
                nest(counts(of_chain, ones), false, [&](std::span<const Index> at) {
                  std::vector<Index> k;
                  for (std::size_t i = 0; i < at.size(); ++i)
                    k.push_back(group[i] * of_group[i] + chain[i] * of_chain[i] + at[i]);
                  term(k);
                });
                add_tile_pipeline();
              });
            });
            add_group();
          });
        });
  }

  void nest(const Shape& terms, bool unrolled, const Terms& term) {
    std::vector<Index> k(static_cast<std::size_t>(terms.rank()));
    nest(terms, 0, unrolled, k, term);
  }
  void nest(const Shape& terms, int d, bool unrolled, std::vector<Index>& k, const Terms& term) {
    if (d == terms.rank()) return term(k);
    auto one = [&](Index i) {
      k[static_cast<std::size_t>(d)] = i;
      nest(terms, d + 1, unrolled, k, term);
    };
    if (!unrolled && terms[d] > 1) return b.for_(0, terms[d], 1, one);
    for (std::int64_t i = 0; i < terms[d]; ++i) one(i);
  }

  const Group& group_;
  const Op& op_;
  DType acc_;
};

}  // namespace

Built build_narrow_gemm(const Group& group, const Fusion& fusion) {
  constexpr int kLanes = 16;
  constexpr std::int64_t kShortest = 64, kPointElements = 4096;
  const Value* result = group.gemm_value();
  const Op& op = *group.roots.front();
  std::int64_t length = 1, total = result->shape().count();
  for (int d = result->rank() - 1; d >= 0 && length < kShortest; --d) length *= result->shape()[d];
  std::int64_t rows = total / length, per_point = largest_divisor(
                                          rows, std::max<std::int64_t>(1, kPointElements / length));
  Built out;
  BuiltKernel built;
  built.kernel = std::make_unique<loop::Kernel>("narrow_gemm");
  built.kernel->grid = rows / per_point;
  built.parallel = op::def(op).cost(op).flops > kInlineWork;
  loop::Builder b(*built.kernel);
  SumContext context(b, group, fusion, built);
  context.lanes = kLanes;
  b.for_(0, per_point, 1, [&](Index i) {
    Index row = (b.grid() * per_point + i) * length;
    b.vector(0, length, kLanes, [&](Index j) {
      std::vector<Inst*>
          elements;  // all before any is stored: a result may take the memory of an operand
      for (const Value* v : group.outputs) elements.push_back(context.at_offset(v, row + j));
      for (std::size_t i = 0; i < elements.size(); ++i)
        b.store(context.output(group.outputs[i]), row + j, elements[i]);
    });
  });
  out.kernels.push_back(std::move(built));
  return out;
}

}  // namespace strata::compile
