#include "strata/optim/transform/decay.h"

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

GradientTransformation add_decayed_weights(Rate weight_decay, Mask mask) {
  const bool scheduled = weight_decay.is_schedule();
  return masked(
      detail::rule(
          "add_decayed_weights(" + weight_decay.text() + ")", {.params = true},
          [=](const Tree&) {
            return scheduled ? detail::field("count", detail::no_count()) : Tree();
          },
          [=](const Tree& u, const Tree& s, const Tree* params, const Extra&) {
            if (weight_decay.is(0.0)) return std::pair(u, s);
            const Rate w = scheduled ? weight_decay.at(s["count"]) : weight_decay;
            return std::pair(
                trees::map([&](const Array& g, const Array& p) { return g + w * p; }, u, *params),
                scheduled ? detail::field("count", safe_increment(s["count"])) : Tree());
          }),
      mask);
}

namespace detail {
void add_decay(Rules& r) {
  r.add("add_decayed_weights", {"weight_decay=0.0", "mask="}, &add_decayed_weights,
        "Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019)",
        "Adds weights times a number to their updates.");
}
}  // namespace detail

}  // namespace strata::optim
