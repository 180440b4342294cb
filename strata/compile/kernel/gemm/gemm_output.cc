#include "strata/compile/kernel/gemm/gemm_output.h"

#include "strata/compile/kernel/dot/gemm_kind.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/ir/attr.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

bool is_reshape(const Op& op) { return op.name() == "stablehlo.reshape"; }
bool is_transpose(const Op& op) { return op.name() == "stablehlo.transpose"; }

/// The last dimension of more than one element.
int minor_dim(const Shape& shape) {
  int d = shape.rank() - 1;
  while (d > 0 && shape[d] == 1) --d;
  return d;
}
/// Whether neighbours in memory stay neighbours.
bool keeps_rows(const Op& move) {
  if (!is_transpose(move)) return true;
  const Shape& in = move.operand(0)->shape();
  const auto& permutation = move.attr<ir::Ints>("permutation");
  return in.rank() == 0 ||
         permutation[static_cast<std::size_t>(minor_dim(move.result()->shape()))] == minor_dim(in);
}

constexpr double kMostUnrolledFlops =
    8;  // of an epilogue whose code is written out for each row of a tile

bool is_windows(const Value* v) { return v->op() && op::window_dims(*v->op()); }

}  // namespace

std::vector<const Op*> output_moves(const Op& product,
                                    const std::function<const Op*(const Value*)>& only_reader) {
  std::vector<const Op*> out;
  bool any = is_narrow(product) || is_batch_vectorized_dot(product);
  for (const Op* op = only_reader(product.result());
       op && (is_reshape(*op) || is_transpose(*op)) && (any || keeps_rows(*op));
       op = only_reader(op->result()))
    out.push_back(op);
  return out;
}

Index output_offset(loop::Builder& b, std::span<const Op* const> moves, const Index& offset,
                    const Index& along) {
  Index at = offset;
  for (const Op* op : moves) {
    if (!is_transpose(*op)) continue;
    std::vector<Index> from = delinearize_from_front(b, op->operand(0)->shape(), at), to;
    for (std::int64_t d : op->attr<ir::Ints>("permutation"))
      to.push_back(from[static_cast<std::size_t>(d)]);
    at = linearize(b, op->result()->shape(), to);
  }
  return at.lanes() < along.lanes() ? at + along : at;
}

bool fuses_epilogue(const Op& product, double flops) {
  constexpr std::int64_t kFew = 8, kSmall = 32 << 10, kLarge = 2 << 20;
  const std::int64_t elements = product.result()->shape().count();
  const bool light = flops <= kMostUnrolledFlops;
  if (elements > (light ? kLarge : kSmall)) return false;
  if (is_narrow(product)) return true;
  if (!light && (is_windows(product.operand(0)) || is_windows(product.operand(1)))) return false;
  op::Contraction c = op::contraction_of(product);
  GemmOperand lhs(product.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(product.operand(1), c.rhs_batch, c.rhs_contract);
  const std::int64_t columns = rhs.size(rhs.free);
  const std::int64_t rows = lhs.size(lhs.free), batch = lhs.size(lhs.batch);
  return columns >= kFew ||
         (columns == 1 &&
          (rows >= kFew ||
           (rows == 1 && batch >= kFew)));  // of a matrix by a vector the rows run along the lanes,
                                            // of batched_vector_dot.h the batch
}

GemmOutput::GemmOutput(loop::Builder& b, const Group& group, const Fusion& fusion,
                       BuiltKernel& built)
    : KernelContext(b, fusion, built), group_(group) {
  for (const Op* op : group.epilogue_roots())
    for (const Value* v : op->results()) after_.insert(v);
}

bool GemmOutput::streams_results() const {
  constexpr std::size_t kMany = 2 * kBeyondThreadCache;
  std::size_t all = 0;
  for (const Value* v : group_.outputs) all += v->type().bytes();
  return !keeps_in_caches_ && all >= kMany;
}

bool GemmOutput::loops_over_rows() const { return group_.epilogue_flops > kMostUnrolledFlops; }

void GemmOutput::store(const Index& offset, const Index& along, Inst* sum) {
  const Value* value = group_.gemm_value();
  Index at = output_offset(b, group_.moves(), offset, along);
  element_ = b.convert(value->dtype(), sum);
  std::vector<Inst*> elements;
  auto computed = [&](const Value* v) {
    return group_.moves().empty() ? beside(v, at) : at_offset(v, at);
  };
  for (const Value* v : group_.outputs) elements.push_back(v == value ? element_ : computed(v));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Type& type = group_.outputs[i]->type();
    b.store(output(group_.outputs[i]), at, elements[i]);
    b.kernel().arena.back().streaming =
        streams_results() && fills_lines(type, type.shape()[minor_dim(type.shape())], 0,
                                         at.lanes());  // a tile begins at a multiple of its lanes
  }
  for (const Value* v : group_.co_reads) fetch_beside(v, at);
  element_ = nullptr;
}

void GemmOutput::fetch_beside(const Value* v, const Index& offset) {
  const Index first = offset.at_first_lane();
  const std::int64_t line =
      kCacheLine / static_cast<std::int64_t>(byte_width(stored_dtype(v->type())));
  for (std::int64_t x = 0; x < offset.lanes(); x += line) b.fetch(input(v), first + x);
}

Inst* GemmOutput::beside(const Value* v, const Index& offset) {
  reads_beside_ = true;
  Inst* out = at_offset(v, offset);
  reads_beside_ = false;
  return out;
}

Inst* GemmOutput::leaf(const Value* v, std::span<const Index> index, const Index& offset) {
  if (v == group_.gemm_value()) {
    STRATA_CHECK(element_, "a product reads its own result");
    return element_;
  }
  Inst* load = KernelContext::leaf(v, index, offset);
  if (reads_beside_ && v->type().bytes() >= kBeyondL2) compile::fetch_ahead(load, ahead_);
  return load;
}

}  // namespace strata::compile
