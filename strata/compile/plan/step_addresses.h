// The addresses that steps use, one after the other; the lists of steps inside of one; whose memory
// a buffer is.
#pragma once

#include <map>
#include <numeric>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Calls f(address) for each address of the steps and of those inside of them; those of `Steps`
/// that may be changed may be changed.
template <class StepsOrConst, class F>
void each_address(StepsOrConst& steps, F&& f);

namespace internal {

template <class F>
struct AddressVisitor {
  F& f;

  void operator()(auto& what) { visit(what); }

 private:
  template <class T, class What>
  static constexpr bool is = std::is_same_v<std::remove_const_t<What>, T>;

  template <class What>
  void visit(What& what) {
    if constexpr (is<Launch, What> || is<LaunchNative, What>) {
      for (auto& a : what.arguments) f(a);
    } else if constexpr (is<TilePipeline, What> || is<ConcurrentLaunches, What>) {
      for (auto& launch : what.launches) visit(launch);
    } else if constexpr (is<Copy, What>) {
      f(what.from), f(what.to);
    } else if constexpr (is<CountedLoop, What>) {
      each_address(what.body, f);
    } else if constexpr (is<WhileLoop, What>) {
      each_address(what.condition, f);
      f(what.predicate);
      each_address(what.body, f);
    } else {
      f(what.index);
      for (auto& arm : what.branches) each_address(arm, f);
    }
  }
};

}  // namespace internal

template <class StepsOrConst, class F>
void each_address(StepsOrConst& steps, F&& f) {
  for (auto& step : steps)
    std::visit(internal::AddressVisitor<std::remove_reference_t<F>>{f}, step.what);
}

/// Calls f(steps) for each list of steps inside of one: the bodies of loops, the arms of branches.
template <class StepOrConst, class F>
void each_inner(StepOrConst& step, F&& f) {
  if (auto* loop = std::get_if<CountedLoop>(&step.what)) f(loop->body);
  if (auto* loop = std::get_if<WhileLoop>(&step.what)) f(loop->condition), f(loop->body);
  if (auto* branch = std::get_if<Branch>(&step.what))
    for (auto& arm : branch->branches) f(arm);
}

/// Of each buffer: itself, or the argument whose memory a result takes.
inline std::vector<int> memory_of_buffers(const Plan& plan) {
  std::vector<int> out(plan.buffers.size());
  std::iota(out.begin(), out.end(), 0);
  std::map<int, int> argument, result;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].kind == PlanBuffer::Kind::argument)
      argument[plan.buffers[b].number] = static_cast<int>(b);
    if (plan.buffers[b].kind == PlanBuffer::Kind::result)
      result[plan.buffers[b].number] = static_cast<int>(b);
  }
  for (std::size_t r = 0; r < plan.aliased.size(); ++r)
    if (plan.aliased[r] >= 0)
      out[static_cast<std::size_t>(result.at(static_cast<int>(r)))] = argument.at(plan.aliased[r]);
  return out;
}

}  // namespace strata::compile
