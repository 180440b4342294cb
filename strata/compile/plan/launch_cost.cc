#include "strata/compile/plan/launch_cost.h"

#include <algorithm>
#include <map>

#include "strata/loop/tiles.h"

namespace strata::compile {
namespace {

using loop::Body;
using loop::Index;
using loop::Inst;
using loop::Opcode;
using loop::VType;

// How many lanes' time a lane takes, roughly that of today's processors.
constexpr double kQuotient = 10;  // div, rem, sqrt
constexpr double kScattered = 8;  // a lane of a load or store whose lanes are not side by side
constexpr double kAlone = 4;      // a float that is no vector takes an instruction as a vector does

double middle(const Index& index) {
  return (static_cast<double>(index.min()) + static_cast<double>(index.max())) / 2;
}
/// A loop has no fewer than none, wherever its ends may be.
double turns(const Inst& loop, std::int64_t step) {
  const Index length = loop.end - loop.begin;
  return static_cast<double>(std::max<std::int64_t>(0, length.min()) +
                             std::max<std::int64_t>(0, length.max())) /
         2 / static_cast<double>(step);
}
/// In lanes of 32 bits.
double lanes_of(VType type) {
  return type.lanes * std::max(1.0, static_cast<double>(byte_width(type.dtype)) / 4);
}

/// Adds what is computed and what is read and written.
void add(LaunchCost& sum, const LaunchCost& more) {
  sum.flops += more.flops;
  sum.slots += more.slots;
  sum.pairs += more.pairs;
  sum.tiles += more.tiles;
  sum.read += more.read;
  sum.written += more.written;
}

class Counter {
 public:
  LaunchCost count(const loop::Kernel& kernel) {
    work_ = body(kernel.body, static_cast<double>(kernel.grid));
    for (const loop::Ref* ref : kernel.parameters()) {
      const double size = static_cast<double>(ref->size),
                   width = static_cast<double>(byte_width(ref->dtype));
      work_.read += width * std::min(size, loaded_[ref]);
      work_.written += width * std::min(size, stored_[ref]);
    }
    return work_;
  }

 private:
  LaunchCost body(const Body& insts, double times) {
    LaunchCost sum;
    for (const Inst* inst : insts.insts) add(sum, of(*inst, times));
    return sum;
  }

  LaunchCost of(const Inst& inst, double times) {
    switch (inst.code) {
      case Opcode::for_: return body(*inst.bodies[0], times * turns(inst, inst.step));
      case Opcode::vector:
        return body(*inst.bodies[0], times * std::max(turns(inst, inst.lanes), 1.0));
      case Opcode::while_: {
        LaunchCost sum = body(*inst.bodies[0], times);
        add(sum, body(*inst.bodies[1], times));
        return sum;
      }
      case Opcode::if_: {
        LaunchCost then = body(*inst.bodies[0], times), otherwise = body(*inst.bodies[1], times);
        return then.slots + then.pairs >= otherwise.slots + otherwise.pairs ? then : otherwise;
      }
      case Opcode::load:
        loaded_[inst.ref] += times * inst.index.lanes();
        return access(inst, times);
      case Opcode::store:
        stored_[inst.ref] += times * std::max(inst.index.lanes(), inst.args[0]->type.lanes);
        return access(inst, times);
      case Opcode::call: return call(inst, times);
      case Opcode::constant:
      case Opcode::index:
      case Opcode::fetch:
      case Opcode::local:
      case Opcode::get:
      case Opcode::set:
      case Opcode::extract:
      case Opcode::bitcast: return {};
      default: return arithmetic(inst, times);
    }
  }

  LaunchCost arithmetic(const Inst& inst, double times) {
    VType type =
        inst.code == Opcode::cmp || inst.code == Opcode::reduce || inst.code == Opcode::convert
            ? inst.args[0]->type
            : inst.type;
    const bool floats = is_float(type.dtype);
    if (inst.code == Opcode::dot4)
      return {.flops = 8 * times * type.lanes, .pairs = times * type.lanes};
    if (inst.code == Opcode::dot2)
      return {.flops = 4 * times * type.lanes, .pairs = times * type.lanes};
    if (type.lanes == 1 && !floats) return {};  // addresses and conditions, beside vectors
    // An integer by one that is known is a product and a few shifts.
    const bool quotient =
        inst.code == Opcode::sqrt || ((inst.code == Opcode::div || inst.code == Opcode::rem) &&
                                      (floats || inst.args[1]->code != Opcode::constant));
    const double each = (inst.code == Opcode::fma ? 2 : 1);
    return {
        .flops = floats ? each * times * type.lanes : 0,
        .slots = times * (quotient ? kQuotient : 1) * (type.lanes == 1 ? kAlone : lanes_of(type))};
  }

