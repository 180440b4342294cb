#include "strata/compile/llvm/compile_plan.h"

#include <set>

#include "strata/base/stage_times.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/code_units.h"
#include "strata/compile/llvm/compile_kernels.h"
#include "strata/compile/llvm/emit/emit_driver.h"
#include "strata/compile/llvm/emit/launch_clock.h"
#include "strata/compile/llvm/runtime_symbols.h"
#include "strata/op/foreign/foreign.h"

namespace strata::compile {
namespace {

/// Everything the driver's code depends on, as numbers in text.
class StepsWriter {
 public:
  StepsWriter(const Plan& plan, const std::vector<std::string>& kernels)
      : plan_(plan), kernels_(kernels) {
    for (const PlanBuffer& b : plan.buffers)
      put('b', {static_cast<std::int64_t>(b.kind), b.number, b.offset,
                b.kind == PlanBuffer::Kind::scratch ? b.bytes : 0});
    put('c', {plan.num_counters});
    steps(plan.steps);
  }
  std::string take() { return std::move(text_); }

 private:
  void put(char what, std::initializer_list<std::int64_t> numbers) {
    text_ += what;
    for (std::int64_t n : numbers) (text_ += std::to_string(n)) += ' ';
  }
  void address(const Address& a) { put('@', {a.buffer, a.offset, a.counter, a.stride}); }
  void steps(const Steps& all) {
    text_ += '{';
    for (const Step& s : all) std::visit([this](const auto& what) { step(what); }, s.what);
    text_ += '}';
  }
  void step(const Launch& s) {
    auto k = static_cast<std::size_t>(s.kernel);
    put('L', {plan_.kernels.at(k)->grid, s.parallel, s.brief, s.grain});
    text_ += kernels_.at(k);
    for (const Address& a : s.arguments) address(a);
  }
  void step(const LaunchNative& s) {
    put('N', {s.grid, s.parallel, s.grain, s.may_fail, static_cast<std::int64_t>(s.params.size())});
    text_ += s.symbol;
    for (std::int64_t p : s.params) put('p', {p});
    for (const Address& a : s.arguments) address(a);
  }
  void step(const TilePipeline& s) {
    put('H', {s.slices, s.scratch_bytes, static_cast<std::int64_t>(s.launches.size())});
    for (const Launch& l : s.launches) step(l);
  }
  void step(const ConcurrentLaunches& s) {
    put('S', {s.scratch_bytes, static_cast<std::int64_t>(s.launches.size()),
              static_cast<std::int64_t>(s.claims.size())});
    for (const ConcurrentLaunches::Claim& c : s.claims)
      put('k', {c.first, c.count, c.begin, c.end});
    for (const Launch& l : s.launches) step(l);
  }
  void step(const Copy& s) {
    put('C', {s.bytes});
    address(s.from);
    address(s.to);
  }
  void step(const CountedLoop& s) {
    put('F', {s.counter, s.count, s.reverse});
    steps(s.body);
  }
  void step(const WhileLoop& s) {
    text_ += 'W';
    steps(s.condition);
    address(s.predicate);
    steps(s.body);
  }
  void step(const Branch& s) {
    put('B', {s.boolean});
    address(s.index);
    for (const Steps& arm : s.branches) steps(arm);
  }

  const Plan& plan_;
  const std::vector<std::string>& kernels_;
  std::string text_;
};

/// Its kernels, as far as they are called, then its driver. The plan has to outlive them.
std::vector<CodeUnit> units_of(const Plan& plan, bool timed) {
  std::vector<CodeUnit> units;
  std::vector<std::string> symbols;
  const InlinedLaunches inlined(plan);
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    CodeUnit unit = kernel_unit(*plan.kernels[k], plan.target);
    symbols.push_back(symbol_of(unit));
    if (inlined.is_called(static_cast<int>(k))) units.push_back(std::move(unit));
  }
  std::string key = StepsWriter(plan, symbols).take();
  units.push_back(
      {std::move(key), timed ? "timed_driver" : "driver",
       [&plan, inlined, symbols, timed](llvm::Module& module, const std::string& symbol) {
         emit_driver(plan, inlined, symbols, module, symbol, timed);
       },
       &plan.target});
  return units;
}

}  // namespace

Driver compile_plan(const Plan& plan, const CompilePlanOptions& options) {
  Stage stage("code");
  if (options.any_size && !options.timed)
    if (auto sized = SizedPlan::make(plan)) return {.sized = std::move(sized)};
  register_launch_clock();
  const std::vector<CodeUnit> units = units_of(plan, options.timed);
  Driver out{.code = code_for(units)};
  out.run = reinterpret_cast<DriverFn>(out.code.back().get());
  return out;
}

std::vector<std::string> plan_code(const Plan& plan, bool assembly) {
  std::vector<std::string> out;
  std::set<std::string> made;
  for (const CodeUnit& unit : units_of(plan, false))
    if (const std::string symbol = symbol_of(unit); made.insert(symbol).second)
      out.push_back(make_code(unit, symbol, assembly));
  return out;
}

namespace {

template <class Run>
void in_environment(const RunContext& context, runtime::LaunchTimes* times, Run run_in) {
  DefaultFloatEnvironment environment;
  LaunchClock clock(times);
  op::foreign::Run run;
  RunContext watched = context;
  watched.failed = run.failed();
  run_in(watched);
  run.finish();
}

}  // namespace

void run_driver(DriverFn driver, const RunContext& context, runtime::LaunchTimes* times) {
  in_environment(context, times, [&](const RunContext& watched) { driver(&watched); });
}

void run_driver(const Driver& driver, const RunContext& context, runtime::LaunchTimes* times) {
  if (!driver.sized) return run_driver(driver.run, context, times);
  in_environment(context, times, [&](const RunContext& watched) { driver.sized->run(watched); });
}

}  // namespace strata::compile
