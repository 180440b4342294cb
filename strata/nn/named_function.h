// Functions as static data of modules.
//
//   nn::NamedFunction<const Array&> gate("hard_sigmoid", nn::hard_sigmoid);
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include "strata/api/array.h"

namespace strata::nn {

/// A function to an Array, and its name, by which structures tell it from others: functions of the
/// same name must be the same function.
template <class... Args>
class NamedFunction {
 public:
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, Args...>
  NamedFunction(std::string name, F f) : name_(std::move(name)), f_(std::move(f)) {}

  Array operator()(Args... args) const { return f_(args...); }
  /// The name by which structures and messages know it.
  const std::string& name() const { return name_; }
  const std::string& static_text() const { return name_; }

 private:
  std::string name_;
  std::function<Array(Args...)> f_;
};

}  // namespace strata::nn

template <class... Args>
inline constexpr bool strata::tree::is_static<strata::nn::NamedFunction<Args...>> = true;
