#include "strata/compile/kernel/reduce/combiner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "strata/loop/pieces.h"

namespace strata::compile {

using loop::Opcode;
using op::Combiner;

namespace {
// Of op/reduce/reduce_order.h for a reduced minor-most dimension.
constexpr int kLanes = 32;
}  // namespace

op::Reduction reduction_of(const ir::Op& op) {
  return std::get<op::Reduction (*)(const ir::Op&)>(op::def(op).lowering)(op);
}

op::ReduceOrder order_of(const ir::Op& reduction) {
  const op::Reduction rule = reduction_of(reduction);
  const Type& operand = reduction.operand(0)->type();
  op::ReduceOrder order = op::reduce_order(operand, rule.dims);
  if (in_any_order(rule.combiner, operand.dtype())) order.piece = order.chunk;
  return order;
}

bool reduce_alike(const ir::Op& p, const ir::Op& q) {
  const op::Reduction of_p = reduction_of(p), of_q = reduction_of(q);
  if (p.operand(0)->shape() != q.operand(0)->shape() || of_p.dims != of_q.dims) return false;
  return in_any_order(of_p.combiner, p.operand(0)->dtype()) ||
         in_any_order(of_q.combiner, q.operand(0)->dtype()) ||
         order_of(p).piece == order_of(q).piece;
}

DType accumulator(DType operand) {
  return is_bool(operand) ? DType::i32 : op::accumulator(operand);
}

Inst* neutral(loop::Builder& b, Combiner combiner, DType operand) {
  if (is_bool(operand))
    return b.constant_int(DType::i32, op::identity(combiner, operand).integer(0) ? -1 : 0);
  DType dtype = accumulator(operand);
  Literal value = op::identity(combiner, dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, value.data(), byte_width(dtype));
  return b.constant_bits(dtype, bits);
}

Inst* widen(loop::Builder& b, DType operand, Inst* element) {
  return b.convert(accumulator(operand), element);
}

int lanes_in_any_order(std::int64_t length, DType dtype) {
  if (byte_width(dtype) > 2 && (is_float(dtype) || byte_width(dtype) > 4)) return kLanes;
  return length % (2 * kLanes) == 0 || length >= 8 * kLanes ? 2 * kLanes : kLanes;
}

LaneTotals::LaneTotals(loop::Builder& b, Combiner combiner, DType operand, int lanes)
    : b_(b),
      code_(op::opcode(combiner, operand)),
      operand_(operand),
      maximum_(combiner == Combiner::max),
      way_(way_of(combiner, operand)) {
  bits_ = way_ == Way::halves ? DType::i16 : byte_width(operand) == 8 ? DType::i64 : DType::i32;
  if (way_ == Way::halves) {
    const double end = maximum_ ? -std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::infinity();
    best_ = b.local(key(b.constant(operand, end)), lanes);
    farthest_ = b.local(key(b.constant(operand, -end)), lanes);
    return;
  }
  best_ = b.local(neutral(b, combiner, operand), lanes);
  if (way_ == Way::as_it_is) return;
  nans_ = b.local(b.constant(bits_, 0), lanes);
  signs_ = b.local(b.constant(bits_, maximum_ ? -1 : 0), lanes);
}

LaneTotals::Way LaneTotals::way_of(Combiner combiner, DType operand) {
  if (!is_float(operand) || (combiner != Combiner::max && combiner != Combiner::min))
    return Way::as_it_is;
  return operand == DType::f32 || operand == DType::f64    ? Way::floats
         : operand == DType::bf16 || operand == DType::f16 ? Way::halves
                                                           : Way::as_it_is;
}

/// Turns a half's bits to integers in the order of the numbers, and back: of negative ones all but
/// the sign is turned over.
Inst* LaneTotals::key(Inst* half) {
  Inst* word = half->type.dtype == bits_ ? half : b_.bitcast(bits_, half);
  Inst* sign = b_.binary(Opcode::shr, word, b_.constant(bits_, 15));
  return b_.binary(Opcode::xor_, word, b_.binary(Opcode::and_, sign, b_.constant(bits_, 0x7fff)));
}

void LaneTotals::add(Inst* element) {
  Inst* best = b_.get(best_);
  if (way_ == Way::halves) {
    Inst* word = key(element);
    b_.set(best_, b_.binary(maximum_ ? Opcode::max : Opcode::min, best, word));
    return b_.set(farthest_,
                  b_.binary(maximum_ ? Opcode::min : Opcode::max, b_.get(farthest_), word));
  }
  element = widen(b_, operand_, element);
  if (way_ == Way::as_it_is) return b_.set(best_, b_.binary(code_, best, element));
  b_.set(best_,
         b_.select(b_.compare(maximum_ ? loop::Compare::gt : loop::Compare::lt, element, best),
                   element, best));
  Inst* is_none = b_.select(b_.compare(loop::Compare::ne, element, element), b_.constant(bits_, -1),
                            b_.constant(bits_, 0));
  b_.set(nans_, b_.binary(Opcode::or_, b_.get(nans_), is_none));
  b_.set(signs_, b_.binary(maximum_ ? Opcode::and_ : Opcode::or_, b_.get(signs_),
                           b_.bitcast(bits_, element)));
}

Inst* LaneTotals::total() {
  auto reduce = [&](Opcode code, Inst* lanes) { return b_.reduce(code, b_.get(lanes)); };
  if (way_ == Way::floats)
    return of_floats(reduce(code_, best_), reduce(maximum_ ? Opcode::and_ : Opcode::or_, signs_),
                     reduce(Opcode::or_, nans_));
  if (way_ == Way::halves)
    return of_halves(reduce(maximum_ ? Opcode::max : Opcode::min, best_),
                     reduce(maximum_ ? Opcode::min : Opcode::max, farthest_));
  return reduce(code_, best_);
}

Inst* LaneTotals::lane_totals() {
  if (way_ == Way::floats) return of_floats(b_.get(best_), b_.get(signs_), b_.get(nans_));
  if (way_ == Way::halves) return of_halves(b_.get(best_), b_.get(farthest_));
  return b_.get(best_);
}

Inst* LaneTotals::of_floats(Inst* best, Inst* sign, Inst* nans) {
  const DType dtype = best->type.dtype;
  Inst *zero = b_.constant(dtype, 0), *minus_zero = b_.constant(dtype, -0.0);
  Inst* zero_of_side =
      b_.select(b_.compare(loop::Compare::lt, sign, b_.constant(bits_, 0)), minus_zero, zero);
  Inst* number = b_.select(b_.compare(loop::Compare::eq, best, zero), zero_of_side, best);
  return b_.select(b_.compare(loop::Compare::ne, nans, b_.constant(bits_, 0)),
                   b_.constant(dtype, std::numeric_limits<double>::quiet_NaN()), number);
}

Inst* LaneTotals::of_halves(Inst* best, Inst* farthest) {
  const double infinity = std::numeric_limits<double>::infinity();
  Inst *largest = maximum_ ? best : farthest, *least = maximum_ ? farthest : best;
  Inst* any_none = b_.binary(
      Opcode::or_, b_.compare(loop::Compare::gt, largest, key(b_.constant(operand_, infinity))),
      b_.compare(loop::Compare::lt, least, key(b_.constant(operand_, -infinity))));
  Inst* number = widen(b_, operand_, b_.bitcast(operand_, key(best)));
  return b_.select(
      any_none, b_.constant(number->type.dtype, std::numeric_limits<double>::quiet_NaN()), number);
}

Total::Total(loop::Builder& b, Combiner combiner, DType operand, const op::ReduceOrder& order,
             int lanes)
    : b_(b), operand_(operand) {
  const DType dtype = type(combiner, operand, order);
  code_ = op::opcode(combiner, dtype == accumulator(operand) ? operand : dtype);
  neutral_ =
      dtype == accumulator(operand) ? neutral(b, combiner, operand) : neutral(b, combiner, dtype);
  total_ = b.local(neutral_, lanes);
}

DType Total::type(Combiner combiner, DType operand, const op::ReduceOrder& order) {
  return order.is_long() && !in_any_order(combiner, operand) ? DType::f64 : accumulator(operand);
}

void Total::clear() { set(neutral_); }
void Total::set(Inst* total) { b_.set(total_, total); }
void Total::add(Inst* more) {
  b_.set(total_, b_.binary(code_, b_.get(total_), b_.convert(total_->type.dtype, more)));
}
Inst* Total::get() { return b_.get(total_); }
Inst* Total::rounded() { return b_.convert(accumulator(operand_), get()); }

Inst* by_halves(loop::Builder& b, Opcode code, std::vector<Inst*> lanes) {
  for (std::size_t half = std::bit_ceil(lanes.size()) / 2; half >= 1; half /= 2)
    for (std::size_t i = 0; i < half && i + half < lanes.size(); ++i)
      lanes[i] = b.binary(code, lanes[i], lanes[i + half]);
  return lanes[0];
}

Inst* short_row(loop::Builder& b, const ir::Op& op, std::vector<Inst*> elements, Inst* init) {
  STRATA_CHECK(elements.size() <= kLanes &&
                   op::reduce_order(op.operand(0)->type(), reduction_of(op).dims).lanes == kLanes,
               "a row is reduced in another order");
  const Combiner combiner = reduction_of(op).combiner;
  const DType dtype = op.operand(0)->dtype();
  const Opcode code = op::opcode(combiner, dtype);
  for (Inst*& x : elements) x = b.binary(code, neutral(b, combiner, dtype), widen(b, dtype, x));
  return finished(
      b, op, init,
      b.binary(code, neutral(b, combiner, dtype), by_halves(b, code, std::move(elements))));
}

RowReductions::RowReductions(loop::Builder& b, std::vector<const ir::Op*> reductions,
                             std::int64_t length,
                             std::function<Inst*(const ir::Value*, Index)> element, bool light)
    : b_(b),
      reductions_(std::move(reductions)),
      length_(length),
      lanes_(light ? 2 * kLanes : kLanes),
      element_(std::move(element)) {
  for (const ir::Op* op : reductions_) {
    const DType dtype = op->operand(0)->dtype();
    lanes_ = in_any_order(reduction_of(*op).combiner, dtype)
                 ? std::min(lanes_, lanes_in_any_order(length_, dtype))
                 : kLanes;
    orders_.push_back(order_of(*op));
    STRATA_CHECK(orders_.back().lanes == kLanes && orders_.back().count == length_,
                 "a row of {} is reduced in another order", length_);
    if (orders_.back().piece < order_.piece || orders_.size() == 1) order_ = orders_.back();
  }
  // An extremum of floats holds three numbers a lane, of which sixteen registers hold so many (the
  // range of 4096 rows of 1024 f32 1.05 ms with 32 lanes, 0.63 with 16; two threads of a Zen 3).
  constexpr std::size_t kRegisters = 16 * 32;  // bytes
  auto holds_three = [](const ir::Op* op) {
    return LaneTotals::holds_three(reduction_of(*op).combiner, op->operand(0)->dtype());
  };
  if (!std::all_of(reductions_.begin(), reductions_.end(), holds_three)) return;
  std::size_t bytes = 0;
  for (const ir::Op* op : reductions_) bytes += 3 * byte_width(op->operand(0)->dtype());
  while (lanes_ > 8 && static_cast<std::size_t>(lanes_) * bytes > kRegisters) lanes_ /= 2;
}

void RowReductions::run(const std::function<void(Index)>& also,
                        std::function<void(Index, std::function<void()>)> around) {
  around_ = std::move(around);
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Combiner combiner = reduction_of(*reductions_[i]).combiner;
    const DType dtype = reductions_[i]->operand(0)->dtype();
    totals_.emplace_back(b_, combiner, dtype, orders_[i]);
    if (orders_[i].is_long()) chunk_totals_.emplace_back(b_, combiner, dtype, orders_[i]);
  }
  const std::int64_t size = order_.chunk, whole = length_ / size;
  if (whole == 1 && length_ == size)
    chunk(0, length_, also);
  else if (whole > 0)
    b_.for_(0, whole, 1, [&](Index c) { chunk(c * size, size, also); });
  if (length_ % size != 0) chunk(whole * size, length_ % size, also);
}

