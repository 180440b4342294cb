#include "strata/loop/verify.h"

#include <algorithm>
#include <span>

#include "strata/loop/compress.h"
#include "strata/loop/lanes.h"
#include "strata/loop/lookup.h"
#include "strata/loop/scale.h"
#include "strata/loop/tiles.h"

namespace strata::loop {
namespace {

/// The first mistake, thrown inside this file only.
struct Mistake {
  std::string message;
};
template <class... Args>
void expect(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Mistake{fmt::format(format, std::forward<Args>(args)...)};
}

bool has_value(const Inst& inst) {
  switch (inst.code) {
    case Opcode::store:
    case Opcode::fetch:
    case Opcode::local:
    case Opcode::set:
    case Opcode::for_:
    case Opcode::vector:
    case Opcode::if_:
    case Opcode::while_: return false;
    default: return true;
  }
}
bool is_name(std::string_view name) {
  auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_word);
}
bool is_lane_count(int lanes) {
  return lanes >= 1 && lanes <= kMaxLanes && (lanes & (lanes - 1)) == 0;
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), visible_(kernel.arena.size()), seen_(kernel.arena.size()) {}

  void run() {
    expect(is_name(kernel_.name), "a kernel named '{}'", kernel_.name);
    expect(kernel_.grid >= 1 && kernel_.grid <= kMaxElements, "grid of {} points",
           kernel_.grid);  // V1
    for (std::size_t i = 0; i < kernel_.refs.size(); ++i)
      check(*kernel_.refs[i], static_cast<int>(i));
    if (kernel_.grid_index) {
      expect_variable(kernel_.grid_index, nullptr, 1);
      show(kernel_.grid_index);
    }
    check(kernel_.body);
  }

 private:
  static void check(const Ref& ref, int id) {  // V1
    expect(ref.id == id, "buffer {} stands at position {}", ref.id, id);
    expect(is_loop_dtype(ref.dtype), "buffer {} of {}", id, strata::name(ref.dtype));
    expect(ref.size >= 0 && ref.size <= kMaxElements, "buffer {} of {} elements", id, ref.size);
  }

  // ---- V2: order

  bool is_ours(const Inst* inst) const {
    return inst && inst->id >= 0 && static_cast<std::size_t>(inst->id) < kernel_.arena.size() &&
           &kernel_.arena[static_cast<std::size_t>(inst->id)] == inst;
  }
  void show(const Inst* inst) {
    visible_[static_cast<std::size_t>(inst->id)] = true;
    shown_.push_back(inst);
  }
  void hide_from(std::size_t mark) {
    for (; shown_.size() > mark; shown_.pop_back())
      visible_[static_cast<std::size_t>(shown_.back()->id)] = false;
  }
  void expect_visible(const Inst& user, const Inst* value) const {
    expect(is_ours(value), "{} names a value of no instruction", name(user.code));
    expect(visible_[static_cast<std::size_t>(value->id)],
           "{} names a value that is not computed before it", name(user.code));
  }

  void check(const Body& body) {
    expect(++depth_ <= kMaxDepth, "bodies more than {} deep", kMaxDepth);  // V6
    for (const Inst* inst : body.insts) {
      expect(is_ours(inst) && !inst->is_variable,
             "a body holds an instruction that is not the kernel's");
      expect(!seen_[static_cast<std::size_t>(inst->id)], "{} stands in two places",
             name(inst->code));
      seen_[static_cast<std::size_t>(inst->id)] = true;
      check(*inst);
      show(inst);
    }
    --depth_;
  }
  void check_scoped(const Body& body) {
    std::size_t mark = shown_.size();
    check(body);
    hide_from(mark);
  }

  // ---- V3, V4: types

