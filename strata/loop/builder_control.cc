// Builder: memory, locals, control flow.
#include <algorithm>

#include "strata/loop/lookup.h"
#include "strata/loop/loop.h"
#include "strata/loop/scale.h"

namespace strata::loop {
namespace {

/// Instructions a machine may run although their result is not wanted.
bool is_free(const Inst* inst) {
  switch (inst->code) {
    case Opcode::load:
    case Opcode::store:
    case Opcode::fetch:
    case Opcode::local:
    case Opcode::get:
    case Opcode::set:
    case Opcode::for_:
    case Opcode::vector:
    case Opcode::if_:
    case Opcode::while_:
    case Opcode::call: return is_scale(*inst) || is_lookup(*inst);
    default: return true;
  }
}
constexpr std::size_t kCheaperThanABranch = 8;

void require_condition(const Inst* pred) {
  STRATA_CHECK(pred->type.dtype == DType::i1 && pred->type.lanes == 1, "condition of {} x {} lanes",
               strata::name(pred->type.dtype), pred->type.lanes);
}

}  // namespace

// ---- what was written when

std::uint64_t Builder::epoch_of(const Inst& inst) const {
  if (inst.code == Opcode::load && inst.ref->mode != Ref::Mode::in) {
    auto id = static_cast<std::size_t>(inst.ref->id);
    return std::max(barrier_, id < ref_epochs_.size() ? ref_epochs_[id] : 0);
  }
  if (inst.code != Opcode::get) return 0;
  auto found = local_epochs_.find(inst.var->id);
  return std::max(barrier_, found == local_epochs_.end() ? 0 : found->second);
}
void Builder::wrote(Ref* ref) {
  auto id = static_cast<std::size_t>(ref->id);
  if (id >= ref_epochs_.size()) ref_epochs_.resize(id + 1);
  ref_epochs_[id] = ++clock_;
}
void Builder::wrote(Inst* local) { local_epochs_[local->id] = ++clock_; }
void Builder::forget_memory() { barrier_ = ++clock_; }

// ---- memory

Inst* Builder::guard() {
  Inst* all = nullptr;
  for (Inst* pred : guards_) all = all ? binary(Opcode::and_, all, pred) : pred;
  return all;
}

Inst* Builder::load(Ref* ref, const Index& index) {
  Inst* predicate = guard();
  if (options_.fold && predicate && predicate->code == Opcode::constant) {
    if (!predicate->bits) return constant_bits(ref->dtype, 0);
    predicate = nullptr;
  }
  Inst inst(Opcode::load, {ref->dtype, index.lanes()});
  inst.ref = ref;
  inst.index = index;
  if (predicate) {
    inst.args = {predicate, constant_bits(ref->dtype, 0)};
    if (inst.type.lanes == 1) inst.type.lanes = predicate->type.lanes;
    STRATA_CHECK(predicate->type.lanes == 1 || predicate->type.lanes == inst.type.lanes,
                 "load of {} lanes guarded by {}", inst.type.lanes, predicate->type.lanes);
  }
  return shared(std::move(inst));
}

void Builder::store(Ref* ref, const Index& index, Inst* value) {
  STRATA_CHECK(ref->mode != Ref::Mode::in, "store to input {}", ref->id);
  STRATA_CHECK(ref->dtype == value->type.dtype, "store of {} to {}",
               strata::name(value->type.dtype), strata::name(ref->dtype));
  Inst inst(Opcode::store, {ref->dtype, index.lanes()});
  inst.ref = ref;
  inst.index = index;
  inst.args = {value};
  if (Inst* predicate = guard()) inst.args.push_back(predicate);
  int lanes = join_lanes(inst.args);
  STRATA_CHECK(lanes == 1 || lanes == inst.type.lanes, "store of {} lanes at an index of {}", lanes,
               inst.type.lanes);
  wrote(ref);
  emit(std::move(inst));
}

void Builder::fetch(Ref* ref, const Index& index) {
  STRATA_CHECK(index.lanes() == 1, "fetch at an index of {} lanes", index.lanes());
  Inst inst(Opcode::fetch, {ref->dtype, 1});
  inst.ref = ref;
  inst.index = index;
  emit(std::move(inst));
}

// ---- locals

Inst* Builder::local(Inst* initial, int lanes) {
  STRATA_CHECK(initial->type.lanes == 1 || initial->type.lanes == lanes,
               "local of {} lanes set to {}", lanes, initial->type.lanes);
  Inst inst(Opcode::local, {initial->type.dtype, lanes});
  inst.args = {initial};
  return emit(std::move(inst));
}
Inst* Builder::get(Inst* local) {
  STRATA_CHECK(local->code == Opcode::local, "get of {}", name(local->code));
  Inst inst(Opcode::get, local->type);
  inst.var = local;
  return shared(std::move(inst));
}
void Builder::set(Inst* local, Inst* value) {
  STRATA_CHECK(local->code == Opcode::local && local->type.dtype == value->type.dtype,
               "set of a {} to {}", strata::name(local->type.dtype),
               strata::name(value->type.dtype));
  STRATA_CHECK(value->type.lanes == 1 || value->type.lanes == local->type.lanes,
               "set of {} lanes to {}", local->type.lanes, value->type.lanes);
  Inst inst(Opcode::set, local->type);
  inst.var = local;
  inst.args = {value};
  wrote(local);
  emit(std::move(inst));
}

// ---- control

void Builder::in_body(Body& body, const std::function<void()>& f) {
  bodies_.push_back(&body);
  scopes_.emplace_back();
  f();
  scopes_.pop_back();
  bodies_.pop_back();
}

void Builder::for_(const Index& begin, const Index& end, std::int64_t step,
                   const std::function<void(Index)>& body) {
  STRATA_CHECK(step > 0, "loop by steps of {}", step);
  STRATA_CHECK(begin.lanes() == 1 && end.lanes() == 1, "loop bounds have lanes");
  Index extent = end - begin;
  if (options_.fold && extent.max() <= 0) return;
  if (options_.fold && extent.min() > 0 && extent.max() <= step) return body(begin);
  // Counting the turns from zero keeps what is known of `begin` and of multiples of `step` visible
  // to div and mod.
  bool plain = begin.is_constant() && step == 1;
  if (options_.fold && !plain && extent.min() >= 0 && (extent.is_constant() || step > 1)) {
    Index turns = step == 1 ? extent : div(extent + (step - 1), step);
    return for_(0, turns, 1, [&](Index turn) { body(begin + turn * step); });
  }
  Inst* loop = emit(Inst(Opcode::for_, {DType::i64, 1}));
  loop->begin = begin;
  loop->end = end;
  loop->step = step;
  loop->counter = variable(1, loop);
  set_ranges(*loop);
  loop->bodies.push_back(std::make_unique<Body>());
  forget_memory();
  in_body(*loop->bodies[0], [&] { body(Index::of(loop->counter)); });
}

void Builder::vector(const Index& begin, const Index& end, int lanes,
                     const std::function<void(Index)>& body) {
  STRATA_CHECK(lanes >= 1 && (lanes & (lanes - 1)) == 0, "strips of {} lanes", lanes);
  STRATA_CHECK(begin.lanes() == 1 && end.lanes() == 1, "loop bounds have lanes");
  STRATA_CHECK(vector_depth_ == 0, "a vector loop stands in another");
  if (lanes == 1) return for_(begin, end, 1, body);
  Index extent = end - begin;
  if (options_.fold && extent.max() <= 0) return;
  Inst* loop = emit(Inst(Opcode::vector, {DType::i64, 1}));
  loop->begin = begin;
  loop->end = end;
  loop->lanes = lanes;
  loop->counter = variable(1, loop);
  loop->lane = variable(lanes, loop);
  set_ranges(*loop);
  loop->bodies.push_back(std::make_unique<Body>());
  bool single = options_.fold && loop->high < lanes;
  Index strip = single ? Index(0) : Index::of(loop->counter) * lanes;
  forget_memory();
  ++vector_depth_;
  in_body(*loop->bodies[0], [&] { body(begin + strip + Index::of(loop->lane)); });
  --vector_depth_;
}

void Builder::if_(Inst* pred, const std::function<void()>& then,
                  const std::function<void()>& otherwise) {
  require_condition(pred);
  if (options_.fold && pred->code == Opcode::constant) {
    if (pred->bits) return then();
    return otherwise ? otherwise() : void();
  }
  Inst* branch = emit(Inst(Opcode::if_, {DType::i1, 1}));
  branch->args = {pred};
  for (int arm = 0; arm < 2; ++arm) branch->bodies.push_back(std::make_unique<Body>());
  in_body(*branch->bodies[0], then);
  if (otherwise) in_body(*branch->bodies[1], otherwise);
}

void Builder::while_(const std::function<Inst*()>& condition, const std::function<void()>& body) {
  Inst* loop = emit(Inst(Opcode::while_, {DType::i1, 1}));
  for (int part = 0; part < 2; ++part) loop->bodies.push_back(std::make_unique<Body>());
  forget_memory();
  in_body(*loop->bodies[0], [&] { loop->condition = condition(); });
  require_condition(loop->condition);
  in_body(*loop->bodies[1], body);
}

Inst* Builder::guarded(Inst* pred, const std::function<Inst*()>& value, Inst* otherwise) {
  STRATA_CHECK(pred->type.dtype == DType::i1, "guarded by {}", strata::name(pred->type.dtype));
  if (options_.fold && pred->code == Opcode::constant) return pred->bits ? value() : otherwise;
  if (pred->type.lanes == 1) return uniform_guarded(pred, value, otherwise);
  guards_.push_back(pred);
  Inst* guarded = value();
  guards_.pop_back();
  return select(pred, guarded, otherwise);
}

/// A branch around `value`; if nothing in it needs one, its instructions run anyway and a select
/// decides.
Inst* Builder::uniform_guarded(Inst* pred, const std::function<Inst*()>& value, Inst* otherwise) {
  auto body = std::make_unique<Body>();
  bodies_.push_back(body.get());
  scopes_.emplace_back();
  Inst* result = value();
  scopes_.pop_back();
  bodies_.pop_back();
  std::vector<Inst*>& insts = body->insts;
  if (options_.fold && insts.size() <= kCheaperThanABranch &&
      std::all_of(insts.begin(), insts.end(), is_free)) {
    for (Inst* inst : insts) {
      bodies_.back()->insts.push_back(inst);
      remember(inst);
    }
    return select(pred, result, otherwise);
  }
  Inst* slot = local(otherwise, join_lanes({result, otherwise}));
  Inst* branch = emit(Inst(Opcode::if_, {DType::i1, 1}));
  branch->args = {pred};
  branch->bodies.push_back(std::move(body));
  branch->bodies.push_back(std::make_unique<Body>());
  in_body(*branch->bodies[0], [&] { set(slot, result); });
  return get(slot);
}

}  // namespace strata::loop
