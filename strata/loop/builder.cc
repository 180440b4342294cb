// Builder: values, and how equal ones are shared. Folding is in fold.cc, indices in
// builder_index.cc, memory and control in builder_control.cc.
#include <algorithm>
#include <utility>

#include "strata/loop/compress.h"
#include "strata/loop/lanes.h"
#include "strata/loop/lookup.h"
#include "strata/loop/loop.h"
#include "strata/loop/scale.h"
#include "strata/loop/semantics.h"

namespace strata::loop {
namespace {

Inst make(Opcode code, DType dtype, std::vector<Inst*> args) {
  Inst inst(code, {dtype, join_lanes(args)});
  inst.args = std::move(args);
  return inst;
}

void require(Opcode code, const Inst* operand) {
  STRATA_CHECK(accepts(code, operand->type.dtype), "{} of {}", name(code),
               strata::name(operand->type.dtype));
}
void require_equal(Opcode code, const Inst* a, const Inst* b) {
  STRATA_CHECK(a->type.dtype == b->type.dtype, "{} of {} and {}", name(code),
               strata::name(a->type.dtype), strata::name(b->type.dtype));
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}
std::uint64_t mix(std::uint64_t hash, const Index& index) {
  hash = mix(hash, static_cast<std::uint64_t>(index.constant()));
  for (const Index::Term& term : index.terms())
    hash = mix(mix(hash, static_cast<std::uint64_t>(term.variable->id)),
               static_cast<std::uint64_t>(term.coefficient));
  return hash;
}
std::uint64_t hash_of(const Inst& inst) {
  std::uint64_t hash =
      mix(static_cast<std::uint64_t>(inst.code), static_cast<std::uint64_t>(inst.type.dtype));
  hash = mix(mix(hash, static_cast<std::uint64_t>(inst.type.lanes)), inst.bits);
  hash = mix(hash, static_cast<std::uint64_t>(inst.compare));
  for (const Inst* arg : inst.args) hash = mix(hash, static_cast<std::uint64_t>(arg->id));
  if (inst.ref) hash = mix(hash, static_cast<std::uint64_t>(inst.ref->id));
  if (inst.var) hash = mix(hash, static_cast<std::uint64_t>(inst.var->id));
  return mix(hash, inst.index);
}
bool same(const Inst& a, const Inst& b) {
  return a.code == b.code && a.type == b.type && a.bits == b.bits && a.compare == b.compare &&
         a.args == b.args && a.ref == b.ref && a.var == b.var && a.index == b.index;
}

bool is_commutative(Opcode code) {
  switch (code) {
    case Opcode::add:
    case Opcode::mul:
    case Opcode::min:
    case Opcode::max:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_: return true;
    default: return false;
  }
}

/// type/round_to_odd.h on values: f64 -> f32.
Inst* rounded_to_odd(Builder& b, Inst* a) {
  Inst *nearest = b.convert(DType::f32, a), *back = b.convert(DType::f64, nearest);
  Inst *bits = b.bitcast(DType::ui32, nearest), *one = b.constant_int(DType::ui32, 1);
  Inst* away = b.compare(Compare::gt, b.unary(Opcode::abs, back), b.unary(Opcode::abs, a));
  Inst* toward = b.select(away, b.binary(Opcode::sub, bits, one), bits);
  Inst* odd = b.binary(Opcode::or_, toward, one);
  return b.bitcast(DType::f32, b.select(b.compare(Compare::ne, back, a), odd, bits));
}

}  // namespace

Builder::Builder(Kernel& kernel, BuilderOptions options) : kernel_(kernel), options_(options) {
  bodies_.push_back(&kernel.body);
  scopes_.emplace_back();
}

// ---- instructions

Inst* Builder::add(Inst inst) {
  inst.id = static_cast<int>(kernel_.arena.size());
  kernel_.arena.push_back(std::move(inst));
  return &kernel_.arena.back();
}

Inst* Builder::emit(Inst inst) {
  Inst* added = add(std::move(inst));
  bodies_.back()->insts.push_back(added);
  return added;
}

Inst* Builder::find_shared(const Inst& inst, std::uint64_t hash, std::uint64_t epoch) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto found = scope->find(hash);
    if (found == scope->end()) continue;
    for (const Entry& entry : found->second)
      if (entry.epoch == epoch && same(*entry.inst, inst)) return entry.inst;
  }
  return nullptr;
}

