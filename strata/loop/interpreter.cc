#include "strata/loop/interpreter.h"

#include <algorithm>
#include <cstring>

#include "strata/loop/compress.h"
#include "strata/loop/lanes.h"
#include "strata/loop/lookup.h"
#include "strata/loop/scale.h"
#include "strata/loop/semantics.h"
#include "strata/loop/tiles.h"

namespace strata::loop {
namespace {

using semantics::Bits;

/// Values of all instructions, lane by lane, for one grid point.
class Machine {
 public:
  Machine(const Kernel& kernel, std::span<void* const> parameters,
          const RuntimeFunctions& functions)
      : kernel_(kernel), functions_(functions) {
    bind(parameters);
    std::size_t total = 0;
    for (const Inst& inst : kernel.arena) {
      offsets_.push_back(total);
      total += static_cast<std::size_t>(inst.type.lanes);
    }
    values_.resize(total);
  }

  void run(std::int64_t point) {
    for (auto& scratch : scratch_) std::fill(scratch.begin(), scratch.end(), std::byte{0xff});
    if (kernel_.grid_index) at(kernel_.grid_index)[0] = static_cast<Bits>(point);
    run(kernel_.body);
  }

 private:
  void bind(std::span<void* const> parameters) {
    std::size_t next = 0;
    for (const auto& ref : kernel_.refs) {
      if (ref->mode != Ref::Mode::scratch) {
        STRATA_CHECK(next < parameters.size(), "kernel {} given {} parameters", kernel_.name,
                     parameters.size());
        memory_.push_back(static_cast<std::byte*>(parameters[next++]));
        continue;
      }
      scratch_.emplace_back(static_cast<std::size_t>(ref->size) * byte_width(ref->dtype));
      memory_.push_back(scratch_.back().data());
    }
    STRATA_CHECK(next == parameters.size(), "kernel {} of {} parameters given {}", kernel_.name,
                 next, parameters.size());
  }

  Bits* at(const Inst* inst) { return &values_[offsets_[static_cast<std::size_t>(inst->id)]]; }
  Bits read(const Inst* inst, int lane) { return at(inst)[inst->type.lanes == 1 ? 0 : lane]; }
  Bits arg(const Inst& inst, std::size_t i, int lane) { return read(inst.args[i], lane); }

  std::int64_t evaluate(const Index& index, int lane) {
    Bits sum = static_cast<Bits>(index.constant());
    for (const Index::Term& term : index.terms())
      sum += static_cast<Bits>(term.coefficient) * read(term.variable, lane);
    return static_cast<std::int64_t>(sum);
  }

  /// A lane of the strip that stands beyond the loop's end.
  bool is_masked(const Inst& inst, int lane) const {
    return inst.type.lanes > 1 && lane >= active_;
  }

  std::byte* element(const Inst& inst, int lane) {
    std::int64_t index = evaluate(inst.index, lane);
    STRATA_CHECK(index >= 0 && index < inst.ref->size,
                 "{} of element {} of a buffer of {} in kernel {}", name(inst.code), index,
                 inst.ref->size, kernel_.name);
    return memory_[static_cast<std::size_t>(inst.ref->id)] +
           static_cast<std::size_t>(index) * byte_width(inst.ref->dtype);
  }
  Bits load(const Inst& inst, int lane) {
    if (is_masked(inst, lane)) return 0;
    if (!inst.args.empty() && !arg(inst, 0, lane)) return arg(inst, 1, lane);
    Bits bits = 0;
    std::memcpy(&bits, element(inst, lane), byte_width(inst.ref->dtype));
    return semantics::trim(inst.ref->dtype, bits);
  }
  void store(const Inst& inst) {
    for (int lane = 0; lane < inst.type.lanes; ++lane) {
      if (is_masked(inst, lane) || (inst.args.size() > 1 && !arg(inst, 1, lane))) continue;
      Bits bits = arg(inst, 0, lane);
      std::memcpy(element(inst, lane), &bits, byte_width(inst.ref->dtype));
    }
  }
  void set(const Inst& inst) {
    Bits* local = at(inst.var);
    for (int lane = 0; lane < inst.var->type.lanes; ++lane)
      if (!is_masked(*inst.var, lane)) local[lane] = arg(inst, 0, lane);
  }

  Bits reduce(const Inst& inst) {
    const Inst* a = inst.args[0];
    std::vector<Bits> v(at(a), at(a) + a->type.lanes);
    for (int lane = 0; lane < a->type.lanes; ++lane)
      if (is_masked(*a, lane)) v[static_cast<std::size_t>(lane)] = 0;  // or_ of i1 (V7)
    for (std::size_t half = v.size() / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i)
        v[i] =
            semantics::binary(static_cast<Opcode>(inst.bits), inst.type.dtype, v[i], v[i + half]);
    return v[0];
  }
  Bits call(const Inst& inst) {
    auto found = functions_.find(inst.callee);
    STRATA_CHECK(found != functions_.end(), "no runtime function {}", inst.callee);
    std::vector<Bits> args;
    for (std::size_t i = 0; i < inst.args.size(); ++i) args.push_back(arg(inst, i, 0));
    return semantics::trim(inst.type.dtype, found->second(args));
  }

  Bits compressed_lane(const Inst& inst, int lane) {
    for (int from = 0, chosen = 0; from < inst.type.lanes; ++from)
      if (arg(inst, 0, from) && chosen++ == lane) return arg(inst, 1, from);
    return 0;
  }

  Bits chosen_lanes(const Inst& inst) {
    Bits out = 0;
    for (int lane = 0; lane < inst.args[0]->type.lanes; ++lane) out += arg(inst, 0, lane) ? 1 : 0;
    return out;
  }