  void expect_lanes(int lanes) const {
    expect(is_lane_count(lanes), "value of {} lanes", lanes);
    expect(loop_lanes_ == 0 || lanes == 1 || lanes == loop_lanes_,
           "value of {} lanes in a vector loop of {}", lanes, loop_lanes_);
  }
  int args_lanes(const Inst& inst, std::size_t count) const {
    expect(inst.args.size() == count, "{} of {} arguments", name(inst.code), inst.args.size());
    int lanes = 1;
    for (const Inst* arg : inst.args) {
      expect_visible(inst, arg);
      expect(has_value(*arg) && !arg->is_variable, "{} of {}, which is no value", name(inst.code),
             name(arg->code));
      lanes = meet(inst, lanes, arg->type.lanes);
    }
    return lanes;
  }
  static int meet(const Inst& inst, int a, int b) {
    expect(a == 1 || b == 1 || a == b, "{} of values of {} and {} lanes", name(inst.code), a, b);
    return std::max(a, b);
  }
  static void expect_dtype(const Inst& inst, DType actual, DType wanted) {
    expect(actual == wanted, "{} of {} where {} is due", name(inst.code), strata::name(actual),
           strata::name(wanted));
  }
  void expect_type(const Inst& inst, DType dtype, int lanes) const {
    expect(inst.type == VType{dtype, lanes}, "{} gives {} x {} lanes, not {} x {}", name(inst.code),
           strata::name(dtype), lanes, strata::name(inst.type.dtype), inst.type.lanes);
  }
  /// Arguments and result of one type.
  void check_equal(const Inst& inst, std::size_t count) const {
    int lanes = args_lanes(inst, count);
    DType dtype = inst.args[0]->type.dtype;
    expect(accepts(inst.code, dtype), "{} of {}", name(inst.code), strata::name(dtype));
    for (const Inst* arg : inst.args) expect_dtype(inst, arg->type.dtype, dtype);
    expect_type(inst, inst.code == Opcode::cmp ? DType::i1 : dtype, lanes);
  }

  int index_lanes(const Inst& user, const Index& index) const {
    int lanes = 1;
    const Inst* last = nullptr;
    for (const Index::Term& term : index.terms()) {
      const Inst* v = term.variable;
      expect_visible(user, v);
      expect(v->is_variable || has_value(*v), "an index of {}, which is no value", name(v->code));
      expect(v->type.dtype == DType::i64, "an index of {}", strata::name(v->type.dtype));
      expect(term.coefficient != 0 && (!last || last->id < v->id),
             "the terms of an index are not in order");
      lanes = meet(user, lanes, v->type.lanes);
      last = v;
    }
    return lanes;
  }