void Builder::remember(Inst* inst) {
  if (options_.share) scopes_.back()[hash_of(*inst)].push_back({inst, epoch_of(*inst)});
}

Inst* Builder::shared(Inst inst) {
  if (is_commutative(inst.code) && inst.args[0]->id > inst.args[1]->id)
    std::swap(inst.args[0], inst.args[1]);
  if (options_.fold)
    if (Inst* simpler = fold(inst)) return simpler;
  if (options_.share)
    if (Inst* equal = find_shared(inst, hash_of(inst), epoch_of(inst))) return equal;
  Inst* added = emit(std::move(inst));
  remember(added);
  return added;
}

// ---- buffers and the grid

Ref* Builder::parameter(DType dtype, std::int64_t size, Ref::Mode mode) {
  STRATA_CHECK(is_loop_dtype(dtype), "buffer of {}", strata::name(dtype));
  STRATA_CHECK(size >= 0, "buffer of {} elements", size);
  auto ref = std::make_unique<Ref>();
  *ref = {static_cast<int>(kernel_.refs.size()), dtype, size, mode};
  kernel_.refs.push_back(std::move(ref));
  return kernel_.refs.back().get();
}
Ref* Builder::scratch(DType dtype, std::int64_t size) {
  return parameter(dtype, size, Ref::Mode::scratch);
}

Inst* Builder::variable(int lanes, Inst* loop) {
  Inst inst(Opcode::index, {DType::i64, lanes});
  inst.is_variable = true;
  inst.loop = loop;
  return add(std::move(inst));
}

Index Builder::grid() {
  STRATA_CHECK(kernel_.grid >= 1, "grid of {} points", kernel_.grid);
  if (!kernel_.grid_index) kernel_.grid_index = variable(1, nullptr);
  kernel_.grid_index->low = 0;
  kernel_.grid_index->high = kernel_.grid - 1;
  return kernel_.grid == 1 && options_.fold ? Index(0) : Index::of(kernel_.grid_index);
}

// ---- values

Inst* Builder::constant_bits(DType dtype, std::uint64_t bits) {
  STRATA_CHECK(is_loop_dtype(dtype), "constant of {}", strata::name(dtype));
  Inst inst(Opcode::constant, {dtype, 1});
  inst.bits = semantics::trim(dtype, bits);
  if (dtype == DType::i64) inst.low = inst.high = static_cast<std::int64_t>(bits);
  return shared(std::move(inst));
}
Inst* Builder::constant(DType dtype, double value) {
  return constant_bits(dtype, semantics::convert(dtype, DType::f64, semantics::of(value)));
}
Inst* Builder::constant_int(DType dtype, std::int64_t value) {
  return constant_bits(dtype,
                       semantics::convert(dtype, DType::i64, static_cast<std::uint64_t>(value)));
}

