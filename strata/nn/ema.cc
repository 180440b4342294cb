#include "strata/nn/ema.h"

#include "strata/api/numpy.h"

namespace strata::nn {

EMA::EMA(tree::Tree averages, double rate, std::nullptr_t)
    : params(std::move(averages)), decay(rate) {
  if (!(decay >= 0 && decay <= 1))
    strata::internal::fail("EMA", "decay is {}, not between 0 and 1", decay);
}

void EMA::move_towards(const tree::Tree& model) {
  const tree::Tree now = model.filter(tree::path_in(params.names()));
  for (const std::string& name : params.names())
    if (!now.contains(name))
      strata::internal::fail("EMA", "the model has no {}, of which there is an average", name);
  params = params.map([&](const tree::Entry& entry, const Array& average) {
    return astype(decay * average + (1.0 - decay) * now[entry.name], average.dtype());
  });
}

}  // namespace strata::nn
