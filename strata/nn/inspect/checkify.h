// Checks of values within compiled functions.
//
//   const auto step = nn::jit([](Model& m, const Array& x) {
//     nn::check(numpy::all(x >= 0), "the input is negative");
//     return m(x);
//   });
//   const auto [error, y] = nn::checkify(step)(model, x);
//   error.throw_if_failed();           // Error: "in blocks/0: the input is negative"
//
// A compiled program cannot throw: what a check found is a further result of every transform up to
// the checkify around it. Source: jax.experimental.checkify and Flax NNX's checkify with
// errors=user_checks. Deviations: messages have no places for values; out-of-bounds indices,
// division by zero and NaN are not checked (debug_nans in api/transform/debug.h finds NaN).
#pragma once

#include <optional>
#include <string>

#include "strata/nn/inspect/capture.h"

namespace strata::nn {

/// The kind of variables that checks are collected in.
struct CheckKind {
  static constexpr tree::Kind kind{"Check", &tree::kinds::variable};
};
/// What a check found: true where it holds.
using Check = Variable<CheckKind>;

/// Demands that all of `predicate` (bool) holds. Throws Error at once where its value is known and
/// nobody collects checks; Error, too, within a transform without a checkify around it, since there
/// nobody would hear of it.
void check(const Operand& predicate, const std::string& message);

/// What the checks of one call found.
class CheckError {
 public:
  CheckError() = default;
  explicit CheckError(tree::Tree found) : found_(std::move(found)) {}
  /// The message of the first check that failed, with the path of its module and, below vmap and
  /// scan, the first place along their axes; none where all hold. Reads values.
  std::optional<std::string> get() const;
  /// Throws Error with that message.
  void throw_if_failed() const;

 private:
  tree::Tree found_;
};

/// `checkify(f)(args...)` is pair{CheckError, f(args...)}.
template <class F>
auto checkify(F&& f) {
  return
      [captured = nn::capture<Check>(std::forward<F>(f))]<class... Args>(Args&&... args) mutable {
        auto [result, found] = captured(std::forward<Args>(args)...);
        return std::pair(CheckError(std::move(found)), std::move(result));
      };
}

}  // namespace strata::nn
