#include "strata/compile/llvm/sized_plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "strata/base/check.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/code_units.h"
#include "strata/compile/llvm/runtime_symbols.h"
#include "strata/loop/sizes.h"

namespace strata::compile {
namespace {

constexpr std::size_t kMostPlaces = 30;  // of a call; one with more has a driver

template <class... F>
struct Visit : F... {
  using F::operator()...;
};
template <class... F>
Visit(F...) -> Visit<F...>;

/// Whether steps run one after another, each once.
bool is_straight(const Steps& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    return std::visit(Visit{[](const Launch& l) { return l.arguments.size() <= kMostPlaces; },
                            [](const LaunchNative& l) { return l.arguments.size() <= kMostPlaces; },
                            [](const Copy&) { return true; }, [](const auto&) { return false; }},
                      step.what);
  });
}

KernelFn symbol(const std::string& name) {
  for (const auto& [known, address] : runtime_symbols())
    if (known == name) return reinterpret_cast<KernelFn>(address);
  STRATA_UNREACHABLE("no runtime function {}", name);
}

}  // namespace

class SizedPlan::Maker {
 public:
  explicit Maker(const Plan& plan) : plan_(plan) {
    std::vector<CodeUnit> units;
    for (const auto& kernel : plan.kernels) kernels_.push_back(loop::with_sizes_apart(*kernel));
    for (const loop::SizedKernel& sized : kernels_)
      units.push_back(kernel_unit(*sized.kernel, plan.target));
    made_->code_ = code_for(units);
    for (const Step& step : plan.steps) std::visit([this](const auto& s) { add(s); }, step.what);
  }
  std::shared_ptr<const SizedPlan> take() { return std::move(made_); }

 private:
  Place place(const Address& a) const {
    STRATA_CHECK(a.counter < 0, "an address that counts, outside of loops");
    const PlanBuffer& b = plan_.buffers[static_cast<std::size_t>(a.buffer)];
    return {b.kind, b.number, a.offset + (b.kind == PlanBuffer::Kind::temporary ? b.offset : 0)};
  }
  std::vector<Place> places(const std::vector<Address>& addresses) const {
    std::vector<Place> out;
    for (const Address& a : addresses) out.push_back(place(a));
    return out;
  }
  void add(const Launch& l) {
    auto k = static_cast<std::size_t>(l.kernel);
    made_->calls_.push_back({.function = reinterpret_cast<KernelFn>(made_->code_[k].get()),
                             .places = places(l.arguments),
                             .numbers = kernels_[k].numbers,
                             .parallel = l.parallel,
                             .brief = l.brief,
                             .grid = plan_.kernels[k]->grid,
                             .grain = l.grain});
  }
  void add(const LaunchNative& l) {
    if (l.grid <= 0) return;
    made_->calls_.push_back({.function = symbol(l.symbol),
                             .places = places(l.arguments),
                             .numbers = l.params,
                             .parallel = l.parallel && l.grid > 1,
                             .may_fail = l.may_fail,
                             .grid = l.grid,
                             .grain = l.grain});
  }
  void add(const Copy& c) {
    made_->calls_.push_back({.places = {place(c.from), place(c.to)}, .numbers = {c.bytes}});
  }
  template <class Other>
  void add(const Other&) {
    STRATA_UNREACHABLE("a step that is not straight");
  }

  const Plan& plan_;
  std::vector<loop::SizedKernel> kernels_;
  std::shared_ptr<SizedPlan> made_ = std::make_shared<SizedPlan>();
};

std::shared_ptr<const SizedPlan> SizedPlan::make(const Plan& plan) {
  if (!is_straight(plan.steps)) return nullptr;
  return Maker(plan).take();
}

inline std::byte* SizedPlan::address(const Place& place, const RunContext& context) {
  const auto n = static_cast<std::size_t>(place.number);
  auto at = [&]() -> void* {
    switch (place.kind) {
      case PlanBuffer::Kind::argument: return context.arguments[n];
      case PlanBuffer::Kind::result: return context.results[n];
      case PlanBuffer::Kind::constant: return context.constants[n];
      case PlanBuffer::Kind::temporary: return context.arena;
      case PlanBuffer::Kind::scratch: break;
    }
    STRATA_UNREACHABLE("scratch outside of chains");
  };
  return static_cast<std::byte*>(at()) + place.offset;
}

void SizedPlan::run(const RunContext& context) const {
  for (const Call& call : calls_) {
    std::array<void*, kMostPlaces + 1> refs;
    for (std::size_t i = 0; i < call.places.size(); ++i) refs[i] = address(call.places[i], context);
    if (!call.function) {
      std::memmove(refs[1], refs[0], static_cast<std::size_t>(call.numbers[0]));
      continue;
    }
    refs[call.places.size()] = const_cast<std::int64_t*>(call.numbers.data());
    if (!call.parallel) {
      call.function(refs.data(), 0, call.grid);
    } else {
      auto points = [](void* ctx, std::int64_t begin, std::int64_t end) {
        const auto& [function, buffers] = *static_cast<std::pair<KernelFn, void* const*>*>(ctx);
        function(buffers, begin, end);
      };
      std::pair<KernelFn, void* const*> work{call.function, refs.data()};
      (call.brief ? parallel_for_brief : parallel_for)(call.grid, call.grain, points, &work);
    }
    if (call.may_fail && *context.failed != 0) return;
  }
}

}  // namespace strata::compile