  void check(const Inst& inst) {
    expect(is_loop_dtype(inst.type.dtype), "{} of {}", name(inst.code),
           strata::name(inst.type.dtype));
    expect_lanes(inst.type.lanes);
    expect(inst.low <= inst.high, "a value in [{}, {}]", inst.low, inst.high);  // V8
    if (inst.code >= Opcode::add && inst.code <= Opcode::shr) return check_equal(inst, 2);
    if (inst.code >= Opcode::neg && inst.code <= Opcode::clz) return check_equal(inst, 1);
    switch (inst.code) {
      case Opcode::constant: args_lanes(inst, 0); return expect_type(inst, inst.type.dtype, 1);
      case Opcode::fma: return check_equal(inst, 3);
      case Opcode::cmp: return check_equal(inst, 2);
      case Opcode::select: return check_select(inst);
      case Opcode::convert: return check_convert(inst);
      case Opcode::bitcast: return check_bitcast(inst);
      case Opcode::index:
        args_lanes(inst, 0);
        return expect_type(inst, DType::i64, index_lanes(inst, inst.index));
      case Opcode::load: return check_load(inst);
      case Opcode::store: return check_store(inst);
      case Opcode::fetch: return check_fetch(inst);
      case Opcode::local: return check_held(inst, inst);
      case Opcode::get:
      case Opcode::set: return check_local_access(inst);
      case Opcode::reduce: return check_reduce(inst);
      case Opcode::extract: return check_extract(inst);
      case Opcode::dot2: return check_dot2(inst);
      case Opcode::dot4: return check_dot4(inst);
      case Opcode::call: return check_call(inst);
      case Opcode::for_: return check_for(inst);
      case Opcode::vector: return check_vector(inst);
      case Opcode::if_: return check_if(inst);
      case Opcode::while_: return check_while(inst);
      default: throw Mistake{"an unknown opcode"};
    }
  }
  void check_select(const Inst& inst) const {
    int lanes = args_lanes(inst, 3);
    expect_dtype(inst, inst.args[0]->type.dtype, DType::i1);
    expect_dtype(inst, inst.args[2]->type.dtype, inst.args[1]->type.dtype);
    expect_type(inst, inst.args[1]->type.dtype, lanes);
  }
  void check_convert(const Inst& inst) const {
    expect_type(inst, inst.type.dtype, args_lanes(inst, 1));
    DType from = inst.args[0]->type.dtype, to = inst.type.dtype;
    auto half = [](DType d) { return d == DType::bf16 || d == DType::f16; };
    bool direct = (!half(from) || to == DType::f32) && (!half(to) || from == DType::f32);
    expect(direct, "convert of {} to {}, which goes by way of f32", strata::name(from),
           strata::name(to));
  }
  void check_bitcast(const Inst& inst) const {
    expect_type(inst, inst.type.dtype, args_lanes(inst, 1));
    DType from = inst.args[0]->type.dtype;
    expect(bit_width(from) == bit_width(inst.type.dtype), "bitcast of {} to {}", strata::name(from),
           strata::name(inst.type.dtype));
  }
  void check_dot2(const Inst& inst) const {
    int lanes = args_lanes(inst, 3);
    const DType sum = inst.args[0]->type.dtype;
    if (sum != DType::i32) expect_dtype(inst, sum, DType::f32);
    expect_dtype(inst, inst.args[1]->type.dtype, DType::i32);
    expect_dtype(inst, inst.args[2]->type.dtype, DType::i32);
    expect_type(inst, sum, lanes);
  }
  void check_dot4(const Inst& inst) const {
    int lanes = args_lanes(inst, 3);
    for (const Inst* arg : inst.args) expect_dtype(inst, arg->type.dtype, DType::i32);
    expect_type(inst, DType::i32, lanes);
  }
  void check_extract(const Inst& inst) const {
    args_lanes(inst, 1);
    expect_type(inst, inst.args[0]->type.dtype, 1);
    expect(inst.bits == 0 || !masked_,
           "extract of lane {} in a vector loop whose last strip is masked", inst.bits);
    expect(inst.bits < static_cast<std::uint64_t>(inst.args[0]->type.lanes), "lane {} of {}",
           inst.bits, inst.args[0]->type.lanes);
  }
  void check_reduce(const Inst& inst) const {  // V7
    args_lanes(inst, 1);
    auto combiner = static_cast<Opcode>(inst.bits);
    bool combines = inst.bits <= static_cast<std::uint64_t>(Opcode::xor_) &&
                    combiner != Opcode::constant && combiner != Opcode::sub &&
                    combiner != Opcode::div && combiner != Opcode::rem;
    expect(combines && accepts(combiner, inst.args[0]->type.dtype), "reduce of {} by opcode {}",
           strata::name(inst.args[0]->type.dtype), inst.bits);
    bool any = combiner == Opcode::or_ && inst.type.dtype == DType::i1;
    expect(inst.args[0]->type.lanes == 1 || !masked_ || any,
           "reduce in a vector loop whose last strip is masked");
    expect_type(inst, inst.args[0]->type.dtype, 1);
  }
  void check_call(const Inst& inst) const {
    int lanes = args_lanes(inst, inst.args.size());
    expect(is_name(inst.callee), "call of '{}'", inst.callee);
    if (auto move = lane_move(inst.callee, inst.type.lanes)) return check_move(inst, *move);
    if (is_scale(inst)) return check_scale(inst);
    if (is_lookup(inst)) return check_lookup(inst);
    if (is_compress(inst)) return check_compress(inst);
    if (is_chosen(inst)) return check_chosen(inst);
    if (auto places = places_of(inst.callee)) return check_places(inst, *places);
    expect(lanes == 1 && inst.type.lanes == 1, "call of {} with lanes", inst.callee);
  }
  void check_lookup(const Inst& inst) const {
    std::size_t entries = inst.args.empty() ? 0 : inst.args.size() - 1;
    expect(is_lookup_size(entries), "lookup among {} entries", entries);
    expect_dtype(inst, inst.args[0]->type.dtype, DType::i32);
    for (const Inst* entry : std::span(inst.args).subspan(1)) {
      expect_dtype(inst, entry->type.dtype, DType::f32);
      expect(entry->code == Opcode::constant, "lookup of what is not constant");
    }
    expect_type(inst, DType::f32, inst.args[0]->type.lanes);
  }
  void check_compress(const Inst& inst) const {  // V7
    const int lanes = args_lanes(inst, 2);
    expect_dtype(inst, inst.args[0]->type.dtype, DType::i1);
    expect_type(inst, inst.args[1]->type.dtype, lanes);
    expect(!masked_, "compress in a vector loop whose last strip is masked");
  }
  void check_chosen(const Inst& inst) const {  // V7
    args_lanes(inst, 1);
    expect_dtype(inst, inst.args[0]->type.dtype, DType::i1);
    expect_type(inst, DType::i64, 1);
    expect(!masked_, "lanes counted in a vector loop whose last strip is masked");
  }
  void check_scale(const Inst& inst) const {
    int lanes = args_lanes(inst, 3);
    bool is_double = inst.type.dtype == DType::f64;
    expect(is_double || inst.type.dtype == DType::f32, "scale of {}",
           strata::name(inst.type.dtype));
    for (const Inst* float_arg : {inst.args[0], inst.args[1]})
      expect_dtype(inst, float_arg->type.dtype, inst.type.dtype);
    expect_dtype(inst, inst.args[2]->type.dtype, is_double ? DType::i64 : DType::i32);
    expect_type(inst, inst.type.dtype, lanes);
  }
  void check_places(const Inst& inst, const Places& takes) const {
    expect(inst.args.size() == takes.places + takes.numbers, "{} of {} arguments", inst.callee,
           inst.args.size());
    for (std::size_t i = 0; i < inst.args.size(); ++i) {
      const Inst& arg = *inst.args[i];
      if (i < takes.places)
        expect(arg.code == Opcode::load && arg.args.empty() && arg.type.lanes == 1,
               "{} of a place that is no uniform load", inst.callee);
      else
        expect(arg.code != Opcode::load && arg.type == VType{DType::i64, 1},
               "{} of a number that is no i64", inst.callee);
    }
    expect_type(inst, DType::i32, 1);
  }
  void check_move(const Inst& inst, const LaneMove& move) const {  // V7
    int lanes = args_lanes(inst, 2);
    for (const Inst* arg : inst.args) expect_dtype(inst, arg->type.dtype, inst.type.dtype);
    expect_type(inst, inst.type.dtype, lanes);
    bool upwards = move.kind == LaneMove::Kind::behind && inst.args[0]->type.lanes == 1;
    expect(upwards || !masked_, "{} in a vector loop whose last strip is masked", inst.callee);
  }

