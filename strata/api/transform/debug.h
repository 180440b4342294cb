// Looking into programs while they run.
//
//   debug::print("loss {} at step {}", loss, step);      // inside of jit too: each time the
//   program comes by debug_nans check;                                    // while it lives, what
//   makes NaN is an Error that says which operation did
#pragma once

#include <string>
#include <vector>

#include "strata/api/transform/callback.h"
#include "strata/api/transform/debug_nans.h"

namespace strata {

namespace internal {
/// An array of which derivatives know nothing; integers as they are.
Array without_derivative(const Array& x);
/// Throws Error in the name of print where `format` does not fit so many arrays.
void check_format(const std::string& format, std::size_t count);
void print_line(const std::string& format, const std::vector<Array>& arrays);
}  // namespace internal

namespace debug {

/// f(args...) with concrete arguments; what it returns is dropped. Derivatives pass by: f is called
/// with values, once.
template <class F, class... Args>
void callback(F f, const Args&... args) {
  using Tuple = std::tuple<internal::AsOperand<Args>...>;
  const Tuple arguments(args...);
  std::vector<Array> operands;
  tree::for_each(arguments,
                 [&](const Array& x) { operands.push_back(internal::without_derivative(x)); });
  internal::HostFunction host = [f = std::move(f), arguments](std::vector<Array> leaves) {
    std::apply(f, tree::unflatten<Array>(arguments, leaves));
    return std::vector<Array>();
  };
  internal::host_call("debug.callback", std::move(host), {}, operands);
}

/// A line to std::cout: each "{}" is the next array as it prints, "{0}", "{1}", ... the one of that
/// number, "{:.3f}" a scalar by fmt's rules. Throws Error at once where the format does not fit.
template <class... Args>
void print(const std::string& format, const Args&... args) {
  internal::check_format(format, sizeof...(Args));
  callback(
      [format](const internal::AsOperand<Args>&... each) {
        internal::print_line(format, std::vector<Array>{each...});
      },
      args...);
}

}  // namespace debug

}  // namespace strata
