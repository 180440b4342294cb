// Routers of experts in a training step: their losses, exact over micro-batches, and what they came
// to.
//
//   StepOptions options{.micro_batches = 4, .routers = RouterOptions{.load_balance = 0.01}};
//   outcome.routers->chosen      // (L, E): tokens of the step that chose each expert
//
// Losses are those of the undivided batch, whatever the number of micro-batches: each part adds its
// sequences' or tokens' share of the whole. Scope `global` needs to know how the whole batch chose
// before any part's gradient is taken, and so runs all parts forward once more. Scope `micro_batch`
// is by its meaning one value for each way to divide.
#pragma once

#include <string>
#include <vector>

#include "strata/model/decoder/balance.h"

namespace strata::train {

using RouterOptions = model::decoder::BalanceOptions;

/// What routers came to in a step. Losses are times their weights, as they stand in what is
/// minimised.
struct RouterOutcome {
  Array load_balance, router_z;
  Array chosen;   // f32 (L, E): how many tokens chose each expert
  Array dropped;  // f32 (L): how many of these choices found it full
  STRATA_FIELDS(load_balance, router_z, chosen, dropped)
};

/// One step's figures for logs, over the layers that have experts.
struct RouterFigures {
  double load_balance = 0, router_z = 0;  // as in RouterOutcome
  /// The largest share that one expert has of a layer's choices, times the number of experts: 1
  /// where all are even, E where one gets all.
  double largest_load = 0;
  /// Experts that no token chose, of all.
  double idle = 0;
  /// The entropy of the experts' shares over that of even ones, the mean over layers: 1 where all
  /// are even, 0 where one gets all.
  double entropy = 0;
  /// The share of choices that found their expert full.
  double dropped = 0;
};
RouterFigures figures_of(const RouterOutcome& outcome);
/// The same of counts (L x E) and (L), rows of nothing but zeros being layers without experts.
RouterFigures figures_of(const std::vector<float>& chosen, const std::vector<float>& dropped);

}  // namespace strata::train
