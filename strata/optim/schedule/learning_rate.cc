#include "strata/optim/schedule/learning_rate.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

GradientTransformation scale(Rate step_size) {
  return detail::leafwise("scale(" + step_size.text() + ")",
                          [=](const Array& g) { return step_size * g; });
}
GradientTransformation scale_by_schedule(Schedule step_size_fn) {
  return detail::rule(
      "scale_by_schedule()", [](const Tree&) { return detail::field("count", detail::no_count()); },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array rate = step_size_fn(s["count"]);
        return std::pair(
            trees::map([&](const Array& g) { return numpy::astype(rate, g.dtype()) * g; }, u),
            detail::field("count", safe_increment(s["count"])));
      });
}
GradientTransformation scale_by_learning_rate(Rate learning_rate, bool flip_sign) {
  if (!learning_rate.has_value()) return identity();
  const Rate signed_rate = flip_sign ? -learning_rate : learning_rate;
  return signed_rate.is_schedule() ? scale_by_schedule(signed_rate.schedule()) : scale(signed_rate);
}

namespace detail {
void add_learning_rate(Rules& r) {
  r.add("scale", {"step_size"}, &scale, "", "Updates times a number.");
  r.add("scale_by_schedule", {"step_size_fn"}, &scale_by_schedule, "",
        "Updates times a schedule's value.");
  r.add("scale_by_learning_rate", {"learning_rate=", "flip_sign=true"}, &scale_by_learning_rate, "",
        "Updates times minus the rate.");
  r.add("identity", {}, &identity, "", "Updates as they are.");
  r.add("set_to_zero", {}, &set_to_zero, "", "Zeros.");
}
}  // namespace detail

}  // namespace strata::optim
