#include "strata/optim/typed/schedule.h"

namespace strata::optim::typed {
namespace {

/// How much of `steps` is done, 0 to 1, f32.
Array done(const Array& count, std::int64_t steps) {
  if (steps <= 0) return ones({});
  return clip(astype(count, DType::f32) / static_cast<double>(steps), 0.0, 1.0);
}

/// Weights 1 and 0 give the ends without rounding, as a sum of `initial` and a difference would
/// not.
Array blend(double initial, double final, const Array& weight_of_final) {
  return initial * (1.0 - weight_of_final) + final * weight_of_final;
}

}  // namespace

Schedule linear_schedule(double initial, double final, std::int64_t steps) {
  return [=](const Array& count) { return blend(initial, final, done(count, steps)); };
}

Schedule cosine_decay_schedule(double initial, std::int64_t decay_steps, double alpha) {
  return cosine_schedule(initial, initial * alpha, decay_steps);
}

Schedule warmup_cosine_decay_schedule(double initial, double peak, std::int64_t warmup_steps,
                                      std::int64_t decay_steps, double end) {
  return join_schedules({linear_schedule(initial, peak, warmup_steps),
                         cosine_schedule(peak, end, decay_steps - warmup_steps)},
                        {warmup_steps});
}

}  // namespace strata::optim::typed
