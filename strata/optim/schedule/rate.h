// A hyperparameter: a number, an array or a schedule.
//
//   optim::adamw(3e-4)                                           // a number
//   optim::adamw(optim::cosine_decay_schedule(3e-4, 1000))       // a schedule
//   optim::adamw(state["hyperparams/learning_rate"])             // an array, perhaps traced
//
// Numbers never decide a dtype, as C++'s never do; arithmetic between two of them is done in f64
// and rounded where it meets an array, as Python's floats are upstream. Source: Optax's
// ScalarOrSchedule.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <variant>

#include "strata/optim/schedule/schedule.h"

namespace strata::optim {

/// See above. Without a value it stands for upstream's None.
class Rate {
 public:
  Rate() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Rate(T number) : value_(static_cast<double>(number)) {}   // NOLINT: implicit by intent
  Rate(Array array) : value_(std::move(array)) {}           // NOLINT
  Rate(Schedule schedule) : value_(std::move(schedule)) {}  // NOLINT
  template <class F>
    requires(!std::same_as<F, Rate> && !std::same_as<F, Schedule> && !std::same_as<F, Array> &&
             std::is_invocable_r_v<Array, const F&, const Array&>)
  Rate(F f) : value_(Schedule(std::move(f))) {}  // NOLINT

  /// Whether there is a value.
  bool has_value() const { return value_.index() != 0; }
  /// Whether it is a number, which decides no dtype.
  bool is_number() const { return std::holds_alternative<double>(value_); }
  /// Whether it is a schedule; an array is neither.
  bool is_schedule() const { return std::holds_alternative<Schedule>(value_); }
  /// Whether it is this very number.
  bool is(double number) const { return is_number() && std::get<double>(value_) == number; }
  /// The number. Throws Error for anything else.
  double number() const;
  /// The number or array as an operand. Throws Error for a schedule, and without a value.
  Array array() const;
  operator Operand() const { return array(); }  // NOLINT: implicit by intent
  /// The schedule; a number or array is one that does not change.
  Schedule schedule() const;
  /// Its value at a step: a schedule's array, and anything else as it is.
  Rate at(const Array& count) const;
  /// "0.001", "an array", "a schedule", "none".
  std::string text() const;

  // Between numbers in f64, else as arrays; of schedules step by step. Found by argument alone.
  friend Rate operator+(const Rate& a, const Rate& b);
  friend Rate operator-(const Rate& a, const Rate& b);
  friend Rate operator*(const Rate& a, const Rate& b);
  friend Rate operator/(const Rate& a, const Rate& b);
  friend Rate operator-(const Rate& a);
  template <std::same_as<Array> A>
  friend Array operator+(const Rate& a, const A& b) {
    return a.array() + b;
  }
  template <std::same_as<Array> A>
  friend Array operator-(const Rate& a, const A& b) {
    return a.array() - b;
  }
  template <std::same_as<Array> A>
  friend Array operator*(const Rate& a, const A& b) {
    return a.array() * b;
  }
  template <std::same_as<Array> A>
  friend Array operator/(const Rate& a, const A& b) {
    return a.array() / b;
  }
  template <std::same_as<Array> A>
  friend Array operator+(const A& a, const Rate& b) {
    return a + b.array();
  }
  template <std::same_as<Array> A>
  friend Array operator-(const A& a, const Rate& b) {
    return a - b.array();
  }
  template <std::same_as<Array> A>
  friend Array operator*(const A& a, const Rate& b) {
    return a * b.array();
  }
  template <std::same_as<Array> A>
  friend Array operator/(const A& a, const Rate& b) {
    return a / b.array();
  }
  /// The square root.
  friend Rate sqrt(const Rate& a);

 private:
  std::variant<std::monostate, double, Array, Schedule> value_;
};

}  // namespace strata::optim
