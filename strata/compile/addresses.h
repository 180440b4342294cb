// The addresses that steps use, one after the other.
#pragma once

#include "strata/compile/plan.h"

namespace strata::compile {

/// Calls f(address) for each address of the steps and of those inside of them; those of `Steps` that may be changed may be changed.
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
    } else if constexpr (is<Chain, What>) {
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
  for (auto& step : steps) std::visit(internal::AddressVisitor<std::remove_reference_t<F>>{f}, step.what);
}

}  // namespace strata::compile
