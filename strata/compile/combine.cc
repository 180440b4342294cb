#include "strata/compile/combine.h"

#include <algorithm>
#include <cstring>

namespace strata::compile {

using loop::Opcode;
using op::Combiner;

namespace {
// The order of op/reduce_order.h for a reduced minor-most dimension.
constexpr int kLanes = 32;
constexpr std::int64_t kChunk = 4096;
}  // namespace

op::Reduction reduction_of(const ir::Op& op) { return std::get<op::Reduction (*)(const ir::Op&)>(op::def(op).lowering)(op); }

DType accumulator(DType operand) { return is_bool(operand) ? DType::i32 : op::accumulator(operand); }

Inst* neutral(loop::Builder& b, Combiner combiner, DType operand) {
  if (is_bool(operand)) return b.constant_int(DType::i32, op::identity(combiner, operand).integer(0) ? -1 : 0);
  DType dtype = accumulator(operand);
  Literal value = op::identity(combiner, dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, value.data(), byte_width(dtype));
  return b.constant_bits(dtype, bits);
}

Inst* widen(loop::Builder& b, DType operand, Inst* element) { return b.convert(accumulator(operand), element); }

bool in_any_order(Combiner combiner, DType dtype) {
  bool rounds = combiner == Combiner::add || combiner == Combiner::mul;
  return combiner != Combiner::region && !(rounds && (is_float(dtype) || is_complex(dtype)));
}

int lanes_in_any_order(std::int64_t length) { return length % (2 * kLanes) == 0 || length >= 8 * kLanes ? 2 * kLanes : kLanes; }

Inst* short_row(loop::Builder& b, const ir::Op& op, std::vector<Inst*> elements, Inst* init) {
  STRATA_CHECK(elements.size() <= kLanes && op::reduce_order(op.operand(0)->type(), reduction_of(op).dims).lanes == kLanes, "a row is reduced in another order");
  const Combiner combiner = reduction_of(op).combiner;
  const DType dtype = op.operand(0)->dtype();
  const Opcode code = op::opcode(combiner, dtype);
  for (Inst*& x : elements) x = b.binary(code, neutral(b, combiner, dtype), widen(b, dtype, x));
  // Lanes that no element came to hold the neutral element, which changes nothing.
  for (std::size_t half = kLanes / 2; half >= 1; half /= 2)
    for (std::size_t i = 0; i < half && i + half < elements.size(); ++i) elements[i] = b.binary(code, elements[i], elements[i + half]);
  Inst* total = b.binary(code, neutral(b, combiner, dtype), elements[0]);
  return b.convert(op.result()->dtype(), b.binary(code, b.convert(total->type.dtype, init), total));
}

RowReductions::RowReductions(loop::Builder& b, std::vector<const ir::Op*> reductions, std::int64_t length,
                             std::function<Inst*(const ir::Value*, Index)> element, bool light)
    : b_(b),
      reductions_(std::move(reductions)),
      length_(length),
      lanes_(light ? lanes_in_any_order(length) : kLanes),
      element_(std::move(element)) {
  for (const ir::Op* op : reductions_) {
    if (!in_any_order(reduction_of(*op).combiner, op->operand(0)->dtype())) lanes_ = kLanes;
    std::vector<int> dims = reduction_of(*op).dims;
    op::ReduceOrder order = op::reduce_order(op->operand(0)->type(), dims);
    STRATA_CHECK(order.lanes == kLanes && order.chunk == kChunk && order.count == length_, "a row of {} is reduced in another order",
                 length_);
  }
}

void RowReductions::run(const std::function<void(Index)>& also) {
  for (const ir::Op* op : reductions_) totals_.push_back(b_.local(neutral(b_, reduction_of(*op).combiner, op->operand(0)->dtype())));
  std::int64_t size = kChunk;
  std::int64_t whole = length_ / size;
  if (whole == 1 && length_ == size)
    chunk(0, length_, also);
  else if (whole > 0)
    b_.for_(0, whole, 1, [&](Index c) { chunk(c * size, c * size + size, also); });
  if (length_ % size != 0) chunk(whole * size, length_, also);
}

void RowReductions::chunk(Index begin, Index end, const std::function<void(Index)>& also) {
  std::vector<Inst*> lanes;
  for (const ir::Op* op : reductions_) lanes.push_back(b_.local(neutral(b_, reduction_of(*op).combiner, op->operand(0)->dtype()), lanes_));
  b_.vector(begin, end, lanes_, [&](Index j) {
    for (std::size_t i = 0; i < reductions_.size(); ++i) {
      const ir::Op& op = *reductions_[i];
      Inst* element = widen(b_, op.operand(0)->dtype(), element_(op.operand(0), j));
      b_.set(lanes[i], b_.binary(op::opcode(reduction_of(op).combiner, op.operand(0)->dtype()), b_.get(lanes[i]), element));
    }
    also(j);
  });
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    Opcode code = op::opcode(reduction_of(*reductions_[i]).combiner, reductions_[i]->operand(0)->dtype());
    b_.set(totals_[i], b_.binary(code, b_.get(totals_[i]), b_.reduce(code, b_.get(lanes[i]))));
  }
}

Inst* RowReductions::result(const ir::Op& op, Inst* init) {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    if (reductions_[i] != &op) continue;
    Inst* total = b_.get(totals_[i]);
    Inst* start = b_.convert(total->type.dtype, init);
    return b_.convert(op.result()->dtype(), b_.binary(op::opcode(reduction_of(op).combiner, op.operand(0)->dtype()), start, total));
  }
  STRATA_UNREACHABLE("{} is not among the reductions of this row", op.name());
}

}  // namespace strata::compile
