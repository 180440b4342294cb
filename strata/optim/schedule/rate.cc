#include "strata/optim/schedule/rate.h"

#include <fmt/format.h>

#include "strata/base/error.h"

namespace strata::optim {

namespace {
/// Of two numbers in f64, else of arrays; schedules step by step.
Rate combined(const Rate& a, const Rate& b, double (*of_numbers)(double, double),
              Array (*f)(const Array&, const Array&)) {
  if (a.is_number() && b.is_number()) return of_numbers(a.number(), b.number());
  if (a.is_schedule() || b.is_schedule())
    return Schedule([a, b, f](const Array& count) {
      return Array(f(a.at(count).array(), b.at(count).array()));
    });
  return f(a.array(), b.array());
}
}  // namespace

double Rate::number() const {
  if (!is_number()) throw Error("optim", "needs a number here, got {}", text());
  return std::get<double>(value_);
}
Array Rate::array() const {
  if (const auto* array = std::get_if<Array>(&value_)) return *array;
  if (is_number()) return Array(std::get<double>(value_));
  throw Error("optim", "needs a number or an array here, got {}", text());
}
Schedule Rate::schedule() const {
  if (is_schedule()) return std::get<Schedule>(value_);
  if (is_number()) return Schedule(std::get<double>(value_));
  return Schedule(array());
}
Rate Rate::at(const Array& count) const {
  return is_schedule() ? Rate(std::get<Schedule>(value_)(count)) : *this;
}
std::string Rate::text() const {
  if (is_number()) return fmt::format("{}", std::get<double>(value_));
  if (is_schedule()) return "a schedule";
  return has_value() ? "an array" : "none";
}

Rate operator+(const Rate& a, const Rate& b) {
  return combined(
      a, b, [](double x, double y) { return x + y; },
      [](const Array& x, const Array& y) { return numpy::add(x, y); });
}
Rate operator-(const Rate& a, const Rate& b) {
  return combined(
      a, b, [](double x, double y) { return x - y; },
      [](const Array& x, const Array& y) { return numpy::subtract(x, y); });
}
Rate operator*(const Rate& a, const Rate& b) {
  return combined(
      a, b, [](double x, double y) { return x * y; },
      [](const Array& x, const Array& y) { return numpy::multiply(x, y); });
}
Rate operator/(const Rate& a, const Rate& b) {
  return combined(
      a, b, [](double x, double y) { return x / y; },
      [](const Array& x, const Array& y) { return numpy::divide(x, y); });
}
Rate operator-(const Rate& a) { return Rate(-1.0) * a; }
Rate sqrt(const Rate& a) {
  if (a.is_number()) return std::sqrt(a.number());
  if (a.is_schedule())
    return Schedule([a](const Array& count) { return numpy::sqrt(a.at(count).array()); });
  return numpy::sqrt(a.array());
}

}  // namespace strata::optim
