// Measurements of updates, kept in the state.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

/// A number or array from updates.
using Measure = std::function<Array(const Tree& updates)>;

/// Keeps measure(updates) as `measurement/NAME`; updates pass.
GradientTransformation snapshot(std::string measure_name, Measure measure);
/// A transformation whose result is the moving mean of measure(updates), for `monitor`.
GradientTransformation measure_with_ema(Measure measure, Rate decay, bool debias = true,
                                        std::optional<DType> accumulator_dtype = {});
/// What `monitor` measures: a function, or a transformation whose result is kept.
struct Monitored {
  std::string name;
  GradientTransformation measure;
  Monitored(std::string name_of, GradientTransformation tx)
      : name(std::move(name_of)), measure(std::move(tx)) {}
  Monitored(std::string name_of, Measure f);
};
/// Keeps what each makes of the updates as `measurements/NAME`; updates pass. State: measurements,
/// none before the first update, and measure_states, by number.
GradientTransformation monitor(std::vector<Monitored> measures);

}  // namespace strata::optim