void RowReductions::chunk(const Index& begin, std::int64_t length,
                          const std::function<void(Index)>& also) {
  std::vector<LaneTotals> lanes;
  for (std::size_t i = 0; i < reductions_.size(); ++i) lanes.push_back(lanes_of(i));
  for (Total& t : chunk_totals_) t.clear();
  if (order_.is_long())
    loop::for_pieces(b_, begin, length, order_.piece, [&](const Index& first, std::int64_t some) {
      std::vector<LaneTotals> mixed;
      for (std::size_t i = 0; i < reductions_.size(); ++i)
        mixed.push_back(orders_[i].is_long() ? lanes_of(i) : lanes[i]);
      piece(first, some, mixed, also);
      std::size_t n = 0;
      for (std::size_t i = 0; i < reductions_.size(); ++i)
        if (orders_[i].is_long()) chunk_totals_[n++].add(mixed[i].total());
    });
  else
    piece(begin, length, lanes, also);
  std::size_t n = 0;
  for (std::size_t i = 0; i < reductions_.size(); ++i)
    totals_[i].add(orders_[i].is_long() ? chunk_totals_[n++].get() : lanes[i].total());
}

void RowReductions::piece(const Index& begin, std::int64_t length, std::vector<LaneTotals>& lanes,
                          const std::function<void(Index)>& also) {
  auto strip = [&](const Index& j) {
    for (std::size_t i = 0; i < reductions_.size(); ++i)
      lanes[i].add(element_(reductions_[i]->operand(0), j));
    also(j);
  };
  b_.vector(begin, begin + length, lanes_,
            [&](Index j) { around_ ? around_(j, [&] { strip(j); }) : strip(j); });
}

LaneTotals RowReductions::lanes_of(std::size_t i) {
  return {b_, reduction_of(*reductions_[i]).combiner, reductions_[i]->operand(0)->dtype(), lanes_};
}

Inst* finished(loop::Builder& b, const ir::Op& op, Inst* init, Inst* total) {
  Inst* start = b.convert(total->type.dtype, init);
  return b.convert(
      op.result()->dtype(),
      b.binary(op::opcode(reduction_of(op).combiner, op.operand(0)->dtype()), start, total));
}

Inst* RowReductions::result(const ir::Op& op, Inst* init) {
  for (std::size_t i = 0; i < reductions_.size(); ++i)
    if (reductions_[i] == &op) return finished(b_, op, init, totals_[i].rounded());
  STRATA_UNREACHABLE("{} is not among the reductions of this row", op.name());
}

}  // namespace strata::compile
