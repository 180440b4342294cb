#include "strata/optim/rules/polyak.h"

#include <limits>

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/sgd.h"

namespace strata::optim {

GradientTransformation scale_by_polyak(PolyakOptions o) {
  if (o.variant != "sps" && o.variant != "sps+")
    throw Error("scale_by_polyak", "variant is sps or sps+, got {}", o.variant);
  return detail::rule(
      detail::call_text("scale_by_polyak", o), {.value = true}, [](const Tree&) { return Tree(); },
      [=](const Tree& u, const Tree&, const Tree*, const Extra& extra) {
        const Array square = trees::norm(u, true);
        Array gap = numpy::astype(*extra.value - o.f_min, square.dtype());
        if (o.variant == "sps+") gap = numpy::maximum(gap, 0.0);
        const Array size = square + o.eps;
        const Array step = numpy::where(size <= std::numeric_limits<double>::epsilon(), 0.0,
                                        numpy::minimum(gap / size, o.max_learning_rate.array()));
        return std::pair(trees::scale(step, u), Tree());
      });
}
GradientTransformation polyak_sgd(PolyakSgdOptions o) {
  return chain(sgd(o.scaling), scale_by_polyak({.f_min = o.f_min,
                                                .max_learning_rate = o.max_learning_rate,
                                                .eps = o.eps,
                                                .variant = o.variant}));
}

namespace detail {
void add_polyak(Rules& r) {
  r.add("scale_by_polyak", {}, &scale_by_polyak, "Loizou et al. (2021)",
        "Steps as long as the loss is above its least value.");
  r.add("polyak_sgd", {}, &polyak_sgd, "Loizou et al. (2021)",
        "Descent with steps as long as the loss is above its least value.");
}
}  // namespace detail

}  // namespace strata::optim
