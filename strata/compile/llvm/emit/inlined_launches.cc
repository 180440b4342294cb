#include "strata/compile/llvm/emit/inlined_launches.h"

#include <algorithm>

#include "strata/compile/plan/launch_cost.h"
#include "strata/compile/plan/step_addresses.h"

namespace strata::compile {
namespace {

constexpr std::size_t kMostLaunches = 16;  // of a loop's iteration
constexpr std::size_t kMostInsts = 2000;   // of all their kernels: LLVM makes code of each anew
// Lanes of 32 bits that a launch works on: beside more a call costs nothing, and what is hoisted
// out of the loop takes registers that a product's kernel needs.
constexpr double kMostSlots = 2048;

template <class F>
void each_launch(const Steps& steps, const F& f) {
  for (const Step& step : steps) {
    if (const auto* l = std::get_if<Launch>(&step.what)) f(*l);
    if (const auto* c = std::get_if<TilePipeline>(&step.what))
      for (const Launch& l : c->launches) f(l);
    if (const auto* s = std::get_if<ConcurrentLaunches>(&step.what))
      for (const Launch& l : s->launches) f(l);
    each_inner(step, [&](const Steps& inner) { each_launch(inner, f); });
  }
}

/// Chains have functions of their own, and so have streams.
bool has_chain(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    bool found = std::holds_alternative<TilePipeline>(step.what) ||
                 std::holds_alternative<ConcurrentLaunches>(step.what);
    each_inner(step, [&](const Steps& inner) { found |= has_chain(inner); });
    return found;
  });
}

}  // namespace

InlinedLaunches::InlinedLaunches(const Plan& plan)
    : plan_(plan), called_(plan.kernels.size(), false) {
  find(plan.steps);
  each_launch(plan.steps, [&](const Launch& l) {
    if (!has(l)) called_[static_cast<std::size_t>(l.kernel)] = true;
  });
}

/// Of loops one inside another the outermost that is small.
void InlinedLaunches::find(const Steps& steps) {
  for (const Step& step : steps) {
    bool is_small_loop = !std::holds_alternative<Branch>(step.what);
    each_inner(step, [&](const Steps& inner) { is_small_loop &= is_small(inner); });
    each_inner(step, [&](const Steps& inner) { is_small_loop ? take(inner) : find(inner); });
  }
}

bool InlinedLaunches::is_small(const Steps& body) const {
  if (has_chain(body)) return false;
  std::size_t launches = 0, insts = 0;
  each_launch(body, [&](const Launch& l) {
    ++launches;
    insts += plan_.kernels[static_cast<std::size_t>(l.kernel)]->arena.size();
  });
  return launches <= kMostLaunches && insts <= kMostInsts;
}

void InlinedLaunches::take(const Steps& body) {
  each_launch(body, [&](const Launch& l) {
    const loop::Kernel& kernel = *plan_.kernels[static_cast<std::size_t>(l.kernel)];
    if (!l.parallel && cost_of(kernel).slots <= kMostSlots) launches_.insert(&l);
  });
}

}  // namespace strata::compile