  // ---- V5: memory

  void expect_ref(const Inst& inst) const {
    auto id = static_cast<std::size_t>(inst.ref ? inst.ref->id : -1);
    bool ours = id < kernel_.refs.size() && kernel_.refs[id].get() == inst.ref;
    expect(ours, "{} of a buffer that is not the kernel's", name(inst.code));
  }
  void check_load(const Inst& inst) const {
    expect_ref(inst);
    expect(inst.ahead >= 0 && inst.ahead <= inst.ref->size,
           "load that looks {} elements ahead of {}", inst.ahead, inst.ref->size);
    int lanes = index_lanes(inst, inst.index);
    if (!inst.args.empty()) {
      args_lanes(inst, 2);
      expect_dtype(inst, inst.args[0]->type.dtype, DType::i1);
      expect_dtype(inst, inst.args[1]->type.dtype, inst.ref->dtype);
      lanes = meet(inst, lanes, inst.args[0]->type.lanes);
      expect(inst.args[1]->type.lanes == 1 || inst.args[1]->type.lanes == lanes,
             "load of {} lanes, otherwise {}", lanes, inst.args[1]->type.lanes);
    }
    expect_type(inst, inst.ref->dtype, lanes);
  }
  void check_store(const Inst& inst) const {
    expect_ref(inst);
    expect(inst.ref->mode != Ref::Mode::in, "store to input {}", inst.ref->id);
    int lanes = index_lanes(inst, inst.index),
        widest = args_lanes(inst, inst.args.size() == 2 ? 2 : 1);
    expect(widest == 1 || widest == lanes, "store of {} lanes at an index of {}", widest, lanes);
    expect_dtype(inst, inst.args[0]->type.dtype, inst.ref->dtype);
    if (inst.args.size() == 2) expect_dtype(inst, inst.args[1]->type.dtype, DType::i1);
    expect_type(inst, inst.ref->dtype, lanes);
  }
  void check_fetch(const Inst& inst) const {
    expect_ref(inst);
    args_lanes(inst, 0);
    expect(index_lanes(inst, inst.index) == 1, "fetch at an index that has lanes");
    expect_type(inst, inst.ref->dtype, 1);
  }
  /// args[0] can be held in `local`.
  void check_held(const Inst& inst, const Inst& local) const {
    int lanes = args_lanes(inst, 1);
    expect_dtype(inst, inst.args[0]->type.dtype, local.type.dtype);
    expect(lanes == 1 || lanes == local.type.lanes, "{} of {} lanes to {}", name(inst.code),
           local.type.lanes, lanes);
  }
  void check_local_access(const Inst& inst) const {
    expect_visible(inst, inst.var);
    expect(inst.var->code == Opcode::local, "{} of {}", name(inst.code), name(inst.var->code));
    if (inst.code == Opcode::set) return check_held(inst, *inst.var);
    args_lanes(inst, 0);
    expect_type(inst, inst.var->type.dtype, inst.var->type.lanes);
  }

