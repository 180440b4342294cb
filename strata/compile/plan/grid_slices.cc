#include "strata/compile/plan/grid_slices.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "strata/loop/tiles.h"

namespace strata::compile {
namespace {

using loop::Index;
using loop::Inst;
using loop::Opcode;
using Wide = __int128;

constexpr Wide kFar = Wide{1} << 100;  // beyond it sums could wrap; nothing is known there

/// What an i64 value of part p is in: p * each + [low, high].
struct Span {
  Wide each = 0, low = 0, high = 0;
};

Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }
Wide clamped(Wide n) { return std::clamp(n, -kFar, kFar); }
Span sum(const Span& a, const Span& b) {
  return {clamped(a.each + b.each), clamped(a.low + b.low), clamped(a.high + b.high)};
}
Span times(const Span& a, std::int64_t factor) {
  auto far = [](Wide n) { return n <= -kFar || n >= kFar; };
  if (factor != 0 && (far(a.each) || far(a.low) || far(a.high) || a.low < INT64_MIN ||
                      a.high > INT64_MAX || a.each > INT64_MAX))
    return {0, -kFar, kFar};
  Wide low = a.low * factor, high = a.high * factor;
  return {clamped(a.each * factor), clamped(std::min(low, high)), clamped(std::max(low, high))};
}

class Spans {
 public:
  Spans(const loop::Kernel& kernel, std::int64_t slices)
      : kernel_(kernel), points_(kernel.grid / slices) {}

  Span of(const Index& index) {
    Span all{0, index.constant(), index.constant()};
    for (const Index::Term& term : index.terms()) {
      const Inst* v = term.variable;
      bool together = stand_together(index, v);
      if (together && v == v->loop->counter) continue;  // the lane speaks for both
      all = sum(all, times(together ? Span{0, v->low, v->loop->high} : of(v), term.coefficient));
    }
    return all;
  }

 private:
  static std::int64_t coefficient(const Index& index, const Inst* variable) {
    for (const Index::Term& term : index.terms())
      if (term.variable == variable) return term.coefficient;
    return 0;
  }
  /// The lane and strip of one loop, as they count its extent: their sum stays in it although the
  /// last strip's lanes taken alone do not.
  static bool stand_together(const Index& index, const Inst* v) {
    const Inst* loop = v->is_variable ? v->loop : nullptr;
    if (!loop || !loop->lane) return false;
    std::int64_t lane = coefficient(index, loop->lane);
    return lane != 0 && Wide{coefficient(index, loop->counter)} == Wide{lane} * loop->lanes;
  }

  Span of(const Inst* v) {
    auto known = known_.find(v);
    if (known != known_.end()) return known->second;
    Span found = computed(*v).value_or(Span{0, v->low, v->high});
    return known_.emplace(v, found).first->second;
  }

  /// By how the value is made; nothing where only its declared range is known.
  std::optional<Span> computed(const Inst& v) {
    if (&v == kernel_.grid_index) return Span{points_, 0, points_ - 1};
    if (v.is_variable) return counter(v);
    if (v.code == Opcode::constant)
      return Span{0, static_cast<std::int64_t>(v.bits), static_cast<std::int64_t>(v.bits)};
    if (v.code == Opcode::index) return of(v.index);
    if (v.code != Opcode::div && v.code != Opcode::rem) return {};
    if (v.args[1]->code != Opcode::constant) return {};
    auto divisor = static_cast<std::int64_t>(v.args[1]->bits);
    Span a = of(v.args[0]);
    if (divisor <= 0 || a.each < 0 || a.low < 0 || a.each % divisor != 0) return {};
    return v.code == Opcode::div ? quotient(a, divisor) : remainder(a, divisor);
  }
  static Span quotient(const Span& a, std::int64_t divisor) {
    return {a.each / divisor, floor_div(a.low, divisor), floor_div(a.high, divisor)};
  }
  static Span remainder(const Span& a, std::int64_t divisor) {
    if (floor_div(a.low, divisor) != floor_div(a.high, divisor)) return {0, 0, divisor - 1};
    return {0, a.low % divisor, a.high % divisor};
  }

  /// A loop that begins where its part does counts there.
  std::optional<Span> counter(const Inst& v) {
    if (!v.loop || v.loop->code != Opcode::for_) return {};
    Span begin = of(v.loop->begin), end = of(v.loop->end);
    if (begin.each != end.each || begin.each == 0) return {};
    return Span{begin.each, begin.low, std::max(begin.low, end.high - 1)};
  }

  const loop::Kernel& kernel_;
  Wide points_;
  std::unordered_map<const Inst*, Span> known_;  // lookup only
};

template <class F>
void each_inst(const loop::Body& body, const F& f) {
  for (const Inst* i : body.insts) {
    f(*i);
    for (const auto& inner : i->bodies) each_inst(*inner, f);
  }
}

}  // namespace

std::vector<bool> accesses_own_slice(const loop::Kernel& kernel, std::int64_t slices) {
  std::vector<loop::Ref*> parameters = kernel.parameters();
  std::vector<bool> known(parameters.size(), false);
  if (slices <= 0 || kernel.grid % slices != 0) return known;
  std::unordered_map<const loop::Ref*, std::size_t> number;  // lookup only
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    number[parameters[i]] = i;
    known[i] = parameters[i]->size % slices == 0;
  }
  Spans spans(kernel, slices);
  each_inst(kernel.body, [&](const Inst& i) {
    if (i.code == Opcode::call &&
        loop::takes_places(i.callee))  // works beyond the places that its loads name
      for (const Inst* a : i.args)
        if (a->ref && number.count(a->ref)) known[number.at(a->ref)] = false;
    if (!i.ref || i.code == Opcode::fetch || !number.count(i.ref)) return;
    std::size_t n = number.at(i.ref);
    if (!known[n]) return;
    Wide size = i.ref->size / slices;
    Span at = spans.of(i.index);
    known[n] = at.each == size && at.low >= 0 && at.high < size;
  });
  return known;
}

}  // namespace strata::compile