  /// Lanes that are side by side cost no arithmetic.
  LaunchCost access(const Inst& inst, double times) {
    const int lanes = inst.index.lanes();
    std::size_t varying = 0;
    bool beside = true;
    for (const Index::Term& term : inst.index.terms()) {
      if (term.variable->type.lanes == 1) continue;
      ++varying;
      beside =
          beside && term.variable->is_variable && (term.coefficient == 1 || term.coefficient == -1);
    }
    return {.slots = varying == 0 || (varying == 1 && beside) ? 0 : times * lanes * kScattered};
  }

  LaunchCost call(const Inst& inst, double times) {
    if (inst.callee != loop::kTileProduct) return {};
    const std::size_t rows = loop::places_of(inst.callee)->places +
                             3;  // behind three pitches: rows, columns, steps of two sixteens of k
    const double flops = times * amount(*inst.args[rows]) * amount(*inst.args[rows + 1]) *
                         amount(*inst.args[rows + 2]) * 64;
    return {.flops = flops, .tiles = flops};
  }
  static double amount(const Inst& number) {
    return number.code == Opcode::constant
               ? static_cast<double>(static_cast<std::int64_t>(number.bits))
               : middle(number.index);
  }

  LaunchCost work_;
  std::map<const loop::Ref*, double> loaded_, stored_;  // elements; looked up only
};

/// TilePipelines and streams are one launch: what they pass on in a thread's scratch is neither
/// read from memory nor written there.
LaunchCost work_together(const Plan& plan, const std::vector<Launch>& launches) {
  LaunchCost sum{.parallel = true};
  for (const Launch& l : launches) {
    const loop::Kernel& kernel = *plan.kernels[static_cast<std::size_t>(l.kernel)];
    add(sum, cost_of(kernel));
    const std::vector<loop::Ref*> parameters = kernel.parameters();
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      if (plan.buffers[static_cast<std::size_t>(l.arguments[i].buffer)].kind !=
          PlanBuffer::Kind::scratch)
        continue;
      const double bytes = static_cast<double>(parameters[i]->size) *
                           static_cast<double>(byte_width(parameters[i]->dtype));
      double& direction = parameters[i]->mode == loop::Ref::Mode::in ? sum.read : sum.written;
      direction = std::max(0.0, direction - bytes);
    }
  }
  return sum;
}

void add_works(const Plan& plan, const Steps& steps, std::vector<LaunchCost>& out) {
  for (const Step& step : steps) {
    if (const auto* l = std::get_if<Launch>(&step.what)) {
      out.push_back(cost_of(*plan.kernels[static_cast<std::size_t>(l->kernel)]));
      out.back().parallel = l->parallel;
    } else if (const auto* n = std::get_if<LaunchNative>(&step.what); n && n->grid > 0) {
      LaunchCost work{.parallel = n->parallel};
      for (const Address& a : n->arguments) {
        const PlanBuffer& buffer = plan.buffers[static_cast<std::size_t>(a.buffer)];
        (buffer.kind == PlanBuffer::Kind::result ? work.written : work.read) +=
            static_cast<double>(a.counter >= 0 ? a.stride : buffer.bytes - a.offset);
      }
      out.push_back(work);
    } else if (const auto* pipeline = std::get_if<TilePipeline>(&step.what)) {
      out.push_back(work_together(plan, pipeline->launches));
    } else if (const auto* streams = std::get_if<ConcurrentLaunches>(&step.what)) {
      out.push_back(work_together(plan, streams->launches));
    } else if (const auto* c = std::get_if<Copy>(&step.what); c && is_timed(*c)) {
      out.push_back(
          {.read = static_cast<double>(c->bytes), .written = static_cast<double>(c->bytes)});
    } else if (const auto* f = std::get_if<CountedLoop>(&step.what); f && f->count > 0) {
      add_works(plan, f->body, out);
    } else if (const auto* w = std::get_if<WhileLoop>(&step.what)) {
      add_works(plan, w->condition, out);
      add_works(plan, w->body, out);
    } else if (const auto* b = std::get_if<Branch>(&step.what)) {
      for (const Steps& s : b->branches) add_works(plan, s, out);
    }
  }
}

}  // namespace

LaunchCost cost_of(const loop::Kernel& kernel) { return Counter().count(kernel); }

double lanes_of(const LaunchCost& work) {
  constexpr double kBytesPerLane = 2;   // read or written in the time of a lane
  constexpr double kFlopsPerLane = 32;  // of tiles
  return work.slots + work.pairs + work.tiles / kFlopsPerLane +
         (work.read + work.written) / kBytesPerLane;
}

std::vector<LaunchCost> launch_costs(const Plan& plan) {
  std::vector<LaunchCost> out;
  add_works(plan, plan.steps, out);
  return out;
}

}  // namespace strata::compile
