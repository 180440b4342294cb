#include "strata/compile/plan/interpret_plan.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "strata/loop/interpreter.h"
#include "strata/loop/kernel/native.h"

namespace strata::compile {
namespace {

class Walker {
 public:
  Walker(const Plan& plan, const RunContext& context, const RunKernel& run)
      : plan_(plan),
        context_(context),
        run_(run),
        counters_(static_cast<std::size_t>(plan.num_counters), 0) {}

  void walk(const Steps& steps) {
    for (const Step& step : steps) std::visit([&](const auto& s) { visit(s); }, step.what);
  }

 private:
  std::byte* resolve(const Address& a) {
    const PlanBuffer& b = plan_.buffers[static_cast<std::size_t>(a.buffer)];
    auto n = static_cast<std::size_t>(b.number);
    std::byte* base = nullptr;
    switch (b.kind) {
      case PlanBuffer::Kind::argument: base = static_cast<std::byte*>(context_.arguments[n]); break;
      case PlanBuffer::Kind::result: base = static_cast<std::byte*>(context_.results[n]); break;
      case PlanBuffer::Kind::constant: base = static_cast<std::byte*>(context_.constants[n]); break;
      case PlanBuffer::Kind::temporary: base = context_.arena + b.offset; break;
      case PlanBuffer::Kind::scratch: base = whole_.at(a.buffer).data(); break;
    }
    return base + a.offset +
           (a.counter >= 0 ? counters_[static_cast<std::size_t>(a.counter)] * a.stride : 0);
  }
  void visit(const Launch& l) {
    std::vector<void*> buffers;
    for (const Address& a : l.arguments) buffers.push_back(resolve(a));
    if (run_)
      run_(l.kernel, buffers);
    else
      loop::interpret(*plan_.kernels[static_cast<std::size_t>(l.kernel)], buffers);
  }
  void visit(const LaunchNative& l) {
    std::vector<void*> buffers;
    for (const Address& a : l.arguments) buffers.push_back(resolve(a));
    loop::run_native(l.symbol, std::move(buffers), l.params, l.grid);
  }
  /// The plain twin of parts: launch after launch, scratch as large as the arrays that it stands
  /// for.
  void visit(const TilePipeline& c) { visit_with_scratch(c.launches); }
  /// One stream after the other.
  void visit(const ConcurrentLaunches& s) { visit_with_scratch(s.launches); }
  void visit_with_scratch(const std::vector<Launch>& launches) {
    for (const Launch& l : launches)
      for (const Address& a : l.arguments)
        if (const PlanBuffer& b = plan_.buffers[static_cast<std::size_t>(a.buffer)];
            b.kind == PlanBuffer::Kind::scratch)
          whole_[a.buffer].resize(static_cast<std::size_t>(b.bytes));
    for (const Launch& l : launches) visit(l);
    whole_.clear();
  }
  void visit(const Copy& c) {
    std::memmove(resolve(c.to), resolve(c.from), static_cast<std::size_t>(c.bytes));
  }
  void visit(const CountedLoop& l) {
    for (std::int64_t i = 0; i < l.count; ++i) {
      counters_[static_cast<std::size_t>(l.counter)] = l.reverse ? l.count - 1 - i : i;
      walk(l.body);
    }
  }
  void visit(const WhileLoop& w) {
    for (;;) {
      walk(w.condition);
      if (std::to_integer<int>(*resolve(w.predicate)) == 0) return;
      walk(w.body);
    }
  }
  void visit(const Branch& b) {
    std::size_t last = b.branches.size() - 1, take;
    if (b.boolean) {
      take = std::to_integer<int>(*resolve(b.index)) != 0 ? 0 : 1;
    } else {
      std::int32_t index;
      std::memcpy(&index, resolve(b.index), sizeof index);
      take = index < 0 ? last : std::min<std::size_t>(static_cast<std::size_t>(index), last);
    }
    walk(b.branches[take]);
  }

  const Plan& plan_;
  const RunContext& context_;
  const RunKernel& run_;
  std::vector<std::int64_t> counters_;
  std::map<int, std::vector<std::byte>> whole_;  // of scratch, while its pipeline or streams run
};

}  // namespace

void interpret(const Plan& plan, const RunContext& context, const RunKernel& run) {
  Walker(plan, context, run).walk(plan.steps);
}

}  // namespace strata::compile
