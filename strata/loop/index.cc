// Index algebra: sums of terms in canonical order, and what the variables' ranges say about them.
#include <algorithm>

#include "strata/loop/loop.h"

namespace strata::loop {
namespace {

using Wide = __int128;
struct Range {
  Wide low = 0, high = 0;
};
constexpr Wide kFar = Wide{1} << 100;  // beyond it sums could wrap; nothing is known there

std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

void add_term(Range& range, std::int64_t coefficient, std::int64_t low, std::int64_t high) {
  Wide a = Wide{coefficient} * low, b = Wide{coefficient} * high;
  range.low = std::max(-kFar, range.low + std::min(a, b));
  range.high = std::min(kFar, range.high + std::max(a, b));
}

std::int64_t coefficient_of(const std::vector<Index::Term>& terms, const Inst* variable) {
  for (const Index::Term& term : terms)
    if (term.variable == variable) return term.coefficient;
  return 0;
}

bool is_lane(const Inst* v) { return v->is_variable && v->loop && v->loop->lane == v; }
bool is_strip(const Inst* v) {
  return v->is_variable && v->loop && v->loop->lane && v->loop->counter == v;
}

/// The lane and strip number of one loop, in the proportion in which they count its extent: their
/// sum stays below the extent although the last strip's lanes taken alone would not.
bool stand_together(const std::vector<Index::Term>& terms, const Inst* loop) {
  std::int64_t lane = coefficient_of(terms, loop->lane),
               strip = coefficient_of(terms, loop->counter);
  return lane != 0 && strip == wrap_mul(lane, loop->lanes);
}

Range range_of(const std::vector<Index::Term>& terms, std::int64_t constant) {
  Range range{constant, constant};
  for (const Index::Term& term : terms) {
    const Inst* v = term.variable;
    bool together = (is_lane(v) || is_strip(v)) && stand_together(terms, v->loop);
    if (together && is_strip(v)) continue;
    std::int64_t high = together ? v->loop->high : v->high;
    add_term(range, term.coefficient, v->low, high);
  }
  bool fits = range.low >= INT64_MIN && range.high <= INT64_MAX;
  return fits ? range : Range{INT64_MIN, INT64_MAX};
}

/// The positive constant by which an i64 value is a quotient or remainder; 0 if it is none.
std::int64_t divisor_of(const Inst* i, Opcode code) {
  bool divides =
      !i->is_variable && i->code == code && i->type.dtype == DType::i64 && i->args.size() == 2;
  if (!divides || i->args[1]->code != Opcode::constant) return 0;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(i->args[1]->bits));
}

/// Whether `quotient` is floor(v / d) of the v and d of which `remainder` is v % d; v may itself be
/// w / e, which is never negative, and the quotient then w / (e * d).
bool belongs(const Inst* quotient, const Inst* remainder) {
  std::int64_t whole = divisor_of(quotient, Opcode::div), part = divisor_of(remainder, Opcode::rem);
  if (whole == 0 || part == 0) return false;
  const Inst *dividend = quotient->args[0], *v = remainder->args[0];
  if (dividend == v) return whole == part;
  std::int64_t inner = divisor_of(v, Opcode::div);
  return inner != 0 && v->args[0] == dividend && v->low >= 0 && inner <= whole &&
         Wide{inner} * part == whole;
}

Index whole_of(Inst* value) {
  return value->code == Opcode::index && !value->is_variable ? value->index : Index::of(value);
}

/// d * (v / d) + v % d is v: indices taken apart and put together again are what they were.
Index rejoin(const Index& index) {
  for (const Index::Term& r : index.terms()) {
    std::int64_t divisor = divisor_of(r.variable, Opcode::rem);
    if (divisor == 0) continue;
    for (const Index::Term& q : index.terms()) {
      if (q.coefficient != wrap_mul(r.coefficient, divisor) || !belongs(q.variable, r.variable))
        continue;
      Inst* value = r.variable->args[0];
      return index - Index::of(r.variable) * r.coefficient - Index::of(q.variable) * q.coefficient +
             whole_of(value) * r.coefficient;
    }
  }
  return index;
}

}  // namespace

Index Index::of(Inst* variable) {
  Index index;
  index.terms_.push_back({variable, 1});
  return index;
}

int Index::lanes() const {
  int lanes = 1;
  for (const Term& term : terms_) lanes = std::max(lanes, term.variable->type.lanes);
  return lanes;
}

Index Index::at_first_lane() const {
  Index out = constant_;
  for (const Term& term : terms_)
    if (term.variable->type.lanes == 1) out.terms_.push_back(term);
  return out;
}

std::int64_t Index::min() const {
  return static_cast<std::int64_t>(range_of(terms_, constant_).low);
}
std::int64_t Index::max() const {
  return static_cast<std::int64_t>(range_of(terms_, constant_).high);
}

Index Index::operator+(const Index& other) const {
  Index sum(wrap_add(constant_, other.constant_));
  auto a = terms_.begin(), b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    bool from_a =
        b == other.terms_.end() || (a != terms_.end() && a->variable->id < b->variable->id);
    bool from_b =
        a == terms_.end() || (b != other.terms_.end() && b->variable->id < a->variable->id);
    if (from_a) {
      sum.terms_.push_back(*a++);
    } else if (from_b) {
      sum.terms_.push_back(*b++);
    } else {
      std::int64_t coefficient = wrap_add(a->coefficient, b->coefficient);
      if (coefficient != 0) sum.terms_.push_back({a->variable, coefficient});
      ++a, ++b;
    }
  }
  return rejoin(sum);
}

Index Index::operator-(const Index& other) const { return *this + other * -1; }

Index Index::operator*(std::int64_t factor) const {
  Index product(wrap_mul(constant_, factor));
  for (const Term& term : terms_) {
    std::int64_t coefficient = wrap_mul(term.coefficient, factor);
    if (coefficient != 0) product.terms_.push_back({term.variable, coefficient});
  }
  return product;
}

}  // namespace strata::loop
