#include "strata/optim/registry.h"

namespace strata::optim {

namespace detail {
// Each is written beside what it adds.
void add_adafactor(Rules& rules);
void add_adam(Rules& rules);
void add_adam_like(Rules& rules);
void add_adam_pax(Rules& rules);
void add_aggregating(Rules& rules);
void add_clip(Rules& rules);
void add_conditions(Rules& rules);
void add_contrib_matrices(Rules& rules);
void add_contrib_momenta(Rules& rules);
void add_contrib_rates(Rules& rules);
void add_decay(Rules& rules);
void add_chains(Rules& rules);
void add_inject(Rules& rules);
void add_layers(Rules& rules);
void add_learning_rate(Rules& rules);
void add_line_search(Rules& rules);
void add_lookahead(Rules& rules);
void add_masked(Rules& rules);
void add_monitoring(Rules& rules);
void add_multi_steps(Rules& rules);
void add_polyak(Rules& rules);
void add_sgd(Rules& rules);
void add_trace(Rules& rules);
void add_squares(Rules& rules);
void add_schedule_free(Rules& rules);
void add_norm_statistics(Rules& rules);
void add_quantized_state(Rules& rules);
void add_shampoo(Rules& rules);
void add_soap(Rules& rules);
void add_stochastic_rounding(Rules& rules);
void add_schedules(Schedules& schedules);
}  // namespace detail

namespace {
const detail::Rules& rules() {
  static const detail::Rules all = [] {
    detail::Rules out("transformation");
    detail::add_adafactor(out);
    detail::add_adam(out);
    detail::add_adam_like(out);
    detail::add_adam_pax(out);
    detail::add_aggregating(out);
    detail::add_clip(out);
    detail::add_conditions(out);
    detail::add_contrib_matrices(out);
    detail::add_contrib_momenta(out);
    detail::add_contrib_rates(out);
    detail::add_decay(out);
    detail::add_chains(out);
    detail::add_inject(out);
    detail::add_layers(out);
    detail::add_learning_rate(out);
    detail::add_line_search(out);
    detail::add_lookahead(out);
    detail::add_masked(out);
    detail::add_monitoring(out);
    detail::add_multi_steps(out);
    detail::add_polyak(out);
    detail::add_sgd(out);
    detail::add_trace(out);
    detail::add_squares(out);
    detail::add_schedule_free(out);
    detail::add_stochastic_rounding(out);
    detail::add_soap(out);
    detail::add_shampoo(out);
    detail::add_quantized_state(out);
    detail::add_norm_statistics(out);
    return out;
  }();
  return all;
}
const detail::Schedules& schedules() {
  static const detail::Schedules all = [] {
    detail::Schedules out("schedule");
    detail::add_schedules(out);
    return out;
  }();
  return all;
}
}  // namespace

GradientTransformation make(const std::string& name, const Options& options) {
  return rules().make(name, options);
}
Schedule make_schedule(const std::string& name, const Options& options) {
  return schedules().make(name, options);
}
const std::vector<Described>& described_rules() {
  static const std::vector<Described> all = rules().all();
  return all;
}
const std::vector<Described>& described_schedules() {
  static const std::vector<Described> all = schedules().all();
  return all;
}
const Described& describe(const std::string& name) { return rules().describe(name); }

}  // namespace strata::optim