Inst* Builder::unary(Opcode code, Inst* a) {
  STRATA_CHECK(code >= Opcode::neg && code <= Opcode::clz, "{} is not unary", name(code));
  require(code, a);
  return shared(make(code, a->type.dtype, {a}));
}
Inst* Builder::binary(Opcode code, Inst* a, Inst* b) {
  STRATA_CHECK(code >= Opcode::add && code <= Opcode::shr, "{} is not binary", name(code));
  require(code, a);
  require_equal(code, a, b);
  return shared(make(code, a->type.dtype, {a, b}));
}
Inst* Builder::fma(Inst* a, Inst* b, Inst* c) {
  require(Opcode::fma, a);
  require_equal(Opcode::fma, a, b);
  require_equal(Opcode::fma, a, c);
  return shared(make(Opcode::fma, a->type.dtype, {a, b, c}));
}
Inst* Builder::dot2(Inst* acc, Inst* a, Inst* b) {
  const bool sums = acc->type.dtype == DType::f32 || acc->type.dtype == DType::i32;
  STRATA_CHECK(sums && a->type.dtype == DType::i32 && b->type.dtype == DType::i32,
               "dot2 of {}, {}, {}", strata::name(acc->type.dtype), strata::name(a->type.dtype),
               strata::name(b->type.dtype));
  return shared(make(Opcode::dot2, acc->type.dtype, {acc, a, b}));
}
Inst* Builder::dot4(Inst* acc, Inst* a, Inst* b) {
  for (Inst* arg : {acc, a, b})
    STRATA_CHECK(arg->type.dtype == DType::i32, "dot4 of {}", strata::name(arg->type.dtype));
  return shared(make(Opcode::dot4, DType::i32, {acc, a, b}));
}
Inst* Builder::compare(Compare c, Inst* a, Inst* b) {
  require(Opcode::cmp, a);
  require_equal(Opcode::cmp, a, b);
  if (options_.fold)
    if (Inst* simpler = fold_compare(c, a, b)) return simpler;
  Inst inst = make(Opcode::cmp, DType::i1, {a, b});
  inst.compare = c;
  return shared(std::move(inst));
}
Inst* Builder::select(Inst* pred, Inst* a, Inst* b) {
  STRATA_CHECK(pred->type.dtype == DType::i1, "select by {}", strata::name(pred->type.dtype));
  require_equal(Opcode::select, a, b);
  return shared(make(Opcode::select, a->type.dtype, {pred, a, b}));
}
Inst* Builder::convert(DType to, Inst* a) {
  DType from = a->type.dtype;
  STRATA_CHECK(is_loop_dtype(to), "convert to {}", strata::name(to));
  if (to == from) return a;
  bool by_f32 = (semantics::is_half(from) && to != DType::f32) ||
                (semantics::is_half(to) && from != DType::f32);
  if (by_f32)
    return convert(to, from == DType::f64 ? rounded_to_odd(*this, a) : convert(DType::f32, a));
  return shared(make(Opcode::convert, to, {a}));
}
Inst* Builder::bitcast(DType to, Inst* a) {
  STRATA_CHECK(is_loop_dtype(to) && bit_width(to) == bit_width(a->type.dtype),
               "bitcast of {} to {}", strata::name(a->type.dtype), strata::name(to));
  if (to == a->type.dtype) return a;
  return shared(make(Opcode::bitcast, to, {a}));
}
Inst* Builder::reduce(Opcode combiner, Inst* a) {
  STRATA_CHECK(is_commutative(combiner) && accepts(combiner, a->type.dtype), "reduce of {} by {}",
               strata::name(a->type.dtype), name(combiner));
  if (a->type.lanes == 1) return a;
  Inst inst(Opcode::reduce, {a->type.dtype, 1});
  inst.args = {a};
  inst.bits = static_cast<std::uint64_t>(combiner);
  return shared(std::move(inst));
}
Inst* Builder::extract(Inst* a, int lane) {
  if (a->type.lanes == 1) return a;
  STRATA_CHECK(lane >= 0 && lane < a->type.lanes, "lane {} of {}", lane, a->type.lanes);
  Inst inst(Opcode::extract, {a->type.dtype, 1});
  inst.args = {a};
  inst.bits = static_cast<std::uint64_t>(lane);
  return shared(std::move(inst));
}
Inst* Builder::call(std::string callee, VType result, std::vector<Inst*> args) {
  bool known = callee == kScale || callee == kLookup || callee == kCompress || callee == kChosen ||
               lane_move(callee, result.lanes).has_value();
  STRATA_CHECK(
      (callee == kChosen ? 1 : join_lanes(args)) == result.lanes && (known || result.lanes == 1),
      "call of {} with lanes", callee);
  bool constant = known && std::all_of(args.begin(), args.end(),
                                       [](const Inst* a) { return a->code == Opcode::constant; });
  if (constant && options_.fold && callee == kScale)
    return constant_bits(result.dtype,
                         semantics::scale(result.dtype, args[0]->bits, args[2]->bits));
  if (constant && options_.fold && callee == kLookup)
    return args[lookup_argument(args[0]->bits, args.size())];
  Inst inst(Opcode::call, result);
  inst.callee = std::move(callee);
  inst.args = std::move(args);
  if (!known) forget_memory();
  return emit(std::move(inst));
}

}  // namespace strata::loop