  /// A call on the places of its loads.
  void run_places(const Inst& inst) {
    std::vector<void*> places;
    std::vector<std::int64_t> numbers, room;
    for (const Inst* a : inst.args) {
      if (a->code != Opcode::load) {
        numbers.push_back(static_cast<std::int64_t>(read(a, 0)));
        continue;
      }
      places.push_back(element(*a, 0));
      room.push_back((a->ref->size - evaluate(a->index, 0)) *
                     static_cast<std::int64_t>(byte_width(a->ref->dtype)));
    }
    run_on_places(inst.callee, places, numbers, room);
    at(&inst)[0] = 0;
  }

  Bits compute(const Inst& inst, int lane) {
    auto a = [&](std::size_t i) { return arg(inst, i, lane); };
    if (inst.code >= Opcode::add && inst.code <= Opcode::shr)
      return semantics::binary(inst.code, inst.type.dtype, a(0), a(1));
    if (inst.code >= Opcode::neg && inst.code <= Opcode::clz)
      return semantics::unary(inst.code, inst.type.dtype, a(0));
    switch (inst.code) {
      case Opcode::constant: return inst.bits;
      case Opcode::fma: return semantics::fma(inst.type.dtype, a(0), a(1), a(2));
      case Opcode::cmp:
        return semantics::compare(inst.compare, inst.args[0]->type.dtype, a(0), a(1));
      case Opcode::select: return a(0) ? a(1) : a(2);
      case Opcode::convert:
        return semantics::convert(inst.type.dtype, inst.args[0]->type.dtype, a(0));
      case Opcode::bitcast:
      case Opcode::local: return a(0);
      case Opcode::index: return static_cast<Bits>(evaluate(inst.index, lane));
      case Opcode::load: return load(inst, lane);
      case Opcode::get: return read(inst.var, lane);
      case Opcode::reduce: return reduce(inst);
      case Opcode::extract: return read(inst.args[0], static_cast<int>(inst.bits));
      case Opcode::dot2: return semantics::dot2(inst.type.dtype, a(0), a(1), a(2));
      case Opcode::dot4: return semantics::dot4(a(0), a(1), a(2));
      case Opcode::call:
        if (is_scale(inst)) return semantics::scale(inst.type.dtype, a(0), a(2));
        if (is_lookup(inst)) return a(lookup_argument(a(0), inst.args.size()));
        if (is_compress(inst)) return compressed_lane(inst, lane);
        if (is_chosen(inst)) return chosen_lanes(inst);
        return call(inst);
      default: STRATA_UNREACHABLE("{} has no value", name(inst.code));
    }
  }

  void run(const Body& body) {
    for (const Inst* inst : body.insts) run(*inst);
  }
  void run(const Inst& inst) {
    switch (inst.code) {
      case Opcode::store: return store(inst);
      case Opcode::fetch: return;
      case Opcode::set: return set(inst);
      case Opcode::for_: return run_for(inst);
      case Opcode::vector: return run_vector(inst);
      case Opcode::if_: return run(*inst.bodies[arg(inst, 0, 0) ? 0 : 1]);
      case Opcode::while_: return run_while(inst);
      case Opcode::call:
        if (auto move = lane_move(inst.callee, inst.type.lanes)) return run_move(inst, *move);
        if (takes_places(inst.callee)) return run_places(inst);
        break;
      default: break;
    }
    for (int lane = 0; lane < inst.type.lanes; ++lane) at(&inst)[lane] = compute(inst, lane);
  }
  void run_move(const Inst& inst, const LaneMove& move) {
    int lanes = inst.type.lanes;
    for (int lane = 0; lane < lanes; ++lane) {
      int from = move.source(lane, lanes);
      at(&inst)[lane] = from < lanes ? arg(inst, 0, from) : arg(inst, 1, from - lanes);
    }
  }
  void run_for(const Inst& loop) {
    std::int64_t end = evaluate(loop.end, 0);
    for (std::int64_t i = evaluate(loop.begin, 0); i < end;) {
      at(loop.counter)[0] = static_cast<Bits>(i);
      run(*loop.bodies[0]);
      if (__builtin_add_overflow(i, loop.step, &i)) return;
    }
  }
  void run_vector(const Inst& loop) {
    std::int64_t extent = evaluate(loop.end, 0) - evaluate(loop.begin, 0);
    for (int lane = 0; lane < loop.lanes; ++lane) at(loop.lane)[lane] = static_cast<Bits>(lane);
    for (std::int64_t done = 0; done < extent; done += loop.lanes) {
      at(loop.counter)[0] = static_cast<Bits>(done / loop.lanes);
      active_ = static_cast<int>(std::min<std::int64_t>(loop.lanes, extent - done));
      run(*loop.bodies[0]);
    }
    active_ = INT32_MAX;
  }
  void run_while(const Inst& loop) {
    for (;;) {
      run(*loop.bodies[0]);
      if (!read(loop.condition, 0)) return;
      run(*loop.bodies[1]);
    }
  }

  const Kernel& kernel_;
  const RuntimeFunctions& functions_;
  std::vector<std::byte*> memory_;  // of each ref
  std::vector<std::vector<std::byte>> scratch_;
  std::vector<std::size_t> offsets_;  // of each instruction's first lane in values_
  std::vector<Bits> values_;
  int active_ = INT32_MAX;  // lanes of the strip that are not masked
};

}  // namespace

void interpret(const Kernel& kernel, std::span<void* const> parameters,
               const RuntimeFunctions& functions) {
  Machine machine(kernel, parameters, functions);
  for (std::int64_t point = 0; point < kernel.grid; ++point) machine.run(point);
}

}  // namespace strata::loop