  // ---- V6: control

  void expect_variable(const Inst* variable, const Inst* loop, int lanes) const {
    expect(is_ours(variable) && variable->is_variable && variable->code == Opcode::index &&
               variable->loop == loop,
           "a loop without a variable of its own");
    expect(variable->type == VType{DType::i64, lanes}, "a loop variable of {} x {} lanes",
           strata::name(variable->type.dtype), variable->type.lanes);
    expect(!visible_[static_cast<std::size_t>(variable->id)], "a variable of two loops");
    expect(variable->low <= variable->high, "a loop variable in [{}, {}]", variable->low,
           variable->high);
  }
  static void expect_bodies(const Inst& inst, std::size_t count) {
    expect(inst.bodies.size() == count, "{} of {} bodies", name(inst.code), inst.bodies.size());
  }
  void expect_bounds(const Inst& loop) const {
    args_lanes(loop, 0);
    expect(index_lanes(loop, loop.begin) == 1 && index_lanes(loop, loop.end) == 1,
           "{} with bounds that have lanes", name(loop.code));
    expect_bodies(loop, 1);
  }
  void expect_condition(const Inst& user, const Inst* condition) const {
    expect_visible(user, condition);
    expect(condition->type == VType{DType::i1, 1} && has_value(*condition), "{} by {} x {} lanes",
           name(user.code), strata::name(condition->type.dtype), condition->type.lanes);
  }
  void check_for(const Inst& loop) {
    expect_bounds(loop);
    expect(loop.step > 0, "for by steps of {}", loop.step);
    std::size_t mark = shown_.size();
    expect_variable(loop.counter, &loop, 1);
    show(loop.counter);
    check(*loop.bodies[0]);
    hide_from(mark);
  }
  void check_vector(const Inst& loop) {
    expect_bounds(loop);
    expect(is_lane_count(loop.lanes) && loop.lanes > 1, "strips of {} lanes", loop.lanes);
    expect(loop_lanes_ == 0, "a vector loop stands in another");
    std::size_t mark = shown_.size();
    expect_variable(loop.counter, &loop, 1);
    show(loop.counter);
    expect_variable(loop.lane, &loop, loop.lanes);
    show(loop.lane);
    masked_ = !has_whole_strips(loop);
    loop_lanes_ = loop.lanes;
    check(*loop.bodies[0]);
    loop_lanes_ = 0;
    masked_ = false;
    hide_from(mark);
  }
  void check_if(const Inst& branch) {
    args_lanes(branch, 1);
    expect_condition(branch, branch.args[0]);
    expect_bodies(branch, 2);
    check_scoped(*branch.bodies[0]);
    check_scoped(*branch.bodies[1]);
  }
  void check_while(const Inst& loop) {
    args_lanes(loop, 0);
    expect_bodies(loop, 2);
    std::size_t mark = shown_.size();
    check(*loop.bodies[0]);
    expect_condition(loop, loop.condition);
    hide_from(mark);
    check_scoped(*loop.bodies[1]);
  }

  const Kernel& kernel_;
  std::vector<bool> visible_, seen_;  // by id
  std::vector<const Inst*> shown_;    // the visible ones, innermost last
  int depth_ = 0;
  int loop_lanes_ = 0;   // of the open vector loop
  bool masked_ = false;  // whether it has a masked strip
};

}  // namespace

Status verify(const Kernel& kernel) {
  try {
    Verifier(kernel).run();
  } catch (const Mistake& mistake) {
    return Status(Code::invalid, "kernel " + kernel.name + ": " + mistake.message);
  }
  return {};
}

}  // namespace strata::loop
